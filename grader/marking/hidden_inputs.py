"""Draw the hidden inputs of a submission: from the secret of the course, the student, the time stamp and what was handed in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nbformat import NotebookNode

from course.core.catalog import checkpoint_names
from grader.handin.handin import without_zips
from grader.marking.probe import seed
from grader.marking.running import Drawn
from grader.project import Infrastructure
from grader.project.task import Task


def secret(course: Path) -> bytes:
    """The secret of a course, with which hidden inputs and papers are drawn. Raises Infrastructure if the file is missing."""
    path = course / "marking_secret"
    if not path.exists():
        raise Infrastructure(f"{path} is missing; run `python -m grader init {course}` again")
    return path.read_bytes()


def content(nb: NotebookNode, files: dict[str, bytes], lesson: str) -> str:
    """A hash of all inputs of a run: the cells, and the files beside the notebook.

    The hidden inputs are drawn from it, so a changed submission gets other hidden inputs, even if the student keeps the time
    stamp: what one submission finds out about its inputs does not help the next.
    """
    whole = hashlib.sha256("\0".join(cell.source for cell in nb.cells).encode("utf-8", "replace"))
    there = sorted((without_zips(name), data) for name, data in files.items())
    notebooks = {f"{one}.ipynb" for one in checkpoint_names(lesson)}
    for name, data in (one for one in there if one[0] not in notebooks | {"timestamp.txt"}):
        whole.update(f"\0{name}\0".encode("utf-8", "surrogateescape") + hashlib.sha256(data).digest())
    return whole.hexdigest()


def draw(tasks: dict[str, Task], key: bytes, lesson: str, student: str, when: str, content: str) -> Drawn:
    """Draw the hidden inputs: task id -> the calls of its function, None for a task on a value.

    The same submission gets the same inputs whenever it is marked.
    """
    return {
        name: None if task.judge is not None else task.draw(seed(key, lesson, student, when, content, name))
        for name, task in tasks.items()
    }
