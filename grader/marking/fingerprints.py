"""Hashes of what decides a mark, so that marks of two keys, or of two checkouts, do not stand side by side unseen."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable

from grader.project import HERE, Project

PROGRAM = (
    *("grader/marking", "grader/handin", "grader/project", "grader/course"),
    *("course/questions", "course/learning"),
)
LENGTH = 16  # hex digits


def of_questions(project: Project, lesson: str) -> str:
    """A hash of the files that hold the questions, keys, points and hidden tests of a checkpoint."""
    files = (
        project.checkpoint_source(lesson),
        project.checkpoint_items(lesson),
        project.keys(lesson),
        project.task_module(lesson),
        *(project.task_module(lesson).with_name(f"{name}.yaml") for name in ("tasks", "report")),
    )
    return _hash(path.read_bytes() if path.exists() else b"" for path in files)


@functools.cache
def of_program() -> str:
    """A hash of the code that marks."""
    paths = (path for name in PROGRAM for path in sorted(HERE.glob(f"{name}/*.py")))
    return _hash(path.read_bytes() for path in paths)


def _hash(texts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(len(text).to_bytes(8, "big") + text)
    return whole.hexdigest()[:LENGTH]
