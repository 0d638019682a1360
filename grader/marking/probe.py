"""The hidden inputs of a submission, and the probe of a task: it runs in the student's kernel (``grader/sandbox/inside/probe.py``),
calls the student's function with these inputs and sends the results back as plain data.

The inputs are drawn from the secret of the course, the student, the time stamp and what was handed in. The probe contains no expected
value; the results are compared outside the kernel.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course.core.catalog import checkpoint_names
from grader.handin.files import without_zips
from grader.project import Infrastructure
from grader.project.task import Case, Task

Drawn = dict[str, list[Case] | None]  # task id -> the calls, None for a value

MIME = "application/vnd.torch-backends-course.probe+json"
LARGEST = 200_000  # characters of one result

CODE = "from inside.probe import _course_probe\n_course_probe(ARGUMENTS)\n"  # an import: a student may have taken any other name
LONGEST_INTEGER = 300  # digits: 10**308 is the end of a float


def seed(secret: bytes, *parts: str) -> random.Random:
    """The random generator for the inputs of one task: the same at each marking; nobody can predict it without the secret."""
    return random.Random(hmac.new(secret, "\0".join(parts).encode(), hashlib.sha256).digest())


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


def probe(task: Task, cases: list[Case] | None, numbers: Iterable[int] | None = None) -> str:
    """The source code of a probe cell. It makes the calls ``numbers`` of ``cases`` (None: all); without cases it reads a value."""
    calls = None
    if cases is not None:
        calls = [[number, list(cases[number].args)] for number in (range(len(cases)) if numbers is None else numbers)]
    return CODE.replace("ARGUMENTS", repr(json.dumps([task.name, calls, MIME, LARGEST])))


def results(outputs: list) -> dict[int, dict[str, Any]]:
    """Read a probe cell's outputs: call number -> ``{"state": ..., "value": ...}``. Any other output is ignored."""
    found: dict[int, dict[str, Any]] = {}
    for output in outputs:
        text = output.get("data", {}).get(MIME) if output.get("output_type") == "display_data" else None
        try:
            data = json.loads(text, parse_int=_whole) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and isinstance(data.get("call"), int) and isinstance(data.get("state"), str):
            found.setdefault(data["call"], data)
    return found


def _whole(text: str) -> int | float:
    """Parse a whole number; one too large for a float becomes infinity, so that it can be compared."""
    return int(text) if len(text) < LONGEST_INTEGER else float(text)
