"""Which folder names are allowed as students' names, how to write a text so that no spreadsheet runs it as a formula, and who hands in
together.

Students can choose names, and these get into spreadsheets, web pages, terminals, patterns of file names and the gradebook.

Groups stand in ``groups.yaml`` of the course directory, a line for each::

    05_cudnn_benchmark:
      - [ada, bob]      # one of them hands in, on ada's paper; both get the mark

Where students have different papers, a group answers on the paper of the student named first.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.project import Infrastructure, ProjectError, read_yaml

FILE = "groups.yaml"
LONGEST = 100  # characters; a gradebook may hold 128
LONGEST_BYTES = 200  # of a folder's name: a file system takes 255, and a file of ours is named so with an ending
FORMULA = re.compile(r"""((?:^|[;,|\t\r\n；，｜])[\s"]*)(?=[-=+@＝＋－＠﹦﹢﹣﹫])""")
"""What a spreadsheet computes begins so; which sign splits a line into cells depends on its country."""
FORBIDDEN = '/\\<>&"*?['  # signs of folders, of markup, and of patterns, for which nbgrader takes a name


def fault(student: str) -> str | None:
    """Why a name is not allowed, in words; None if it is."""
    if not student or len(student) > LONGEST or len(student.encode("utf-8", "replace")) > LONGEST_BYTES:
        return f"it is not 1 to {LONGEST} characters long"
    if not student.isprintable():  # control characters, half surrogates, what turns the direction of writing
        return "it holds signs that cannot be printed"
    if student[0] == "." or inert(f"{student} ") != f"{student} ":
        return "it begins with a dot, or a spreadsheet would compute a part of it"
    if found := sorted(set(student) & set(FORBIDDEN)):
        return f"it holds {found[0]!r}, which stands for something else in a path, a page or a pattern of names"
    return None


def printable(text: str) -> str:
    """The text on one line, without control characters, half surrogates or marks that change the writing direction."""
    return "".join(sign if sign.isprintable() else "?" for sign in re.sub(r"\s+", " ", text))


def inert(cell: str) -> str:
    """The text for a cell of a table, with an apostrophe at every place where a spreadsheet would read a formula: at the start
    and after each character that may separate cells, also behind spaces and quotes. A single character stays as it is.
    """
    return FORMULA.sub(r"\1'", cell) if len(cell) > 1 else cell


def groups(course: Path, lesson: str) -> dict[str, tuple[str, ...]]:
    """Student -> everybody in the group, the one named first at the front. Raises Infrastructure."""
    path, found = course / FILE, {}
    try:
        listed = (read_yaml(path) or {}).get(lesson) or []
        for group in listed:
            for student in group:
                if isinstance(group, str) or str(student) in found:
                    raise ProjectError(f"{student!r} is in two groups, or a group is no list")
                found[str(student)] = tuple(map(str, group))
    except (ProjectError, AttributeError, TypeError) as error:
        raise Infrastructure(
            f"{path} cannot be read: write a line `checkpoint:` and below it `- [ada, bob]` for each group ({error})"
        ) from error
    return found
