"""The lessons in their order and the projects, found by their folders. Imports nothing of the course and no lesson's content.

``course/lessons/l05_cudnn_benchmark`` is lesson ``05_cudnn_benchmark``; its ``lesson.json`` says what it asks.
``course/projects/own_benchmark`` is project ``own_benchmark``: an optional notebook with exercises, which counts for nothing.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "lessons"
"""Holds a folder for each lesson, and what lessons share: misconceptions, glossary."""
PROJECTS: tuple[str, ...] = tuple(
    sorted(file.parent.name for file in (FOLDER.parent / "projects").glob("*/exercises.yaml"))
)


@dataclass(frozen=True)
class Lesson:
    """One lesson. id: its notebook's file stem, such as ``05_cudnn_benchmark``. question: the one question it answers, by
    language code. checkpoint: whether it has one.
    """

    id: str
    question: dict[str, str]
    checkpoint: bool = True


def checkpoint_names(lesson_id: str) -> tuple[str, str]:
    """What the file of a checkpoint may be called, without .ipynb: the name it is handed out with, and the one that classes of before
    have, which is the lesson's own: a browser saves the second of two such files as "(1)".
    """
    return f"{lesson_id}_checkpoint", lesson_id


def lesson_folder(lesson_id: str) -> Path:
    """The folder of a lesson, whether it exists or not, or of a project."""
    return FOLDER.parent / "projects" / lesson_id if lesson_id in PROJECTS else FOLDER / f"l{lesson_id}"


LESSONS: tuple[Lesson, ...] = tuple(
    Lesson(file.parent.name[1:], **json.loads(file.read_text("utf-8")))
    for file in sorted(FOLDER.glob("l*/lesson.json"))
)
BY_ID = {lesson.id: lesson for lesson in LESSONS}


def lesson_of(name: str) -> str:
    """Id of the lesson that an experiment belongs to, by the first two digits of its name; "" where there is none."""
    return next((one.id for one in LESSONS if one.id[:2] == str(name)[:2]), "")


def after(lesson_id: str) -> Lesson | None:
    """The lesson that follows, or None after the last. Raises KeyError for an unknown id."""
    place = LESSONS.index(BY_ID[lesson_id]) + 1
    return LESSONS[place] if place < len(LESSONS) else None


def modules(lesson_id: str, start: str) -> Iterator[ModuleType]:
    """Import and yield, one by one, the modules of a lesson or project whose names begin with `start`: "experiments", "exercises"."""
    folder = lesson_folder(lesson_id)
    for path in sorted(folder.glob(f"{start}*.py")):
        yield importlib.import_module(f"course.{folder.parent.name}.{folder.name}.{path.stem}")
