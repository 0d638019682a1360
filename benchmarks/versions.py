"""The course on every torch from 2.9 on, and on every Python it supports: environments built one after the other.

    python -m benchmarks.versions                            about three minutes for each, gigabytes to download
    python -m benchmarks.versions --torch 2.15.0             one version of torch, on this Python
    python -m benchmarks.versions --python 3.10 --torch 2.15.0
    python -m benchmarks.versions --tests tests/course/questions/test_messages.py     these tests alone
    python -m benchmarks.versions --out versions.md          where the table goes (default build/benchmarks/versions.md)

Every torch that pip offers (the last patch of each minor version) runs on this Python, and each other Python on the
PATH (with pyenv, name them in PYENV_VERSION) gets the newest that pip offers it. Each time a new environment gets the
newest packages that pip finds for it, then runs the parts of the suite that depend on torch: the table of switches, the
statements that questions compute, the code of every card and of every message, the lessons on switches, precision, MPS,
compiling, export and the rest, timing and counting.
The environment is removed afterwards. What cannot be installed is a line of the table, too. Stopped, the same command
goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.running import Rows, markdown, options, publish, stoppable
from course.core import machine

ROOT = Path(__file__).resolve().parents[1]
OLDEST_TORCH, PYTHONS = (2, 9), ("3.10", "3.11", "3.12", "3.13")
TESTS = (
    "tests/course/flags/test_switch_table.py",
    "tests/course/flags/test_flags.py",
    "tests/course/flags/test_flags_told.py",
    "tests/course/questions/test_bank.py",
    "tests/course/questions/test_quiz_keeping.py",
    "tests/course/questions/test_messages.py",
    "tests/course/core/test_machine.py",
    "tests/course/timing/test_timing.py",
    "tests/course/flops/test_flops.py",
    "tests/lessons/l01_map",
    "tests/lessons/l07_precision",
    "tests/lessons/l08_mps",
    "tests/lessons/l13_together",
    "tests/lessons/l14_export",
    "tests/lessons/l16_rest",
)
COUNTS = ("passed", "failed", "error", "skipped")


@dataclass(frozen=True)
class Outcome:
    """One environment. torch: the version that was really installed. counts: of tests by outcome. said: why there are none."""

    python: str
    torch: str
    counts: dict[str, int]
    failed: list[str]
    minutes: float
    said: str = ""


def offered(python: str) -> list[str]:
    """The last patch of each minor version of torch that pip offers this Python, oldest first."""
    done = subprocess.run([python, "-m", "pip", "index", "versions", "torch"], capture_output=True, text=True)
    line = next((line for line in done.stdout.splitlines() if line.startswith("Available versions:")), "")
    found: dict[tuple[int, ...], str] = {}
    for text in re.findall(r"\d+\.\d+\.\d+(?![\w.+])", line):
        number = tuple(map(int, text.split(".")))
        if number[:2] >= OLDEST_TORCH and number > tuple(map(int, found.get(number[:2], "0.0.0").split("."))):
            found[number[:2]] = text
    return [found[minor] for minor in sorted(found)]


def interpreters() -> dict[str, str]:
    """Python version -> a program that can make an environment of it."""
    found = {}
    for version in PYTHONS:
        program = sys.executable if sys.version.startswith(f"{version}.") else shutil.which(f"python{version}")
        if program and not subprocess.call([program, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL):
            found[version] = program
    return found


def wanted(arguments: argparse.Namespace, programs: dict[str, str]) -> list[tuple[str, str]]:
    """(Python, torch) to try, in this order."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = arguments.torch or offered(sys.executable)
    if not versions:
        raise SystemExit("pip offers no torch from 2.9 on. Next step: look at the network, or name one with --torch.")
    if arguments.python:
        return [(python, version) for python in arguments.python for version in versions]
    others = {} if arguments.torch else {python: program for python, program in programs.items() if python != here}
    newest = [(python, found[-1]) for python, program in others.items() if (found := offered(program))]
    return [(here, version) for version in versions] + newest


def tried(python: str, program: str, version: str, folder: Path, tests: Sequence[str] = TESTS) -> Outcome:
    """Make the environment, run the tests in it, remove it."""
    began = time.monotonic()

    def outcome(**more: object) -> Outcome:
        told = {"torch": version, "counts": {}, "failed": [], **more}
        return Outcome(python, minutes=(time.monotonic() - began) / 60, **told)  # type: ignore[arg-type]

    environment = folder / f"{python}-{version}"
    inside = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    try:
        subprocess.run([program, "-m", "venv", environment], check=True, capture_output=True)
        extras = ["pytest", "pytest-xdist", "jsonschema", "psutil"]
        packages = ["-e", ".[course,grading,export,einsum]", f"torch=={version}", *extras]
        install = [inside, "-m", "pip", "install", "-q", "--no-compile", "--cache-dir", folder / "pip", *packages]
        done = subprocess.run(install, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return outcome(said=(errors or done.stderr.splitlines() or ["pip gave no reason"])[-1][:200])
        asked = [inside, "-c", "import torch; print(torch.__version__)"]
        there = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
        if there.returncode:
            return outcome(said=(there.stderr.strip().splitlines() or ["torch cannot be imported"])[-1][:200])
        options = ["-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not long"]
        run = [inside, "-m", "pytest", *options, *tests]
        said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True).stdout
        (folder / f"{python}-{version}.txt").write_text(said, encoding="utf-8")
        return outcome(torch=there.stdout.strip(), counts=counted(said), failed=names_of_failures(said))
    finally:
        shutil.rmtree(environment, ignore_errors=True)


def counted(said: str) -> dict[str, int]:
    """How many tests ended how, from pytest's last line."""
    last = (said.strip().splitlines() or [""])[-1]
    return {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|error|skipped)", last)}


def names_of_failures(said: str) -> list[str]:
    """The tests that failed, from pytest's summary."""
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", said, flags=re.M)


def report(found: Sequence[Outcome], tests: Sequence[str] = TESTS) -> Iterator[str]:
    """The table, and below it what failed where."""
    facts = machine.passport()
    yield "# The course on other versions\n"
    yield f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · {facts['cpu']}, {facts['cores']} cores, {facts['os']}"
    yield f"The tests of {', '.join(f'`{name}`' for name in tests)}, without a GPU\n"
    lines = [
        [
            one.python,
            one.torch,
            *(str(one.counts.get(name, 0)) if one.counts else "-" for name in COUNTS),
            f"{one.minutes:.1f}",
        ]
        for one in found
    ]
    yield from markdown(["Python", "torch", *COUNTS, "minutes"], lines)
    for one in found:
        if one.said:
            yield f"\nPython {one.python}, torch {one.torch}: {one.said}"
        if one.failed:
            yield f"\nPython {one.python}, torch {one.torch}, failed:\n"
            yield from (f"- `{name}`" for name in one.failed)


def main() -> int:
    """Try what has no row yet, then print the table and write it."""
    parser = options(__doc__, "versions.md")
    parser.add_argument("--torch", type=lambda text: text.split(","), metavar="2.9.1,2.15.0")
    parser.add_argument("--python", type=lambda text: text.split(","), metavar="3.10,3.13")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="tests/test_x.py", help="run these alone")
    given = parser.parse_args()
    folder, programs, found = ROOT / "build" / "versions", interpreters(), []
    rows = Rows(folder / "outcomes.jsonl", {"tests": given.tests}, given.fresh)
    for python, version in wanted(given, programs):
        print(f"Python {python}, torch {version} ...", flush=True)
        if python not in programs:
            why = f"no Python {python} that can make an environment is on the PATH"
            found.append(Outcome(python, version, {}, [], 0.0, why))
        elif kept := rows.find(asked=[python, version]):
            found.append(Outcome(**kept["outcome"]))
        else:
            found.append(tried(python, programs[python], version, folder, given.tests))
            rows.add(asked=[python, version], outcome=asdict(found[-1]))
        print(f"  {found[-1].said or found[-1].counts}", flush=True)
    shutil.rmtree(folder / "pip", ignore_errors=True)
    publish(report(found, given.tests), given.out)
    rows.path.unlink()  # the next run is a new one
    return int(any(one.failed or one.said for one in found))


if __name__ == "__main__":
    stoppable(lambda: sys.exit(main()))
