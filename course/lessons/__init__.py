"""The lessons in their order, found by their folders: ``l05_cudnn_benchmark`` holds all that learners get of lesson 05.

Adding the folder adds the lesson. Nothing here imports torch, and the lessons do not import each other.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from course.lessons.lesson import Lesson

FOLDER = Path(__file__).parent
"""Holds the rooms of the lessons, and what they share: misconceptions and claims."""

LESSONS: tuple[Lesson, ...] = tuple(
    importlib.import_module(f"{__name__}.{name}").LESSON
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
)
BY_ID = {lesson.id: lesson for lesson in LESSONS}


def room(lesson_id: str) -> Path:
    """The folder of a lesson, whether it exists or not."""
    return FOLDER / f"l{lesson_id}"


def after(lesson_id: str) -> Lesson | None:
    """The lesson that follows, or None after the last. Raises KeyError for an unknown id."""
    place = LESSONS.index(BY_ID[lesson_id]) + 1
    return LESSONS[place] if place < len(LESSONS) else None


def modules(lesson_id: str, kind: str) -> Iterator[ModuleType]:
    """The modules of a lesson whose names start with ``experiments`` or ``exercises``, imported one by one."""
    return (
        importlib.import_module(f"{__name__}.l{lesson_id}.{path.stem}")
        for path in sorted(room(lesson_id).glob(f"{kind}*.py"))
    )
