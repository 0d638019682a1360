"""Prepare a folder under ``submitted/`` for stock nbgrader, which opens a notebook of the assignment's name before our steps run.

What a student handed in stays in the folder: a file that stock nbgrader could not open gets another name there, and a placeholder
takes its own, which marking never reads. Links go, since stock nbgrader would follow them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat

from grader.course import Course
from grader.handin.archive import read_regular
from grader.handin.files import STAMP
from grader.handin.guard import guarded
from grader.handin.reading import ASIDE, PLACEHOLDER
from grader.project import Project, name_of
from grader.project.build import checkpoint_notebook, text_of
from grader.project.dates import timestamp_of
from grader.project.files import replace, unlock
from grader.sandbox.limits import MOST_BYTES


def prepare(course: Path, project: Project, lesson: str, student: str) -> None:
    """Make one submission ready for stock nbgrader. Raises OSError; call it inside ``guarded``."""
    folder = course / "submitted" / student / lesson
    for link in (folder.parent, folder):  # a link of the student's own folder leads as far as one inside it
        if link.is_symlink():
            link.unlink()
    unlock(folder.parent)
    if folder.exists() and not folder.is_dir():  # a file where the folder should be: perhaps the notebook itself
        aside = folder.rename(folder.with_name(f"{lesson} {ASIDE}"))
        folder.mkdir()
        aside.rename(folder / f"{aside.name}.ipynb")
    folder.mkdir(parents=True, exist_ok=True)
    for inner, _, names in os.walk(folder):
        unlock(Path(inner))
        for path in (Path(inner) / name for name in names):
            path.unlink() if path.is_symlink() else unlock(path)
    path, stamp = folder / f"{name_of(lesson)}.ipynb", folder / STAMP
    if os.path.lexists(stamp) and not (_small(stamp) and timestamp_of(read_regular(stamp))):
        _move_aside(stamp)  # it would stop stock commands for the whole class. Without one nobody is late
    if not _opens(path):
        if os.path.lexists(path):
            _move_aside(path)
        released = course / "release" / lesson / path.name
        text = released.read_text("utf-8") if released.exists() else text_of(checkpoint_notebook(project, lesson, "en"))
        notebook = nbformat.reads(text, as_version=4)
        notebook.metadata[PLACEHOLDER] = True
        replace(course, path, text_of(notebook).encode())


def before_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """The hook that stock ``nbgrader autograde`` calls before each submission."""
    for folder in {Path(notebook).parent for notebook in notebooks}:
        course, lesson = Course(folder.parents[2]), folder.name
        if course.project.checkpoint_source(lesson).exists():
            with guarded(folder.parent.name, lambda name, reason: print(f"{name}: {reason}", file=sys.stderr)):
                prepare(course.root, course.project, lesson, folder.parent.name)
            notebooks[:] = [str(folder / f"{name_of(lesson)}.ipynb")]


def _small(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= MOST_BYTES


def _opens(path: Path) -> bool:
    """Whether stock nbgrader can open a notebook."""
    try:
        nbformat.reads(read_regular(path).decode("utf-8"), as_version=4)
        return _small(path)
    except Exception:  # nbformat fails in many ways on what is not a notebook
        return False


def _move_aside(path: Path) -> None:
    """Give a file another name in its folder, one that is free."""
    target = path.with_stem(f"{path.stem} {ASIDE}")
    while os.path.lexists(target):
        target = target.with_stem(f"{target.stem} again")
    path.rename(target)
