"""What the notebook of a checkpoint is called in a course directory."""

from __future__ import annotations

from pathlib import Path

from course.core.catalog import checkpoint_names


def name_of(lesson: str) -> str:
    """The name, without .ipynb, with which the checkpoint is handed out."""
    return checkpoint_names(lesson)[0]


def notebook_in(course: Path, folder: str, lesson: str) -> Path:
    """The notebook of the checkpoint in ``release/`` or ``source/`` of a course directory, whether it exists or not."""
    return course / folder / lesson / f"{name_of(lesson)}.ipynb"
