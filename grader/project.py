"""Where the parts of a project stand, and how they are read: sources, checkpoint items, keys.

Everything takes a ``Project``, so that the same code works on another checkout (the tests build small ones).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LANGUAGES = ("en", "zh")
HERE = Path(__file__).resolve().parent.parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the quick one where it is built in


class ProjectError(Exception):
    """Something in the project's own files is wrong; the message names the file and the next step."""


class Infrastructure(Exception):
    """Our own machinery failed: the submission stays without a grade and is retried, never scored."""


@dataclass(frozen=True)
class Project:
    """One checkout of the course. ``root`` holds course/, grader/ and notebooks/. own: where an instructor keeps checkpoints
    of their own, a folder for each with all its files: ``checkpoints/`` of the course directory.
    """

    root: Path = HERE
    own: Path | None = None

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def learner_rooms(self) -> Path:
        """What learners get of each lesson, and the claims and misconceptions that all lessons share."""
        return self.root / "course" / "lessons"

    @property
    def rooms(self) -> Path:
        """What learners do not get of each lesson: notebook sources with solutions, keys, hidden tasks."""
        return self.root / "grader" / "lessons"

    def checkpoints(self) -> list[str]:
        """The lessons that have a checkpoint source, in order."""
        return sorted({*self._lessons_with("checkpoint.py"), *self.own_checkpoints()})

    def own_checkpoints(self) -> list[str]:
        """Those in the course directory, in order."""
        return (
            sorted(path.parent.name.removeprefix("l") for path in self.own.glob("l*/checkpoint.py")) if self.own else []
        )

    def own_room(self, lesson: str) -> Path | None:
        """The folder of a checkpoint of the instructor's own, or None."""
        room = self.own / f"l{lesson}" if self.own else None
        return room if room is not None and (room / "checkpoint.py").exists() else None

    def _room(self, lesson: str, otherwise: Path) -> Path:
        return self.own_room(lesson) or otherwise / f"l{lesson}"

    def lessons(self) -> list[str]:
        """The lessons that have a notebook source, in order."""
        return self._lessons_with("lesson.py")

    def _lessons_with(self, name: str) -> list[str]:
        return sorted(path.parent.name.removeprefix("l") for path in self.rooms.glob(f"l*/{name}"))

    def checkpoint_source(self, lesson: str) -> Path:
        return self._room(lesson, self.rooms) / "checkpoint.py"

    def lesson_source(self, lesson: str) -> Path:
        return self.rooms / f"l{lesson}" / "lesson.py"

    def keys(self, lesson: str) -> Path:
        return self._room(lesson, self.rooms) / "keys.yaml"

    def task_module(self, lesson: str) -> Path:
        return self._room(lesson, self.rooms) / "tasks.py"

    def items(self, lesson: str) -> Path:
        """The practice questions of a lesson."""
        return self.learner_rooms / f"l{lesson}" / "items.yaml"

    def checkpoint_items(self, lesson: str) -> Path:
        """The questions of a checkpoint, without their keys."""
        return self._room(lesson, self.learner_rooms) / "checkpoint.yaml"


def read_yaml(path: Path) -> Any:
    """The data of a YAML file; None where there is no such file. Raises ProjectError on bad YAML."""
    if not path.exists():
        return None
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except yaml.YAMLError as error:
        raise ProjectError(f"{path}: this is not valid YAML: {error}") from error


def checkpoint_items(project: Project, lesson: str) -> dict[str, dict]:
    """The items of a checkpoint by id, as written (no keys). Empty where there is no file."""
    path = project.checkpoint_items(lesson)
    rows = read_yaml(path) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise ProjectError(f"{path}: expected a list of items, each with an id")
    return {row["id"]: row for row in rows}


def practice_items(project: Project) -> dict[str, dict]:
    """All practice items of all lessons by id."""
    found = {}
    for path in sorted(project.learner_rooms.glob("l*/items.yaml")):
        for row in read_yaml(path) or []:
            found[row["id"]] = row
    return found


def keys(project: Project, lesson: str) -> dict[str, dict]:
    """The keys of a checkpoint by item id. Empty where there is no file."""
    path = project.keys(lesson)
    data = read_yaml(path) or {}
    if not isinstance(data, dict):
        raise ProjectError(f"{path}: expected a mapping from item id to key")
    return data
