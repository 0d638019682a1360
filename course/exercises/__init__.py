"""The code tasks of the lessons: one module a lesson, found by exercise id."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from course.exercises.base import MISSING, Exercise, judge

__all__ = ["Exercise", "MISSING", "all_exercises", "judge"]


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise by id. Raises ValueError where two share an id."""
    found: dict[str, Exercise] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("lesson_"):
            continue
        for exercise in importlib.import_module(f"{__name__}.{module.name}").EXERCISES:
            if exercise.id in found:
                raise ValueError(f"two exercises share the id {exercise.id!r}")
            found[exercise.id] = exercise
    return found
