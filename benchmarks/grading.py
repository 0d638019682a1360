"""Grading side by side: stock nbgrader, stock nbgrader with our settings, ours, and the floor below which none can go.

    python -m benchmarks.grading                   5 rounds, about 5 minutes on a quiet machine
    python -m benchmarks.grading --look            a look: one round without extra work, about a minute
    python -m benchmarks.grading --class 1000      instead: one large class, seconds and memory for each hundred
    python -m benchmarks.grading --out grading.md  where the tables go (default build/benchmarks/grading.md)

The same class is marked in turns within one run, in random order: by nbgrader in a course without settings, whose
test cells do the same work; by `nbgrader autograde` under our settings; and by `python -m grader autograde` with 1
and 2 marking processes, in the sandbox and without it. The floor: a fork of a warm process with namespaces of its
own, everything that has to run there (the student's cells and the hidden tests, which stock's test cells match), one
transaction. Once with next to no work of the student's own (imports torch, makes a model and an
optimizer), once with 0.5 s more. All of them are warm: what starting costs, once a run, has a table of its own.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from tqdm import tqdm

from benchmarks import grading_course as courses
from benchmarks.grading_class import large_class
from benchmarks.running import Rows, busy_words, markdown, stoppable
from course import machine
from grader.autograding import How, autograde
from grader.course import done
from grader.project import HERE
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared

OUT = Path("build/benchmarks/grading.md")
WORK_S = (0.0, 0.5)
EACH = 8  # submissions of one turn of ours and of the floor; one of stock
STOCK, OURS, FLOOR = "stock nbgrader", "ours, 1 process", "the floor"
Found = dict[tuple[str, float], list[float]]  # (way, seconds of own work) -> seconds a submission


def ways(folder: Path, work_s: float, own: list[float]) -> dict[str, Callable[[], float]]:
    """Each way to mark, as a function that marks some submissions and tells the seconds for one.

    own: takes the seconds the student's own cells took in the floor.
    """
    course, plain = courses.ours(folder / "ours", EACH, work_s), courses.plain(folder / "plain", 4, work_s)
    turn = {"stock": 0}
    cells, hidden = courses.own_sources(course), courses.hidden_sources(course)
    book = sqlite3.connect(folder / "floor.db")
    book.execute("create table marks (student text primary key, points real)")

    def stock(api: object) -> float:
        student, turn["stock"] = f"s{turn['stock'] % 4:04d}", turn["stock"] + 1
        begun = time.perf_counter()
        done(api.autograde(courses.LESSON, student, force=True), "stock autograde")
        return time.perf_counter() - begun

    def our(how: How) -> float:
        begun = time.perf_counter()
        found = autograde(course, courses.LESSON, how=how, say=lambda line: None)
        seconds = time.perf_counter() - begun
        assert all(outcome.points is not None for outcome in found), found
        return seconds / EACH

    def floor() -> float:
        begun, running = time.perf_counter(), 0.0
        for number in range(EACH):
            with shared(True).kernel(Limits()) as kernel:
                before = time.perf_counter()
                for cell in cells:
                    assert kernel.run(cell).error is None, cell
                running += time.perf_counter() - before
                for test in hidden:
                    assert kernel.run(test).error is None, test
            with book:
                book.execute("insert or replace into marks values (?, 1.0)", (f"s{number}",))
        own.append(running / EACH)
        return (time.perf_counter() - begun) / EACH

    return {
        STOCK: lambda: stock(plain),
        "stock nbgrader, our settings": lambda: stock(course.api),
        OURS: lambda: our(How(1, again=True)),
        "ours, 1 process, no sandbox": lambda: our(How(1, again=True, sandbox=False)),
        "ours, 2 processes": lambda: our(How(2, again=True)),
        "ours, 2 processes, no sandbox": lambda: our(How(2, again=True, sandbox=False)),
        FLOOR: floor,
    }


def measure(
    folder: Path, rounds: int, rows: Rows, amounts: tuple[float, ...] = WORK_S
) -> tuple[Found, dict[float, float]]:
    """Everything in turns; the first round warms up and does not count. Returns the seconds, and those of own cells.

    rows: keeps what was measured, and has what was before this run was stopped.
    """
    order = random.Random(0)
    own: dict[float, list[float]] = {work_s: [] for work_s in amounts}
    turns = [
        (name, work_s, way)
        for work_s in amounts
        for name, way in ways(folder / f"work-{work_s:g}", work_s, own[work_s]).items()
    ]
    with tqdm(total=(rounds + 1) * len(turns), leave=False) as bar:
        for number in range(rounds + 1):
            order.shuffle(turns)
            for name, work_s, way in turns:
                bar.set_description(f"{name}, {work_s:g} s of own work")
                turn = {"way": name, "work_s": work_s, "number": number}
                if number == 0 or not rows.has(**turn):
                    seconds = way()
                    if number:
                        rows.add(**turn, seconds=seconds, own=own[work_s][-1])
                bar.update()
    found: Found = {}
    for row in sorted(rows.rows, key=lambda row: row["number"]):
        found.setdefault((row["way"], row["work_s"]), []).append(row["seconds"])
    cells = {
        work_s: [row["own"] for row in rows.rows if row["way"] == FLOOR and row["work_s"] == work_s]
        for work_s in amounts
    }
    return found, {work_s: median(seconds) for work_s, seconds in cells.items()}


def tables(found: Found, own: dict[float, float]) -> Iterator[str]:
    """One table for each amount of own work."""
    for work_s, own_s in own.items():
        stock, floor = (median(found[name, work_s]) for name in (STOCK, FLOOR))
        yield from (
            "",
            f"### {'Next to no' if not work_s else f'{work_s:g} s of'} work of the student's own (all own cells: {own_s:.3f} s)",
            "",
        )
        lines = []
        for name in dict.fromkeys(name for name, _ in found):
            all_s = found[name, work_s]
            seconds = median(all_s)
            lines.append(
                [
                    name,
                    f"{seconds:.3f}",
                    f"{min(all_s):.3f} to {max(all_s):.3f}",
                    f"{seconds - own_s:.3f}",
                    f"{stock / seconds:.1f}",
                    f"{seconds / floor:.2f}",
                ]
            )
        yield from markdown(
            ["marked by", "s a submission", "range", "beside own cells, s", "times stock's speed", "times the floor"],
            lines,
        )
        one, two = (median(found[f"ours, {name}", work_s]) for name in ("1 process", "2 processes"))
        yield from ("", f"Two processes: {one / two:.2f} times the speed of one.")


def starting(folder: Path) -> Iterator[str]:
    """What a run costs before and after its submissions: one submission, less what it takes in a long run."""
    yield from ("", "### Starting, once a run: a command with one submission, seconds in all", "")
    course = folder / "work-0"
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    ours = [
        sys.executable,
        "-m",
        "grader",
        "autograde",
        courses.LESSON,
        "--dir",
        str(course / "ours"),
        "--student",
        "s0000",
        "--again",
        "--jobs",
    ]
    stock = [sys.executable, "-m", "nbgrader", "autograde", courses.LESSON, "--student", "s0000", "--force"]
    lines = []
    for name, command, place in (
        (STOCK, stock, course / "plain"),
        ("stock nbgrader, our settings", stock, course / "ours"),
        ("ours, 1 process", [*ours, "1"], HERE),
        ("ours, 2 processes", [*ours, "2"], HERE),
    ):
        seconds = []
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
            seconds.append(time.perf_counter() - begun)
        lines.append([name, f"{median(seconds):.1f}", f"{min(seconds):.1f} to {max(seconds):.1f}"])
    yield from markdown(["marked by", "s", "range"], lines)


def heading(what: str) -> Iterator[str]:
    """When, where, with what."""
    import nbgrader

    facts = machine.passport()
    yield from ("# Grading side by side", "")
    yield (
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC · {facts['cpu']}, {facts['cores']} cores, "
        f"{facts['os']} · Python {facts['python']}, torch {facts['torch']}, nbgrader {nbgrader.__version__}, "
        f"course {facts['course']}"
    )
    load = f"; load at the start {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    yield f"{what}{load}"


FOOT = (
    "",
    "s a submission: median of the rounds, from the submission on disk to its marks in the gradebook and its graded",
    "notebook on disk. beside own cells: less the seconds the same cells take in a warm kernel. On a machine that",
    "others use too, two processes share what is left of its cores: read their column on a quiet one.",
)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way (default 5)")
    parser.add_argument("--class", type=int, dest="count", metavar="N", help="mark one class of N instead")
    parser.add_argument("--jobs", type=int, default=2, help="marking processes of --class (default 2)")
    parser.add_argument("--out", type=Path, default=OUT, help=f"the Markdown file (default {OUT})")
    parser.add_argument(
        "--look", action="store_true", help="one round without extra work, no starting times: about a minute"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before this run was stopped")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.count is not None and options.count < 1:
        parser.error("--rounds and --class must be at least 1")
    warnings.simplefilter("ignore")  # nbgrader's own
    if busy := busy_words():
        print(busy, flush=True)
    with tempfile.TemporaryDirectory(prefix="course-grading-") as name:
        folder = Path(name)
        setting = {"each": EACH, "look": options.look, "course": machine.passport()["course"]}
        rows = Rows(options.out.with_suffix(".jsonl"), setting, options.fresh)
        if options.count is not None:
            lines = [
                *heading(f"one class of {options.count}, {options.jobs} processes"),
                *large_class(courses.ours(folder / "class", options.count, 0.0), options.jobs),
            ]
        elif options.look:
            lines = [*heading("a look: one round"), *tables(*measure(folder, 1, rows, WORK_S[:1])), *FOOT]
        else:
            lines = list(heading(f"{options.rounds} rounds"))
            lines += [*tables(*measure(folder, options.rounds, rows)), *starting(folder), *FOOT]
    print("\n".join(lines))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written to {options.out}")


if __name__ == "__main__":
    stoppable(main)
