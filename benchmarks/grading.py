"""Grading side by side: stock nbgrader, and ours with one and two processes.

    python -m benchmarks.grading                   5 rounds, about 5 minutes on a quiet machine
    python -m benchmarks.grading --look            a look: one round
    python -m benchmarks.grading --class 1000      instead: one large class, in all, and the grader's memory
    python -m benchmarks.grading --out grading.md  where the table goes (default build/benchmarks/grading.md)

The same class is marked in turns within one run, in random order: by nbgrader in a course without settings, whose
test cells do the same work; and by `python -m grader autograde` with 1 and 2 marking processes, in the sandbox.
Once with next to no work of the student's own (imports torch, makes a model and an optimizer), once with 0.5 s more.
All of them are warm: libraries are loaded.
"""

from __future__ import annotations

import itertools
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tqdm import tqdm

from benchmarks import grading_course as courses
from benchmarks.running import heading, markdown, options, publish
from grader.course import Course, done
from grader.marking.autograde import How, autograde

WORK_S = (0.0, 0.5)
ROUNDS = 5
EACH = 8  # submissions of one turn of ours; one of stock


def ways(folder: Path, work_s: float) -> dict[str, Callable[[], float]]:
    """Each way to mark, as a function that marks some submissions and tells the seconds for one."""
    course, plain = courses.ours(folder / "ours", EACH, work_s), courses.plain(folder / "plain", 4, work_s)
    students = itertools.cycle(f"s{number:04d}" for number in range(4))

    def stock() -> float:
        begun = time.perf_counter()
        done(plain.autograde(courses.LESSON, next(students), force=True), "stock autograde")
        return time.perf_counter() - begun

    def ours(jobs: int) -> float:
        begun = time.perf_counter()
        found = autograde(course, courses.LESSON, how=How(jobs, again=True), say=lambda line: None)
        assert all(outcome.points is not None for outcome in found), found
        return (time.perf_counter() - begun) / EACH

    return {"stock nbgrader": stock, "ours, 1 process": partial(ours, 1), "ours, 2 processes": partial(ours, 2)}


def table(folder: Path, rounds: int) -> Iterator[str]:
    """Everything in turns; the first round warms up and does not count."""
    turns = [(name, work_s, way) for work_s in WORK_S for name, way in ways(folder / f"{work_s:g}", work_s).items()]
    found: dict[tuple[str, float], list[float]] = {}
    for _ in tqdm(range(rounds + 1), leave=False):
        for name, work_s, way in random.sample(turns, len(turns)):
            found.setdefault((name, work_s), []).append(way())
    names = dict.fromkeys(name for name, _, _ in turns)
    lines = [[name, *(_told(found[name, work_s][1:]) for work_s in WORK_S)] for name in names]
    yield from markdown(["s a submission", *(f"{work_s:g} s of the student's own" for work_s in WORK_S)], lines)
    yield from (
        "",
        "Median (range) of the rounds, from the submission on disk to its marks in the gradebook and its graded",
    )
    yield "notebook on disk. On a machine that others use too, two processes share what is left of its cores."


def _told(seconds: list[float]) -> str:
    return f"{median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})"


def large_class(course: Course) -> str:
    """Mark everything with two processes; tell the seconds, and the most memory that the grader itself had."""
    begun = time.perf_counter()
    found = autograde(course, courses.LESSON, how=How(2), say=print)
    spent, without = time.perf_counter() - begun, sum(outcome.points is None for outcome in found)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (
        f"{len(found)} submissions in {spent:.0f} s ({spent / len(found):.3f} s each), {without} without a grade; "
        f"the grader itself had at most {memory / 1e6:.0f} MB"
    )


def main() -> None:
    """Measure, print the table and write it."""
    parser = options(__doc__, "grading.md")
    parser.add_argument("--class", type=int, dest="count", metavar="N", help="mark one class of N instead")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nbgrader's own
    rounds = 1 if given.look else ROUNDS
    what = f"one class of {given.count}, 2 processes" if given.count else f"{rounds} rounds"
    lines = heading("Grading side by side", what, "nbgrader")
    with tempfile.TemporaryDirectory(prefix="course-grading-") as name:
        folder = Path(name)
        body = [large_class(courses.ours(folder, given.count, 0.0))] if given.count else table(folder, rounds)
        publish([*lines, *body], given.out)


if __name__ == "__main__":
    main()
