"""The probe of a task: runs in the student's kernel (``grader/sandbox/inside/probe.py``), calls the student's function with the
hidden inputs and sends the results back as plain data.

The probe contains no expected value; the results are compared outside the kernel.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import Iterable
from typing import Any

from grader.project.task import Case, Task

MIME = "application/vnd.torch-backends-course.probe+json"
LARGEST = 200_000  # characters of one result

CODE = "from inside.probe import _course_probe\n_course_probe(ARGUMENTS)\n"  # an import: a student may have taken any other name
LONGEST_INTEGER = 300  # digits: 10**308 is the end of a float


def seed(secret: bytes, *parts: str) -> random.Random:
    """The random generator for the inputs of one task: the same at each marking; nobody can predict it without the secret."""
    return random.Random(hmac.new(secret, "\0".join(parts).encode(), hashlib.sha256).digest())


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
