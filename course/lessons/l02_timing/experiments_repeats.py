"""Experiments of lesson 02 on repeating: the first call, and what a race of two functions finds.

Each run returns tidy rows (milliseconds unless a name says otherwise) and uses torch alone.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import FEW, Reading, groups
from course.lessons.l02_timing.experiments import LESSON, clock_ms
from course.timing.stats import median_interval

METHODS = ("means, each alone", "best of, each alone", "paired")
WINNER = 0.02  # a naive tester calls a winner when the ratio is further from 1 than this


def _small_products(x: torch.Tensor, times: int) -> Callable[[], None]:
    """The same matrix for all: where a buffer lies in memory would be a difference of its own."""

    def work() -> None:
        for _ in range(times):
            x @ x

    return work


def _trials(budget: Budget, trials: int, candidate_times: int, planted: float) -> Iterator[dict]:
    """Three procedures judge 20 against ``candidate_times`` small products, again and again."""
    from course.timing import compare

    torch.set_num_threads(1)  # restored afterwards; waiting threads would drown everything on a busy machine
    x = torch.randn(48, 48)
    baseline, candidate = _small_products(x, 20), _small_products(x, candidate_times)
    summaries = {"means, each alone": statistics.fmean, "best of, each alone": min}
    for trial in budget.loop(range(trials), desc=both("trials", "试验")):
        a, b = ([clock_ms(run) for _ in range(30)] for run in (baseline, candidate))
        for method, summary in summaries.items():
            ratio = summary(b) / summary(a)
            said = "same" if abs(ratio - 1) <= WINNER else ("slower" if ratio > 1 else "faster")
            yield {"trial": trial, "method": method, "ratio": ratio, "said": said, "planted": planted, "threads": 1}
        paired = compare({"a": baseline, "b": candidate}, baseline="a", max_time=0.4, gate=WINNER)
        yield {
            "trial": trial,
            "method": "paired",
            "ratio": paired.ratio,
            "said": paired.verdict,
            "planted": planted,
            "threads": 1,
        }


def _within(ratios: list[float], options: dict[str, tuple[float, float]]) -> str | None:
    """The option between whose ends the whole interval of the median lies; None where none does, or with too few ratios."""
    span = median_interval(ratios)
    found = [option for option, (low, high) in options.items() if low <= span.low and span.high <= high]
    return found[0] if found and len(ratios) >= FEW else None


# --- 02-first-call ------------------------------------------------------------------------------------------


def _fresh_conv(rng: random.Random) -> Callable[[], object]:
    """A small convolution of a shape this process has very probably not run yet."""
    x = torch.randn(2, 16, rng.randrange(8, 28), rng.randrange(8, 28))
    weight = torch.randn(32, 16, 3, 3)
    return lambda: torch.nn.functional.conv2d(x, weight, padding=1)


@experiment(name="02-first-call", lesson=LESSON, needs="cpu", seconds=4)
def first_call(budget: Budget) -> list[dict]:
    """Eight convolutions of new random shapes, twelve calls each on one thread, every call timed alone."""
    rng = random.Random()
    torch.set_num_threads(1)
    rows = []
    with torch.inference_mode():
        _fresh_conv(rng)()
        for shape in budget.loop(range(8), desc=both("new shapes", "新形状")):
            run = _fresh_conv(rng)
            rows += [{"shape": shape, "call": call, "call_ms": clock_ms(run), "threads": 1} for call in range(1, 13)]
    return rows


def read_first_call(rows: list[dict]) -> Reading:
    """The first call over the median of the calls from the fourth on: up to 1.25 a, up to 3 b, more c."""
    shapes = [[row["call_ms"] for row in mine] for mine in groups(rows, "shape").values() if len(mine) >= 6]
    if not shapes:
        return Reading()
    ratios = [[ms / statistics.median(calls[3:]) for ms in calls] for calls in shapes]
    drawn = [{"call": f"call {call + 1}", "ratio": statistics.median(one[call] for one in ratios)} for call in range(3)]
    first = [one[0] for one in ratios]
    numbers = {"ratio": statistics.median(first), "top": max(6.0, statistics.median(first))}
    drawn.append({"call": "later", "ratio": 1.0})
    option = _within(first, {"a": (0.0, 1.25), "b": (1.25, 3.0), "c": (3.0, math.inf)})
    outcome = "longer" if option in ("b", "c") else option
    return Reading(outcome, numbers, drawn, {"02-bet-first-call": option})


# --- 02-same-code-twice -------------------------------------------------------------------------------------

TRIALS = 20


@experiment(name="02-same-code-twice", lesson=LESSON, needs="cpu", seconds=20)
def same_code_twice(budget: Budget) -> Iterator[dict]:
    """Twenty races of one function against its twin: every winner is a false alarm."""
    return _trials(budget, trials=TRIALS, candidate_times=20, planted=1.0)


def read_same_code_twice(rows: list[dict]) -> Reading:
    """How often each method announced a winner between twins; the bet is a count of the means."""
    trials = len(groups(rows, "trial"))
    winners = {
        method: sum(r["method"] == method and r["said"] in ("faster", "slower") for r in rows) for method in METHODS
    }
    drawn = [{"method": method, "count": count} for method, count in winners.items()]
    means, _, paired = winners.values()
    numbers = {"trials": trials, "means": means}
    if trials < TRIALS:
        return Reading(None, numbers, drawn)
    option = "a" if means <= 1 else "b" if means <= 5 else "c"
    return Reading("paired" if paired else "means", numbers, drawn, {"02-bet-same-code": option})


# --- 02-planted-difference ----------------------------------------------------------------------------------

PLANTED = 1.05

CLOSE = 0.02  # a ratio this near to the truth has found the difference, not just its sign


@experiment(name="02-planted-difference", lesson=LESSON, needs="cpu", seconds=12)
def planted_difference(budget: Budget) -> Iterator[dict]:
    """Twelve races of 20 small products against 21."""
    return _trials(budget, trials=12, candidate_times=21, planted=PLANTED)


def read_planted_difference(rows: list[dict]) -> Reading:
    """In how many races each method came near to the truth, and not just its sign; races that are whole are told."""
    whole = [mine for mine in groups(rows, "trial").values() if len(mine) == len(METHODS)]
    near = [row["method"] for mine in whole for row in mine if abs(row["ratio"] - row["planted"]) <= CLOSE]
    trials = len(whole)
    drawn = [{"method": method, "count": near.count(method), "trials": trials} for method in METHODS]
    means, _, paired = (near.count(method) for method in METHODS)
    numbers = {"trials": trials, "means": means, "paired": paired}
    return Reading("told" if trials >= FEW else None, numbers, drawn)
