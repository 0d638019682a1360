"""What the notebook of a checkpoint is called in a course directory.

A class keeps the name it was released with, which its gradebook and its students have: a release of before is called like the lesson.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from course.core.catalog import checkpoint_names

if TYPE_CHECKING:
    from nbgrader.api import Gradebook, Notebook


def name_of(course: Path, lesson: str) -> str:
    """The name, without .ipynb, that the checkpoint has in this course directory, or will have when it is released."""
    new, old = checkpoint_names(lesson)
    return old if any((course / folder / lesson / f"{old}.ipynb").exists() for folder in ("release", "source")) else new


def notebook_in(course: Path, folder: str, lesson: str) -> Path:
    """The notebook of the checkpoint in ``release/`` or ``source/`` of a course directory, whether it exists or not."""
    return course / folder / lesson / f"{name_of(course, lesson)}.ipynb"


def in_gradebook(gradebook: Gradebook, lesson: str) -> Notebook | None:
    """The checkpoint's notebook in the gradebook; None where it was never released."""
    from nbgrader.api import Assignment, Notebook

    found = gradebook.db.query(Notebook).join(Assignment, Assignment.id == Notebook.assignment_id)
    return found.filter(Assignment.name == lesson, Notebook.name.in_(checkpoint_names(lesson))).one_or_none()
