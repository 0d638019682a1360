"""Which paper a submission is marked against. A paper is the variants of all questions that one student was given.

A paper follows from the student's id and the release's salt, a text made from the course's secret and written into the
released notebook. Nothing in the submission can change it. A student who mistyped the id was given another paper;
the instructor says so in ``papers.yaml`` of the course directory::

    15_review:
      ada: adda        # ada typed "adda" and answered that paper: her answers are marked against it
    salts: [3c64e6ba756c1d9d]   # notebooks of a release with this salt are marked on their own papers, too

Without such a line a notebook with another salt is held back: it was made from the release of another course folder or year.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from course.core.i18n import Text, both
from course.questions.items import Item
from course.questions.variants import Paper, is_template, same_student
from grader.handin.sentences import said
from grader.project import Infrastructure, Project, ProjectError, checkpoint_items, read_yaml
from grader.project.names import groups

FILE = "papers.yaml"
FORM = "{} cannot be read: write a line `checkpoint:` and below it `student: whose paper` ({})"
LONGEST_SALT = 100  # characters
FIRST_CELL = re.compile(r'^    checkpoint\("[^\n]{0,200}, paper="(\w{1,100})"', re.MULTILINE)


def salt(secret: bytes, lesson: str) -> str:
    """The salt for one checkpoint of a course: the same at every release. The secret cannot be computed from it."""
    return hmac.new(secret, f"papers of {lesson}".encode(), hashlib.sha256).hexdigest()[:16]


def has_papers(project: Project, lesson: str) -> bool:
    """Whether a checkpoint has questions with variants."""
    return any(map(is_template, checkpoint_items(project, lesson).values()))


def released_salt(notebook: Any) -> str:
    """The salt in a released notebook; "" where all students have the same paper."""
    return str(notebook.get("metadata", {}).get("course", {}).get("paper", ""))


def salts_of(notebook: Any, answers: Iterable[Mapping[str, Any]]) -> set[str]:
    """The salts in a notebook that was handed in: that of its metadata or else its first cell, and those of its answers."""
    said = notebook.get("metadata", {}).get("course")
    found = said.get("paper") if isinstance(said, Mapping) else None
    if not (isinstance(found, str) and found):
        codes = (cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")
        found = next((found[1] for found in map(FIRST_CELL.search, codes) if found), "")
    return {found[:LONGEST_SALT], *(one.get("paper", "") for one in answers)} - {""}


def paper_of(released: Any, lesson: str, student: str, elsewhere: Mapping[str, str], salt: str = "") -> Paper | None:
    """The paper of a student; None where all have the same. elsewhere: student -> the id whose paper was answered
    (``answered_papers``). salt: of the release that it was made from, "" for this one.
    """
    found = salt or released_salt(released)
    if not found:
        return None
    handed_out = {one["id"]: one for one in released["metadata"]["course"].get("questions", ())}
    return Paper(elsewhere.get(student, student), lesson, found, handed_out)


def papers_answered(answers: Mapping[str, Mapping[str, Any]], items: Mapping[str, Item]) -> dict[str, str]:
    """On whose paper each question was answered: question -> the student id that its answer carries, "" where it carries none.

    Only questions with variants are looked at; where none of them is answered, all answers that carry an id.
    """
    whose = {name: str(answers[name].get("student", "")) for name in items if name in answers}
    varying = {name: other for name, other in whose.items() if items[name].varies}
    return varying or {name: other for name, other in whose.items() if other}


def on_other_papers(answered: Mapping[str, str], paper: Paper) -> dict[str, str]:
    """Those of ``papers_answered`` that were not given on this paper."""
    return {name: other for name, other in answered.items() if same_student(other) != same_student(paper.student)}


def sentences_on_other_papers(others: Mapping[str, str], paper: Paper) -> Iterator[Text]:
    """For each other paper a sentence that names the questions answered on it. others: from ``on_other_papers``."""
    for other in sorted({*others.values()}):
        names = [f"`{name}`" for name, whose in others.items() if whose == other]
        listed = both(", ".join(names), "、".join(names))
        yield said("answered_on" if other else "answered_on_none", other=other, student=paper.student, names=listed)


def answered_papers(course: Path, lesson: str) -> dict[str, str]:
    """Student -> the id whose paper this student answered, from ``papers.yaml``, and in a group the paper of whom is named first
    there. Raises Infrastructure.
    """
    try:
        given = {
            str(student): str(other) for student, other in (read_yaml(course / FILE) or {}).get(lesson, {}).items()
        }
    except (AttributeError, ProjectError) as error:
        raise Infrastructure(FORM.format(course / FILE, error)) from error
    together = groups(course, lesson).items()
    return {student: given.get(group[0], group[0]) for student, group in together if student != group[0]} | given


def other_salts(course: Path) -> tuple[str, ...]:
    """The salts of other releases whose notebooks are marked on their own papers, from ``papers.yaml``."""
    found = (read_yaml(course / FILE) or {}).get("salts", [])
    return tuple(map(str, found if isinstance(found, list) else [found]))
