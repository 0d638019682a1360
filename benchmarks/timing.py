"""Timers side by side: who finds a planted difference, who sees one where there is none.

    python -m benchmarks.timing                     all of it: 12 comparisons a cell, about 20 minutes
    python -m benchmarks.timing --look              for a look: 3 comparisons a cell
    python -m benchmarks.timing --out timing.md     where the table goes (default build/benchmarks/timing.md)

Truth: both sides repeat the same small piece of work on the same tensors, 34 times against 33, 101 against 100, or equally
often. compute: products of 16 x 16 numbers, which stay in the first cache, about 0.2 ms a call; memory: sums over pieces of
16 KiB, walking through 64 MiB, about 0.1 ms; memory-long: the same six times as long. Every
method gets 1 s for a comparison (those that can stop earlier do). Quiet (as quiet as the machine is), and beside 4
neighbours without a pause, which share this process's session. The methods take turns in random order, so all meet the
same moods. Stopped, it writes what it has. The methods, each with the same budget:

    ours            course.timing.compare, its own verdict and interval
    torch blocked   torch.utils.benchmark, blocked_autorange, each side alone; ratio of the medians
    torch IQRs      the same runs; a difference counts only where the interquartile ranges do not overlap
    pytest-benchmark its fixture, half the budget a side; ratio of its minima
    timeit best     smallest of 20 blocks of timeit, each side alone
A ratio without an interval is read as people read it: a difference beyond 0.5 % (the `ci` ours gets) counts.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import quantiles
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.benchmark import Timer
from tqdm import tqdm

from benchmarks.running import heading, markdown, options, publish
from course.timing import compare

STEPS = {3: (33, 34), 1: (100, 101), 0: (33, 33)}
"""Per cent planted -> units of work on the two sides: so few that a call of the memory-bound job stays short."""
MATRICES = torch.full((16, 16), 0.5), torch.empty(16, 16)
PIECE, PIECES = 1 << 12, 1 << 12
NEIGHBOURS = (0, 4)
TRIES, LOOK = 12, 3
BUDGET_S = 1.0
BELIEVED = 0.005

Function = Callable[[], Any]
Row = dict[str, Any]


def compute(units: int) -> Function:
    """A function that multiplies two small matrices `units` times."""
    mm, (a, out) = torch.mm, MATRICES

    def run() -> None:
        for _ in itertools.repeat(None, units):
            mm(a, a, out=out)

    return run


def memory(units: int) -> Function:
    """A function that adds to `units` pieces of 16 KiB, always the next ones of 64 MiB, which no cache of one core holds."""
    pieces, add = _pieces(), torch.add

    def run() -> None:
        for piece in itertools.islice(pieces, units):
            add(piece, 0.5, out=piece)

    return run


@functools.cache
def _pieces() -> Iterator[torch.Tensor]:
    """The same endless walk for both sides."""
    return itertools.cycle(torch.zeros(PIECES, PIECE).unbind())


JOBS: dict[str, tuple[Callable[[int], Function], int]] = {
    "compute": (compute, 6),
    "memory": (memory, 1),
    "memory-long": (memory, 6),
}
"""Name -> the function that makes it, and how many times the units of STEPS it does."""


NEIGHBOUR = """
import sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), __import__("os")._exit(0)), daemon=True).start()
buffer = bytearray(48 << 20)
print(flush=True)
while True:
    bytes(buffer) if {copies} else sum(range(5000))
"""
"""Computes or copies without a pause, until its input closes: also when this process is killed."""


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many neighbours while the block runs: every second one copies 48 MB, the others do arithmetic in Python."""
    with contextlib.ExitStack() as stack:
        for number in range(count):
            command = [sys.executable, "-c", NEIGHBOUR.format(copies=number % 2)]
            process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            stack.callback(process.kill)
            process.stdout.readline()  # type: ignore[union-attr]  # it is making noise now
        yield


# --- the timers ---


@dataclass(frozen=True)
class Answer:
    """One comparison: ratio of the times, what it says (+1 slower, -1 faster, 0 no difference), interval."""

    ratio: float
    says: int
    interval: tuple[float, float] | None = None


def by_ratio(ratio: float) -> Answer:
    """A bare ratio, believed when it is further than BELIEVED from 1."""
    return Answer(ratio, 1 if ratio > 1 + BELIEVED else -1 if ratio < 1 - BELIEVED else 0)


def ours(a: Function, b: Function) -> dict[str, Answer]:
    """course.timing.compare."""
    found = compare({"a": a, "b": b}, max_time=BUDGET_S, ci=BELIEVED, device="cpu")
    says = {"slower": 1, "faster": -1}.get(found.verdict, 0)
    interval = None if found.low is None or found.high is None else (found.low, found.high)
    return {"ours": Answer(found.ratio, says, interval)}


def torch_blocked(a: Function, b: Function) -> dict[str, Answer]:
    """Half of the time for each side."""
    timers = [Timer("f()", globals={"f": f}, num_threads=torch.get_num_threads()) for f in (a, b)]
    left, right = (timer.blocked_autorange(min_run_time=BUDGET_S / 2) for timer in timers)
    ratio = right.median / left.median
    (low_a, high_a), (low_b, high_b) = _quarters(left.times), _quarters(right.times)
    apart = 1 if low_b > high_a else -1 if high_b < low_a else 0
    return {"torch blocked": by_ratio(ratio), "torch IQRs": Answer(ratio, apart, (low_b / high_a, high_b / low_a))}


def timeit_best(f: Function) -> float:
    """Smallest of 20 blocks."""
    once = min(timeit.repeat(f, number=1, repeat=5))
    number = max(1, round(BUDGET_S / 2 / 20 / once))
    return min(timeit.repeat(f, number=number, repeat=20)) / number


def pytest_benchmark(f: Function) -> float:
    """The minimum of its fixture, with its default settings but the time."""
    from pytest_benchmark.fixture import BenchmarkFixture

    silent = SimpleNamespace(debug=lambda *_, **__: None, info=lambda *_, **__: None, warning=lambda *_, **__: None)
    fixture = BenchmarkFixture(
        SimpleNamespace(name="f", nodeid="f"),
        disable_gc=False,
        timer=SimpleNamespace(target=time.perf_counter),
        min_rounds=5,
        min_time=0.000005,
        max_time=BUDGET_S / 2,
        precision=None,
        confidence=None,
        warmup=False,
        warmup_iterations=100000,
        calibration_precision=10,
        add_stats=lambda stats: None,
        logger=silent,
        warner=silent,
        disabled=False,
        cprofile=False,
        cprofile_loops=None,
        cprofile_dump=None,
    )
    fixture(f)
    return float(fixture.stats.stats.min)


def each_alone(name: str, seconds_of: Callable[[Function], float], a: Function, b: Function) -> dict[str, Answer]:
    """Half of the time for each side."""
    usual = seconds_of(a)
    return {name: by_ratio(seconds_of(b) / usual)}


COMPARISONS: dict[str, Callable[[Function, Function], dict[str, Answer]]] = {
    "ours": ours,
    "torch": torch_blocked,
    "pytest-benchmark": partial(each_alone, "pytest-benchmark min", pytest_benchmark),
    "timeit": partial(each_alone, "timeit best", timeit_best),
}
"""Name on the command line -> a function that compares two by one run of a tool, in one or more ways to read it."""


def _quarters(times: list[float]) -> tuple[float, float]:
    """The quarter points; of a single time, that time twice."""
    low, _, high = quantiles(times * 2 if len(times) == 1 else times, n=4, method="inclusive")
    return low, high


# --- all of it ---


def measure_all(tries: int, rows: list[Row]) -> None:
    """Every comparison, one set of neighbours after another; each row is added as it comes."""
    torch.set_num_threads(1)
    turns = list(itertools.product(JOBS, STEPS, COMPARISONS, range(tries)))
    with tqdm(total=len(turns) * len(NEIGHBOURS), leave=False) as bar:
        for count in NEIGHBOURS:
            random.Random(count).shuffle(turns)
            with neighbours(count):
                for job, planted, method, _ in turns:
                    bar.set_description(f"{count} {job} {planted} {method}")
                    rows += one_turn(job, planted, method, count)
                    bar.update()


def one_turn(job: str, planted: int, method: str, count: int) -> list[Row]:
    """One comparison by one tool, read in one or more ways."""
    make, times = JOBS[job]
    units, more = STEPS[planted]
    answers = COMPARISONS[method](make(times * units), make(times * more))
    about = {"neighbours": count, "planted": planted, "truth": more / units}
    return [{"name": name, **vars(answer), **about} for name, answer in answers.items()]


def table(rows: list[Row]) -> Iterator[str]:
    """A line for each method and number of neighbours: all jobs and planted differences together."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["name"], row["neighbours"]), []).append(row)
    lines = []
    for (name, count), group in sorted(groups.items(), key=lambda one: (one[0][1], one[0][0] != "ours", one[0])):
        found = [[row["says"] > 0 for row in group if row["planted"] == one] for one in STEPS if one]
        alarms = [row["says"] < 0 or (not row["planted"] and row["says"] != 0) for row in group]
        held = [row["interval"][0] <= row["truth"] <= row["interval"][1] for row in group if row["interval"]]
        counts = [f"{sum(some)} of {len(some)}" if some else "no interval" for some in (*found, alarms, held)]
        lines.append([name, str(count) if count else "quiet", *counts])
    head = ["method", "neighbours", *(f"{one} % found" for one in STEPS if one), "false alarms", "truth in interval"]
    yield from markdown(head, lines)


FOOT = (
    "",
    "found: called slower. false alarms: called faster, or on equal code called different at all. A method",
    f'without an interval is read as saying "different" beyond {BELIEVED:.1%}. For torch IQRs the interval is the range of',
    "ratios that the interquartile ranges allow. Budgets count from the first calls; timeit estimates first, then fills its own.",
)


def main() -> None:
    """Measure, print the table and write it."""
    given = options(__doc__, "timing.md").parse_args()
    lines, rows = list(heading("Timers side by side", f"{BUDGET_S:g} s a comparison, one thread")), list[Row]()
    with contextlib.suppress(KeyboardInterrupt):
        measure_all(LOOK if given.look else TRIES, rows)
    publish([*lines, *table(rows), *FOOT], given.out)


if __name__ == "__main__":
    main()
