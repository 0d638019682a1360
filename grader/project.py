"""Where the parts of a project stand, and how they are read: sources, checkpoint items, keys, tasks.

Everything takes a ``Project``, so that the same code works on another checkout (the tests build small ones).
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
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
    """One checkout of the course. ``root`` holds course/, grader/ and notebooks/."""

    root: Path = HERE

    @property
    def sources(self) -> Path:
        return self.root / "notebooks" / "source"

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def items(self) -> Path:
        return self.root / "course" / "items"

    @property
    def keys(self) -> Path:
        return self.root / "grader" / "keys"

    @property
    def tasks(self) -> Path:
        return self.root / "grader" / "tasks"

    def checkpoints(self) -> list[str]:
        """The lessons that have a checkpoint source, in order."""
        return sorted(
            path.name.removesuffix(".checkpoint.py") for path in self.sources.glob("*.checkpoint.py")
        )

    def lessons(self) -> list[str]:
        """The lessons that have a notebook source, in order."""
        return sorted(p.stem for p in self.sources.glob("*.py") if not p.name.endswith(".checkpoint.py"))

    def checkpoint_source(self, lesson: str) -> Path:
        return self.sources / f"{lesson}.checkpoint.py"

    def lesson_source(self, lesson: str) -> Path:
        return self.sources / f"{lesson}.py"

    def task_module(self, lesson: str) -> Path:
        return self.tasks / f"lesson_{lesson[:2]}.py"


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
    path = project.items / "checkpoints" / f"{lesson}.yaml"
    rows = read_yaml(path) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise ProjectError(f"{path}: expected a list of items, each with an id")
    return {row["id"]: row for row in rows}


def practice_items(project: Project) -> dict[str, dict]:
    """All practice items of all lessons by id."""
    found = {}
    for path in sorted(project.items.glob("[0-9]*.yaml")):
        for row in read_yaml(path) or []:
            found[row["id"]] = row
    return found


def keys(project: Project, lesson: str) -> dict[str, dict]:
    """The keys of a checkpoint by item id. Empty where there is no file."""
    path = project.keys / f"{lesson}.yaml"
    data = read_yaml(path) or {}
    if not isinstance(data, dict):
        raise ProjectError(f"{path}: expected a mapping from item id to key")
    return data


def tasks(project: Project, lesson: str) -> dict[str, Any]:
    """The code tasks of a checkpoint by id. Empty where the lesson has no task module."""
    path = project.task_module(lesson)
    return {task.id: task for task in _tasks(path, path.stat().st_mtime_ns if path.exists() else 0)}


@cache
def _tasks(path: Path, _as_of: int) -> tuple:
    if not path.exists():
        return ()
    name = f"_course_tasks_{abs(hash(path))}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return tuple(module.TASKS)
