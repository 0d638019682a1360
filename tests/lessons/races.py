"""Comparisons as if they had been measured: real functions, invented times. For checks that look at both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.timing import Comparison, Paired


def raced(
    functions: Mapping[str, Callable[[], Any]],
    ratio: float,
    width: float = 0.02,
    rounds: int = 40,
    baseline_ms: float = 20.0,
) -> Comparison:
    """The first function is the baseline; time(other) / time(baseline) is ``ratio``, give or take ``width``."""
    baseline, candidate = functions
    low, high = ratio - width, ratio + width
    verdict = "faster" if high < 1 else "slower" if low > 1 else "same" if width <= 0.02 else "undecided"
    pair = Paired(
        name=candidate,
        baseline=baseline,
        ratio=ratio,
        low=low,
        high=high,
        confidence=0.95,
        verdict=verdict,
        ratios=(ratio,) * rounds,
        gate=0.02,
    )
    found = Comparison(
        baseline=baseline,
        pairs={candidate: pair},
        medians_ms={baseline: baseline_ms, candidate: baseline_ms * ratio},
        calls=dict.fromkeys(functions, 1),
        rounds=rounds,
        seconds=1.0,
        device="cpu",
        clock="perf_counter",
        threads=1,
    )
    object.__setattr__(found, "functions", dict(functions))
    return found
