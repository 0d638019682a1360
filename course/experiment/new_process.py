"""Run code in a new Python process: what it does to switches, plans and caches cannot reach this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course.experiment.ending import time_left

MARK = "course-rows:"
ROOT = Path(__file__).resolve().parents[2]


class ProbeError(RuntimeError):
    """The new process ended without an answer; the text says what it printed last."""


def answer_of(
    code: str, *arguments: Any, variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0
) -> tuple[Any, str]:
    """What ``code`` gave to its function ``answer(value)`` in a process of its own, and all that it printed.

    ``arguments`` and the value are JSON data; the code finds the arguments in the list ``arguments``.
    The code goes there in ASCII, since a machine's encoding may lack a sign of it.
    variables: environment variables for that process alone; None removes one. Raises ProbeError, in a sentence.
    """
    prelude = (
        "import json, sys\narguments = json.loads(sys.argv[1])\n"
        "for stream in (sys.stdout, sys.stderr): stream.reconfigure(encoding='utf-8')\n"
        f"def answer(value): print('\\n' + {MARK!r} + json.dumps(value), flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    environment |= {name: value for name, value in (variables or {}).items() if value is not None}
    for name in (name for name, value in (variables or {}).items() if value is None):
        environment.pop(name, None)
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"exec({ascii(prelude + code)})", json.dumps(arguments)],
            env=environment, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
            timeout=min(timeout_s, time_left() + 1),  # where an interrupt does not wake it
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise ProbeError(f"The new process gave no answer within {timeout_s:g} s.") from late
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK)), done.stdout
    last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
    raise ProbeError(f"The new process stopped with: {last}")


def call_in_new_process(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0,
) -> tuple[Any, str]:  # fmt: skip
    """What ``module.function(*arguments)`` returns in a new process, and all that it printed. Raises ProbeError."""
    code = f"from {module} import {function} as probe\nanswer(probe(*arguments))"
    return answer_of(code, *arguments, variables=variables, timeout_s=timeout_s)


def rows_of(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0,
) -> list[dict]:  # fmt: skip
    """The rows, flat dicts of JSON data, that ``module.function(*arguments)`` returns in a new process."""
    return call_in_new_process(module, function, *arguments, variables=variables, timeout_s=timeout_s)[0]
