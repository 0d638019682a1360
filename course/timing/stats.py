"""The statistics of timing: medians, intervals without a bell curve, kinds of samples, drift; and the verdict of a comparison: when to
look at the data, what to conclude, when to stop.

Pure functions on plain numbers: no clock, no torch. Ratios are time(candidate) / time(baseline).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

TOTAL_ERROR = 0.05
"""Chance that an interval misses the true value, over all looks together."""
FEWEST_ROUNDS = 12
"""Fewer rounds (pairs, samples) than this carry no interval."""
FEWEST_PROCESSES = 3
"""Fewer processes of each candidate than this allow no verdict: two may differ by chance alone."""
LATE = 8
"""A function that settles late has been slow for at least so many samples."""
MOST_RANKED = 250
"""Of more pairs than this, medians of pairs next to each other are ranked, so that there are about as many."""
INTERIM_ERROR = 0.003
"""Chance of a false alarm each look before the last may have (two-sided)."""
LAST_ERROR = 0.01
"""The same for the last look. All looks together stay far below the 5 % promised, because the verdict depends on it."""
FIRST_LOOK = FEWEST_ROUNDS
"""Rounds before the first look; every later look comes after twice as many rounds as the one before."""
PLACE = 0.0015
"""Equal code differs by some 0.3 % in one process, from where it and its data lie in memory. So an interval from one process
is widened by this share on either side, and faster and slower must clear 1 by as much again."""
BIG_EFFECT_WIDTH = 0.05
"""A ratio clear of the gate still needs an interval of +/- 5 % of itself before the measuring stops."""


@dataclass(frozen=True)
class Interval:
    """An interval [low, high]."""

    low: float
    high: float


def median(values: Sequence[float]) -> float:
    """The middle value (mean of the two middle ones). Raises ValueError when there is none."""
    return quantile(values, 0.5)


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile (0 <= q <= 1) by linear interpolation between order statistics."""
    if not values:
        raise ValueError("no values: a quantile needs at least one")
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


@lru_cache(maxsize=4096)
def rank(count: int, error: float) -> int:
    """Largest k with P(the median lies outside [x_k, x_(count+1-k)]) <= error; 0 where even the whole range covers too rarely."""
    if count > 2000:
        z = NormalDist().inv_cdf(1 - error / 2)
        return max(0, math.floor((count - z * math.sqrt(count)) / 2))
    limit = math.floor(error / 2 * 2.0**60) * 2**count >> 60
    k, tail, choose = 0, 0, 1
    while k <= count // 2 and tail + choose <= limit:
        tail += choose
        choose = choose * (count - k) // (k + 1)
        k += 1
    return k


def median_interval(values: Sequence[float], error: float = TOTAL_ERROR) -> Interval:
    """Order-statistic interval for the median: no assumption about the shape of the noise.

    With too few values for `error` it is the whole range. Raises ValueError when there is none.
    """
    if not values:
        raise ValueError("no values: an interval needs at least one")
    ordered, k = sorted(values), max(1, rank(len(values), error))
    return Interval(ordered[k - 1], ordered[-k])


def enough(rounds: int) -> bool:
    """Whether so many rounds (or samples) carry an interval at all: at least FEWEST_ROUNDS."""
    return rounds >= FEWEST_ROUNDS


def interval_or_none(values: Sequence[float]) -> Interval | None:
    """`median_interval` where the values carry it; None for too few of them (see `enough`) or a width of zero.

    Values that are all equal say how fine the clock is, not how far the next value may lie.
    """
    return shown(median_interval(values), len(values)) if values else None


def shown(interval: Interval, rounds: int) -> Interval | None:
    """Returns `interval`; None where it may not be shown: it has too few rounds, no width or an infinite end."""
    bounded = math.isfinite(interval.low) and math.isfinite(interval.high)
    return interval if enough(rounds) and bounded and interval.low < interval.high else None


def ratio_interval(ratios: Sequence[float], error: float = TOTAL_ERROR) -> tuple[float, Interval]:
    """Centre and interval of the true ratio from the ratios of pairs of blocks that ran in random order.

    Divided by the true ratio, both sides of each coin (which of the two ran first) are equally likely, whatever the machine does: so
    half of the ratios lie above the true one, and their logarithms lie symmetrically about its own. The first gives the
    order-statistic interval of the median, narrow where many pairs were disturbed; the second the signed-rank interval, narrow where
    few were. What lies in both is left, each with half of the error. 0 to infinity where the pairs are too few for it.
    """
    (centre, ranked), ordered = _signed_ranks(ratios, error / 2), median_interval(ratios, error / 2)
    if not rank(len(ratios), error / 2) or not (ordered.low < ranked.high and ranked.low < ordered.high):
        return centre, ranked
    low, high = max(ranked.low, ordered.low), min(ranked.high, ordered.high)
    return min(max(centre, low), high), Interval(low, high)


def _signed_ranks(ratios: Sequence[float], error: float) -> tuple[float, Interval]:
    """The Hodges-Lehmann centre and the signed-rank interval of the logarithms."""
    import numpy as np

    size = len(ratios) // MOST_RANKED + 1
    kept = len(ratios) // size * size
    logs = np.median(np.log(np.asarray(ratios[:kept])).reshape(-1, size), axis=1)
    count = len(logs)
    means = np.sort(((logs[:, None] + logs) / 2)[np.triu_indices(count)])
    deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24)
    outside = math.floor(len(means) / 2 - NormalDist().inv_cdf(1 - error / 2) * deviation - 0.5)
    low, high = (means[outside], means[-1 - outside]) if outside >= 0 else (-math.inf, math.inf)
    return math.exp(np.median(means)), Interval(math.exp(low), math.exp(high))


@lru_cache(maxsize=256)
def t_quantile(p: float, freedom: int) -> float:
    """The p-quantile (0.5 <= p < 1) of Student's t with `freedom` >= 1 degrees of freedom.

    Of the angle atan(t / sqrt(freedom)) the density is as cos(angle) ** (freedom - 1): summed by the trapezoidal rule.
    """
    import numpy as np

    angles = np.linspace(0, math.pi / 2, 20_001)
    heights = np.cos(angles) ** (freedom - 1)
    below = np.cumsum(heights[1:] + heights[:-1])
    return math.sqrt(freedom) * math.tan(np.interp((2 * p - 1) * below[-1], [0, *below], angles))


def process_interval(ratios: Sequence[float], error: float = TOTAL_ERROR) -> Interval | None:
    """Interval for the geometric mean of one ratio a pair of processes: Student's t on the logarithms.

    Under equal code the candidates are exchangeable, so the logarithms are symmetric about 0, whatever processes
    differ in; heavy tails make t cautious. None for fewer than FEWEST_PROCESSES ratios.
    """
    if len(ratios) < FEWEST_PROCESSES:
        return None
    logs = [math.log(ratio) for ratio in ratios]
    half = t_quantile(1 - error / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return Interval(math.exp(fmean(logs) - half), math.exp(fmean(logs) + half))


def quality(values: Sequence[float]) -> str:
    """`stable` | `noisy` | `drifting` | `few`: what kind of samples these are.

    few: too few for an interval. noisy: the middle half spreads over more than 10 %, or the interval is wider than +/- 3 %.
    """
    if not enough(len(values)):
        return "few"
    if drift(values):
        return "drifting"
    interval, middle = median_interval(values), median(values)
    spread = quantile(values, 0.75) - quantile(values, 0.25)
    return "noisy" if (interval.high - interval.low) / 2 > 0.03 * middle or spread > 0.1 * middle else "stable"


def drift(values: Sequence[float], least: float = 0.2) -> tuple[float, float] | None:
    """The medians of the beginning and of the end of values, above 0, that climb or fall throughout, or settle late.

    None unless they are more than `least` apart and their bulks (10 to 90 %) do not touch. Throughout: the medians of the quarters
    go one way. Late: a beginning of at least LATE values, and others after it. Fewer than 24 values never drift.
    """
    count = len(values)
    if count < 24:
        return None
    quarters = [values[at * count // 4 : (at + 1) * count // 4] for at in range(4)]
    middles = [median(quarter) for quarter in quarters]
    if middles in (sorted(middles), sorted(middles, reverse=True)) and _apart(quarters[0], quarters[3], least):
        return middles[0], middles[3]
    split = LATE
    while 2 * split <= count:
        if _apart(values[:split], values[split:], least):
            return median(values[:split]), median(values[split:])
        split += max(1, split // 3)
    return None


def _apart(one: Sequence[float], two: Sequence[float], least: float) -> bool:
    """Whether the medians differ by more than `least` of the lower one and the bulks do not touch."""
    low, high = sorted((one, two), key=median)
    return median(high) > (1 + least) * median(low) and quantile(low, 0.9) < quantile(high, 0.1)


# --- the verdict: faster, slower, same or undecided --------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The arguments of `compare`; order: draws the random order."""

    baseline: str
    ci: float
    max_time: float
    gate: float
    same: bool | float
    order: random.Random


def widened(interval: Interval) -> Interval:
    """Returns an interval from one process, widened by the difference that equal code shows: see PLACE."""
    return Interval(interval.low * (1 - PLACE), interval.high * (1 + PLACE))


def decide(interval: Interval | None, ratio: float, ci: float, gate: float, place: float = 0.0) -> str:
    """`faster` | `slower` | `same` | `undecided`, from the interval of the ratio.

    faster or slower: the interval keeps off 1 by more than `place` and the ratio differs from 1 by more than `ci`, the
    precision asked for. same: otherwise, when the interval stays within 1 +/- gate. Anything else, or no interval (None): undecided.
    """
    if interval is None:
        return "undecided"
    if abs(ratio - 1) > ci:
        if interval.high < 1 - place:
            return "faster"
        if interval.low > 1 + place:
            return "slower"
    if interval.low >= 1 - gate and interval.high <= 1 + gate:
        return "same"
    return "undecided"


def settled(interval: Interval, ratio: float, ci: float, gate: float) -> bool:
    """Whether measuring more is pointless: clear of the gate on one side and within +/- 5 %, or within +/- ci.

    Within +/- ci a difference that is larger than ci must also have been told from 1: a difference of 1 % with an interval
    of +/- 0.5 % is measured on, because a little more data often tells it.
    """
    half = (interval.high - interval.low) / 2
    if interval.high < 1 - gate or interval.low > 1 + gate:
        return half <= max(BIG_EFFECT_WIDTH, ci) * ratio
    told = abs(ratio - 1) <= ci or decide(widened(interval), ratio, ci, gate, PLACE) in ("faster", "slower")
    return told and half <= ci * ratio
