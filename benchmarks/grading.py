"""Grading side by side: stock nbgrader, ours, and the floor below which none can go.

    python -m benchmarks.grading                   5 rounds, about 5 minutes on a quiet machine
    python -m benchmarks.grading --look            a look: one round without extra work, about a minute
    python -m benchmarks.grading --class 1000      instead: one large class, in all and the grader's memory for each hundred
    python -m benchmarks.grading --out grading.md  where the tables go (default build/benchmarks/grading.md)

The same class is marked in turns within one run, in random order: by nbgrader in a course without settings, whose
test cells do the same work; and by `python -m grader autograde` with 1 and 2 marking processes, in the sandbox. The
floor: a fork of a warm process with namespaces of its own, everything that has to run there (the student's cells and
the hidden tests, which stock's test cells match), one transaction. Once with next to no work of the student's own
(imports torch, makes a model and an optimizer), once with 0.5 s more. All of them are warm: libraries are loaded.
"""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import psutil
from nbgrader.apps.api import NbGraderAPI
from tqdm import tqdm

from benchmarks import grading_course as courses
from benchmarks.running import Rows, heading, markdown, options, publish, stoppable
from course.core import machine
from grader.course import Course, done
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared
from grader.steps.autograding import How, autograde

OUT = Path("build/benchmarks/grading.md")
WORK_S = (0.0, 0.5)
STEP = 100  # submissions
EACH = 8  # submissions of one turn of ours and of the floor; one of stock
STOCK, OURS, TWO, FLOOR = "stock nbgrader", "ours, 1 process", "ours, 2 processes", "the floor"
Found = dict[tuple[str, float], list[float]]  # (way, seconds of own work) -> seconds a submission


def ways(folder: Path, work_s: float, own: list[float]) -> dict[str, Callable[[], float]]:
    """Each way to mark, as a function that marks some submissions and tells the seconds for one.

    own: takes the seconds the student's own cells took in the floor.
    """
    course, plain = courses.ours(folder / "ours", EACH, work_s), courses.plain(folder / "plain", 4, work_s)
    students = itertools.cycle(f"s{number:04d}" for number in range(4))
    cells, hidden = courses.own_sources(course), courses.hidden_sources(course)
    book = sqlite3.connect(folder / "floor.db")
    book.execute("create table marks (student text primary key, points real)")

    def stock(api: NbGraderAPI) -> None:
        done(api.autograde(courses.LESSON, next(students), force=True), "stock autograde")

    def our(jobs: int) -> None:
        found = autograde(course, courses.LESSON, how=How(jobs, again=True), say=lambda line: None)
        assert all(outcome.points is not None for outcome in found), found

    def floor() -> None:
        running = 0.0
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

    def timed(way: Callable[[], None], each: int = EACH) -> Callable[[], float]:
        return lambda: seconds_of(way) / each

    return {
        STOCK: timed(lambda: stock(plain), 1),
        OURS: timed(partial(our, 1)),
        TWO: timed(partial(our, 2)),
        FLOOR: timed(floor),
    }


def seconds_of(call: Callable[[], object]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


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
                if number == 0 or not rows.find(**turn):
                    seconds = way()
                    if number:
                        rows.add(**turn, seconds=seconds, own=own[work_s][-1])
                bar.update()
    found, cells = {}, {work_s: [] for work_s in amounts}
    for row in sorted(rows.rows, key=lambda row: row["number"]):
        found.setdefault((row["way"], row["work_s"]), []).append(row["seconds"])
        if row["way"] == FLOOR:
            cells[row["work_s"]].append(row["own"])
    return found, {work_s: median(seconds) for work_s, seconds in cells.items()}


def tables(found: Found, own: dict[float, float]) -> Iterator[str]:
    """One table for each amount of own work."""
    head = ["marked by", "s a submission", "range", "beside own cells, s", "times stock's speed", "times the floor"]
    for work_s, own_s in own.items():
        amount = f"{work_s:g} s of" if work_s else "Next to no"
        yield from ("", f"### {amount} work of the student's own (all own cells: {own_s:.3f} s)", "")
        middle = {name: median(all_s) for (name, of), all_s in found.items() if of == work_s}
        lines = []
        for name, seconds in middle.items():
            cells = [f"{seconds:.3f}", span(found[name, work_s], 3), f"{seconds - own_s:.3f}"]
            lines.append([name, *cells, f"{middle[STOCK] / seconds:.1f}", f"{seconds / middle[FLOOR]:.2f}"])
        yield from markdown(head, lines)
        yield from ("", f"Two processes: {middle[OURS] / middle[TWO]:.2f} times the speed of one.")


def span(seconds: list[float], digits: int) -> str:
    """From the shortest to the longest."""
    return f"{min(seconds):.{digits}f} to {max(seconds):.{digits}f}"


def large_class(course: Course, jobs: int) -> Iterator[str]:
    """Mark everything, and tell the seconds in all, and after each hundred the seconds so far and the driver's memory."""
    seen, begun, me = [], time.perf_counter(), psutil.Process()
    over = threading.Event()

    def watch() -> None:
        folder = course.root / "autograded"
        while not over.wait(0.2):
            count = len(os.listdir(folder)) if folder.exists() else 0
            if count // STEP > len(seen):
                seen.append([str(count), f"{time.perf_counter() - begun:.0f}", f"{me.memory_info().rss / 1e6:.0f}"])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        found = autograde(course, courses.LESSON, how=How(jobs), say=print)
    finally:
        over.set()
        watcher.join()
    spent, without = time.perf_counter() - begun, sum(outcome.points is None for outcome in found)
    title = (
        f"### {len(found)} submissions in {spent:.0f} s ({spent / len(found):.3f} s each), {without} without a grade"
    )
    yield from ("", title, "", *markdown(["submissions", "s so far", "driver, MB"], seen))


FOOT = (
    "",
    "s a submission: median of the rounds, from the submission on disk to its marks in the gradebook and its graded",
    "notebook on disk. beside own cells: less the seconds the same cells take in a warm kernel. On a machine that",
    "others use too, two processes share what is left of its cores: read their column on a quiet one.",
)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables and write them."""
    parser = options(__doc__, "grading.md")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each way (default 5)")
    parser.add_argument("--class", type=int, dest="count", metavar="N", help="mark one class of N instead")
    parser.add_argument("--jobs", type=int, default=2, help="marking processes of --class (default 2)")
    parser.add_argument("--look", action="store_true", help="one round without extra work")
    given = parser.parse_args(arguments)
    if given.rounds < 1 or given.count is not None and given.count < 1:
        parser.error("--rounds and --class must be at least 1")
    warnings.simplefilter("ignore")  # nbgrader's own
    what = f"{given.rounds} rounds"
    if given.count is not None:
        what = f"one class of {given.count}, {given.jobs} processes"
    elif given.look:
        what = "a look: one round"
    lines = list(heading("Grading side by side", what, "nbgrader"))
    print(lines[-1], flush=True)
    with tempfile.TemporaryDirectory(prefix="course-grading-") as name:
        folder = Path(name)
        setting = {"each": EACH, "look": given.look, "course": machine.passport()["course"]}
        rows = Rows(given.out.with_suffix(".jsonl"), setting, given.fresh)
        if given.count is not None:
            lines += large_class(courses.ours(folder / "class", given.count, 0.0), given.jobs)
        elif given.look:
            lines += [*tables(*measure(folder, 1, rows, WORK_S[:1])), *FOOT]
        else:
            lines += [*tables(*measure(folder, given.rounds, rows)), *FOOT]
    publish(lines, given.out)


if __name__ == "__main__":
    stoppable(main)
