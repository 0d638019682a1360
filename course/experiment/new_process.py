"""Run code in a new Python process: what it does to switches, plans and caches cannot reach this one.

A process of `call_in_new_process` and `rows_of` may be forked from one that has torch imported: the time of the import
is not to be measured there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course.experiment import warm_process
from course.experiment.ending import time_left

MARK = "course-rows:"
ROOT = Path(__file__).resolve().parents[2]


class ProbeError(RuntimeError):
    """The new process ended without an answer; the text says what it printed last."""


def answer_of(
    code: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0, warm: bool = False,
) -> tuple[Any, str]:  # fmt: skip
    """What ``code`` gave to its function ``answer(value)`` in a process of its own, and all that it printed.

    ``arguments`` and the value are JSON data; the code finds the arguments in the list ``arguments``.
    The code goes there in ASCII, since a machine's encoding may lack a sign of it.
    variables: environment variables for that process alone; None removes one.
    warm: the process may have torch imported already, which saves seconds (`course.experiment.warm_process`).
    Raises ProbeError, in a sentence.
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
    timeout_s = min(timeout_s, time_left() + 1)  # where an interrupt does not wake it
    asked = f"exec({ascii(prelude + code)})", json.dumps(arguments), environment, timeout_s
    try:
        _, printed, errors = (
            _warm_or_started(*asked) if warm and warm_process.can_run(environment) else _started(*asked)
        )
    except subprocess.TimeoutExpired as late:
        raise ProbeError(f"The new process gave no answer within {timeout_s:g} s.") from late
    for line in reversed(printed.splitlines()):
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK)), printed
    last = (errors.strip().splitlines() or ["it printed nothing"])[-1]
    raise ProbeError(f"The new process stopped with: {last}")


def _warm_or_started(*asked: Any) -> tuple[int, str, str]:
    """A fork, or a new Python where the process that forks does not live: a container may forbid it or lack the memory."""
    try:
        return warm_process.run(*asked)
    except ChildProcessError:
        return _started(*asked)


def _started(code: str, argument: str, environment: Mapping[str, str], timeout_s: float) -> tuple[int, str, str]:
    """Exit code, output and errors of ``python -c code argument``. Raises subprocess.TimeoutExpired."""
    done = subprocess.run(
        [sys.executable, "-c", code, argument],
        env=environment, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False, timeout=timeout_s,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def call_in_new_process(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0, warm: bool = True,
) -> tuple[Any, str]:  # fmt: skip
    """What ``module.function(*arguments)`` returns in a new process, and all that it printed; see `answer_of`."""
    code = f"from {module} import {function} as probe\nanswer(probe(*arguments))"
    return answer_of(code, *arguments, variables=variables, timeout_s=timeout_s, warm=warm)


def rows_of(
    module: str, function: str, *arguments: Any,
    variables: Mapping[str, str | None] | None = None, timeout_s: float = 120.0,
) -> list[dict]:  # fmt: skip
    """The rows, flat dicts of JSON data, that ``module.function(*arguments)`` returns in a new process."""
    return call_in_new_process(module, function, *arguments, variables=variables, timeout_s=timeout_s)[0]
