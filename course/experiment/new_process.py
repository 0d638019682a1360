"""Run a probe in a new Python process: what it does to the switches cannot reach this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

MARK = "course-rows:"


class ProbeError(RuntimeError):
    """The new process ended without rows; the text says what it printed last."""


def rows_of(module: str, function: str, timeout_s: float = 120.0,
            variables: Mapping[str, str] | None = None) -> list[dict]:
    """The rows that ``module.function()`` returns in a process of its own.

    The probe takes no arguments and returns a list of flat dicts of JSON data. variables: environment
    variables for that process alone. Raises ProbeError.
    """
    code = (f"import json; from {module} import {function} as probe; "
            f"print({MARK!r} + json.dumps(probe()), flush=True)")
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(variables or {})}
    try:
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                              errors="replace", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as late:
        raise ProbeError(f"The new process gave no answer within {timeout_s:g} s.") from late
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK))
    last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
    raise ProbeError(f"The new process stopped with: {last}")
