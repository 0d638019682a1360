"""The course on every torch from 2.9 on, and on every Python it supports: environments built one after the other.

    python tools/versions.py                       about three minutes for each, gigabytes to download
    python tools/versions.py 3.10 2.15.0           one Python, one torch

Every torch that pip offers (the last patch of each minor version) runs on this Python, and each other Python on the PATH (with
pyenv, name them in PYENV_VERSION) gets the newest that pip offers it. Each time a new environment gets the newest packages that
pip finds for it, then runs the tests that depend on torch: switches, computed questions, the code of cards and messages, timing,
counting, and six lessons. Said is what came out, or what could not be installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST_TORCH, PYTHONS = (2, 9), ("3.10", "3.11", "3.12", "3.13")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
TESTS = [
    *(f"tests/course/flags/test_{name}.py" for name in ("switch_table", "flags", "flags_told")),
    *(f"tests/course/questions/test_{name}.py" for name in ("bank", "quiz_keeping", "messages")),
    *(f"tests/course/{name}.py" for name in ("core/test_machine", "timing/test_timing", "flops/test_flops")),
    *(
        f"tests/lessons/{name}"
        for name in ("l01_map", "l07_precision", "l08_mps", "l13_together", "l14_export", "l16_rest")
    ),
]


def offered(program: str) -> list[str]:
    """The last patch of each minor version of torch that pip offers this Python, oldest first."""
    done = subprocess.run([program, "-m", "pip", "index", "versions", "torch"], capture_output=True, encoding="utf-8")
    numbers = {tuple(map(int, found)) for found in re.findall(r"\b(\d+)\.(\d+)\.(\d+)(?![\w.+])", done.stdout)}
    last = {number[:2]: number for number in sorted(numbers) if number[:2] >= OLDEST_TORCH}
    return [".".join(map(str, number)) for number in last.values()]


def tried(program: str, torch: str) -> str:
    """Make an environment, run the tests in it, remove it: the last lines of what was said."""
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/bin/python"
        packages = [
            ".[course,grading,export,einsum]",
            f"torch=={torch}",
            "pytest",
            "pytest-xdist",
            "jsonschema",
            "psutil",
        ]
        for command in (
            [program, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-q", "--no-compile", "--no-cache-dir", "-e", *packages],
            [python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not long", *TESTS],
        ):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            if done.returncode:
                return "\n".join(
                    ["failed:", *(line for line in lines if line.startswith(("FAILED", "ERROR"))), *lines[-1:]]
                )
        return lines[-1]


def main() -> None:
    """Try them all, and say at once what came out of each."""
    programs = {HERE: sys.executable}
    for python in PYTHONS:
        if python != HERE and (program := shutil.which(f"python{python}")):
            programs[python] = program
    if sys.argv[1:]:
        wanted = [(programs[sys.argv[1]], sys.argv[2])]
    else:
        wanted = [(sys.executable, torch) for torch in offered(sys.executable)]
        wanted += [(program, offered(program)[-1]) for python, program in programs.items() if python != HERE]
    for program, torch in wanted:
        print(f"{program}, torch {torch}: {tried(program, torch)}", flush=True)


if __name__ == "__main__":
    main()
