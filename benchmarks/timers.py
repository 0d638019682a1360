"""The timers of the benchmark: ours and its peers, each with the same budget for a comparison.

    ours            course.timing.compare, its own verdict and interval
    torch blocked   torch.utils.benchmark, blocked_autorange, each side alone; ratio of the medians
    torch IQRs      the same runs; a difference counts only where the interquartile ranges do not overlap
    pytest-benchmark its fixture, half the budget a side; ratio of its minima
    timeit best     smallest of 20 blocks of timeit, each side alone
A ratio without an interval is read as people read it: a difference beyond 0.5 % (the `ci` ours gets) counts.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import quantiles
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.benchmark import Timer

from course.timing import compare

BUDGET_S = 1.0
BELIEVED = 0.005

Function = Callable[[], Any]


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
    left, right = (_timer(f).blocked_autorange(min_run_time=BUDGET_S / 2) for f in (a, b))
    ratio = right.median / left.median
    (low_a, high_a), (low_b, high_b) = _quarters(left.times), _quarters(right.times)
    apart = 1 if low_b > high_a else -1 if high_b < low_a else 0
    return {"torch blocked": by_ratio(ratio), "torch IQRs": Answer(ratio, apart, (low_b / high_a, high_b / low_a))}


def timeit_best(f: Function, seconds: float) -> dict[str, float]:
    """Smallest of 20 blocks."""
    once = min(timeit.repeat(f, number=1, repeat=5))
    number = max(1, round(seconds / 20 / once))
    return {"timeit best": min(timeit.repeat(f, number=number, repeat=20)) / number}


def pytest_benchmark(f: Function, seconds: float) -> dict[str, float]:
    """Its fixture with its default settings but the time."""
    return {"pytest-benchmark min": _fixture_stats(f, seconds).min}


def each_alone(timer: Callable[[Function, float], dict[str, float]], a: Function, b: Function) -> dict[str, Answer]:
    """Half of the time for each side; a ratio for each figure the timer gives."""
    left, right = (timer(f, BUDGET_S / 2) for f in (a, b))
    return {name: by_ratio(right[name] / left[name]) for name in left}


COMPARISONS: dict[str, Callable[[Function, Function], dict[str, Answer]]] = {
    "ours": ours,
    "torch": torch_blocked,
    "pytest-benchmark": partial(each_alone, pytest_benchmark),
    "timeit": partial(each_alone, timeit_best),
}
"""Name on the command line -> a function that compares two by one run of a tool, in one or more ways to read it."""


def _fixture_stats(f: Function, seconds: float) -> Any:
    """The statistics of pytest-benchmark's fixture for one function."""
    from pytest_benchmark.fixture import BenchmarkFixture

    silent = SimpleNamespace(debug=lambda *_, **__: None, info=lambda *_, **__: None, warning=lambda *_, **__: None)
    fixture = BenchmarkFixture(
        SimpleNamespace(name="f", nodeid="f"),
        disable_gc=False,
        timer=SimpleNamespace(target=time.perf_counter),
        min_rounds=5,
        min_time=0.000005,
        max_time=seconds,
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
    return fixture.stats.stats


def _quarters(times: list[float]) -> tuple[float, float]:
    """The quarter points; of a single time, that time twice."""
    low, _, high = quantiles(times * 2 if len(times) == 1 else times, n=4, method="inclusive")
    return low, high


def _timer(f: Function) -> Timer:
    return Timer("f()", globals={"f": f}, num_threads=torch.get_num_threads())
