"""Who hands in together: ``groups.yaml`` of the course directory, a line for each group::

    05_cudnn_benchmark:
      - [ada, bob]      # one of them hands in, on ada's paper; both get the mark

Where students have different papers, a group answers on the paper of the student named first.
"""

from __future__ import annotations

import os
from pathlib import Path

from grader.project import Infrastructure, ProjectError, read_yaml

FILE = "groups.yaml"


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


def homes(course: Path, lesson: str, student: str) -> list[Path]:
    """The folders in which the submission of a student can be: the own one first, then those of the group, if they exist."""
    own = course / "submitted" / student / lesson
    others = (course / "submitted" / member / lesson for member in groups(course, lesson).get(student, ()))
    return [*dict.fromkeys(path for path in (own, *others) if os.path.lexists(path))] or [own]
