"""The course on every torch from 2.9 on: environments built one after the other.

    python tools/versions.py              each that pip offers this Python: about three minutes and gigabytes for each
    python tools/versions.py 2.15.0       one

Of each minor version the last patch counts. Each time a new environment gets the newest packages that pip finds for it, then runs
the tests that depend on torch: switches, computed questions, the code of cards and messages, timing, counting, and six lessons.
Said is what came out, or what could not be installed. Run by another Python, it tries that one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (2, 9)
PACKAGES = (".[course,grading,export,einsum]", "pytest", "pytest-xdist", "jsonschema", "psutil")
LESSONS = ("l01_map", "l07_precision", "l08_mps", "l13_together", "l14_export", "l16_rest")
TESTS = [
    *(f"tests/course/flags/test_{name}.py" for name in ("switch_table", "flags")),
    *(f"tests/course/questions/test_{name}.py" for name in ("bank", "quiz_keeping", "messages")),
    *(f"tests/course/{name}.py" for name in ("core/test_machine", "timing/test_timing", "flops/test_flops")),
    *(f"tests/lessons/{name}" for name in LESSONS),
]


def offered() -> list[str]:
    """The last patch of each minor version of torch that pip offers this Python, oldest first."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "torch"]
    done = subprocess.run(asked, capture_output=True, encoding="utf-8")
    numbers = {tuple(map(int, found)) for found in re.findall(r"\b(\d+)\.(\d+)\.(\d+)(?![\w.+])", done.stdout)}
    last = {number[:2]: number for number in sorted(numbers) if number[:2] >= OLDEST}
    return [".".join(map(str, number)) for number in last.values()]


def tried(torch: str) -> str:
    """Make an environment, run the tests in it, remove it: the last lines of what was said."""
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/bin/python"
        for command in (
            [sys.executable, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-q", "--no-cache-dir", f"torch=={torch}", "-e", *PACKAGES],
            [python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not long", *TESTS],
        ):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            if done.returncode:
                failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
                return "\n".join(["failed:", *failures, *lines[-1:]])
        return lines[-1]


if __name__ == "__main__":
    for version in sys.argv[1:] or offered():
        print(f"torch {version}: {tried(version)}", flush=True)
