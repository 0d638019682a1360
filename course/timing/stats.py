"""The statistics of timing: medians, intervals without a bell curve, kinds of samples, drift.

Pure functions on plain numbers: no clock, no torch. Ratios are time(candidate) / time(baseline).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from course.timing.moderated import FEWEST_PROCESSES, moderated

TOTAL_ERROR = 0.05
"""Chance that an interval misses the true value, over all looks together."""
FEWEST_ROUNDS = 12
"""Fewer rounds (pairs, samples) than this carry no interval. From here on the normal tail of a sum of coins is cautious."""
REPETITION_ERROR = 0.01
"""Chance that one more process of the same run would land outside the interval given for a repetition."""
LATE = 8
"""A function that settles late has been slow for at least so many samples."""


@dataclass(frozen=True)
class Interval:
    """An interval [low, high] that covers the true median with probability `confidence` (0 to 1)."""

    low: float
    high: float
    confidence: float


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


def spanning(interval: Interval, values: Sequence[float]) -> Interval:
    """The interval, widened where needed to cover the middle 80 % of the values."""
    low, high = quantile(values, 0.1), quantile(values, 0.9)
    return Interval(min(interval.low, low), max(interval.high, high), interval.confidence)


@lru_cache(maxsize=4096)
def rank(count: int, error: float) -> tuple[int, float]:
    """Largest k with P(the median lies outside [x_k, x_(count+1-k)]) <= error, and that probability.

    k = 0 when even the whole range covers too rarely; the probability is then that of the range.
    """
    if count > 2000:
        z = normal_quantile(1 - error / 2)
        return max(0, math.floor((count - z * math.sqrt(count)) / 2)), error
    limit = math.floor(error / 2 * 2.0**60) * 2**count >> 60
    k, tail, choose = 0, 0, 1
    while k <= count // 2 and tail + choose <= limit:
        tail += choose
        choose = choose * (count - k) // (k + 1)
        k += 1
    return k, float(2 * (tail if k else 1) / 2**count)


def normal_quantile(p: float) -> float:
    """The p-quantile (0 < p < 1) of the normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def median_interval(values: Sequence[float], error: float = TOTAL_ERROR) -> Interval:
    """Order-statistic interval for the median: no assumption about the shape of the noise.

    With too few values for `error` the whole range is given, with the (lower) confidence it has;
    a single value has confidence 0. Raises ValueError when there is none.
    """
    if not values:
        raise ValueError("no values: an interval needs at least one")
    ordered = sorted(values)
    k, outside = rank(len(ordered), error)
    k = max(k, 1)
    return Interval(ordered[k - 1], ordered[-k], max(0.0, 1.0 - outside))


def enough(rounds: int) -> bool:
    """Whether so many rounds (or samples) carry an interval at all: at least FEWEST_ROUNDS."""
    return rounds >= FEWEST_ROUNDS


def interval_or_none(values: Sequence[float], error: float = TOTAL_ERROR) -> Interval | None:
    """`median_interval` where the values carry it; None for too few of them (see `enough`) or a width of zero.

    Values that are all equal say how fine the clock is, not how far the next value may lie.
    """
    return shown(median_interval(values, error), len(values)) if values else None


def shown(interval: Interval, rounds: int) -> Interval | None:
    """Returns `interval`; None where it may not be shown: it has too few rounds, no width or an infinite end."""
    bounded = math.isfinite(interval.low) and math.isfinite(interval.high)
    return interval if enough(rounds) and bounded and interval.low < interval.high else None


def t_quantile(p: float, freedom: int) -> float:
    """The p-quantile (0.5 <= p < 1) of Student's t with `freedom` >= 1 degrees of freedom.

    By bisection on the finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, math.pi / 2  # of the angle atan(t / sqrt(freedom))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * p - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(|t| <= sqrt(freedom) * tan(angle))."""
    sine, cosine, odd = math.sin(angle), math.cos(angle), freedom % 2
    term = total = cosine if odd else 1.0
    for k in range(2 + odd, freedom, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if not odd:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))


def _log_moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of the logarithms of at least two values."""
    logs = [math.log(v) for v in values]
    mean = math.fsum(logs) / len(logs)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in logs) / (len(logs) - 1))


def geometric_mean(values: Sequence[float]) -> float:
    """exp of the mean logarithm. Raises ValueError when there is none."""
    if not values:
        raise ValueError("no values: a mean needs at least one")
    return math.exp(math.fsum(math.log(v) for v in values) / len(values))


def process_interval(
    ratios: Sequence[float], error: float = TOTAL_ERROR, beside: Sequence[Sequence[float]] = ()
) -> Interval | None:
    """Interval for the geometric mean of one ratio a pair of processes: Student's t on the logarithms.

    beside: the ratios of other candidates to the same baseline, which tell how far ratios scatter (`course.timing.moderated`).
    Under equal code the candidates are exchangeable, so the logarithms are symmetric about 0, whatever processes
    differ in; heavy tails make t cautious. None for fewer than FEWEST_PROCESSES ratios.
    """
    if len(ratios) < FEWEST_PROCESSES:
        return None
    groups = [each for each in (ratios, *beside) if len(each) >= FEWEST_PROCESSES]
    moments = [_log_moments(each) for each in groups]
    mean = moments[0][0]
    variance, freedom = moderated([deviation**2 for _, deviation in moments], [len(each) - 1 for each in groups])[0]
    half = t_quantile(1 - error / 2, math.floor(freedom)) * math.sqrt(variance / len(ratios))
    return Interval(math.exp(mean - half), math.exp(mean + half), 1 - error)


def repetition_interval(medians: Sequence[float]) -> Interval | None:
    """Interval in which a repetition lands in 95 of 100 cases: the median of one more process, or of a whole run.

    medians: one a process. The prediction interval of Student's t on logarithms, at REPETITION_ERROR: the processes of
    one run share the state of the machine (speed, other programs), and the next run finds another one. With this error
    95 of 100 repetitions lie inside where such states differ as much as processes do. None for fewer than
    FEWEST_PROCESSES.
    """
    if len(medians) < FEWEST_PROCESSES:
        return None
    mean, deviation = _log_moments(medians)
    half = t_quantile(1 - REPETITION_ERROR / 2, len(medians) - 1) * deviation * math.sqrt(1 + 1 / len(medians))
    return Interval(math.exp(mean - half), math.exp(mean + half), 1 - TOTAL_ERROR)


def spread(values: Sequence[float]) -> float:
    """Interquartile range as a share of the median (0.05 = 5 %)."""
    middle = median(values)
    return (quantile(values, 0.75) - quantile(values, 0.25)) / middle if middle else 0.0


def quality(values: Sequence[float]) -> str:
    """`stable` | `bimodal` | `noisy` | `few`: what kind of samples these are.

    few: too few for an interval. bimodal: two separate groups, each with at least 15 % of the samples.
    noisy: the middle half spreads over more than 10 %, or the interval is wider than +/- 3 %.
    """
    if not enough(len(values)):
        return "few"
    if _two_groups(values):
        return "bimodal"
    interval = median_interval(values)
    wide = (interval.high - interval.low) / 2 > 0.03 * median(values)
    return "noisy" if wide or spread(values) > 0.10 else "stable"


@dataclass(frozen=True)
class Drift:
    """Values that do not stay where they were: their medians at the beginning and at the end, above 0.

    count: how many values belong to the beginning. steady: they go one way throughout; else they change once, after it.
    """

    first: float
    last: float
    count: int
    steady: bool

    @property
    def climbs(self) -> bool:
        """Whether the end lies above the beginning."""
        return self.last > self.first

    def also_of(self, values: Sequence[float], least: float = 0.2) -> bool:
        """Whether the geometric means of other values, one for each of those that drift, move the same way by more than `least`.

        values: for example the ratios to a reference that ran beside, which tell a function that changes from a machine
        that does. Means, because a machine that jumps between two speeds moves a median by all of the jump.
        """
        first, last = geometric_mean(values[: self.count]), geometric_mean(values[-self.count :])
        return last > (1 + least) * first if self.climbs else first > (1 + least) * last


def drift(values: Sequence[float], least: float = 0.2) -> Drift | None:
    """Values that climb or fall throughout, or settle late: a beginning of at least LATE values, then others.

    None unless the beginning and the end are more than `least` apart and their bulks (10 to 90 %) do not touch.
    Throughout: the medians of the quarters go one way. Fewer than 24 values never drift.
    """
    count = len(values)
    if count < 24:
        return None
    quarters = [values[at * count // 4 : (at + 1) * count // 4] for at in range(4)]
    middles = [median(quarter) for quarter in quarters]
    if middles in (sorted(middles), sorted(middles, reverse=True)) and _apart(quarters[0], quarters[3], least):
        return Drift(middles[0], middles[3], len(quarters[0]), True)
    split = LATE
    while (
        2 * split <= count
    ):  # geometric steps: a beginning is found at the latest when it is a third longer than tried
        if _apart(values[:split], values[split:], least):
            return _late(values, split, least)
        split += max(1, split // 3)
    return None


def _apart(one: Sequence[float], two: Sequence[float], least: float) -> bool:
    """Whether the medians differ by more than `least` of the lower one and the bulks do not touch."""
    low, high = sorted((one, two), key=median)
    return median(high) > (1 + least) * median(low) and quantile(low, 0.9) < quantile(high, 0.1)


def _late(values: Sequence[float], split: int, least: float) -> Drift:
    """The end of a beginning that holds at least `split` values: as long as every value is nearer to it than to the end."""
    first, last = median(values[:split]), median(values[split:])
    middle = math.sqrt(first * last)
    while split < len(values) and (values[split] > middle) == (first > middle):
        split += 1
    return Drift(first, median(values[split:] or values[-1:]), split, False)


def _two_groups(values: Sequence[float], share: float = 0.15, gap: float = 0.03, clarity: float = 5.0) -> bool:
    """Whether the best split into two groups leaves them far apart, measured in their own widths.

    An even spread split in half reaches 3.5, a bell curve 2.6; the bar is `clarity` = 5.
    """
    logs = sorted(math.log(v) for v in values if v > 0)
    count = len(logs)
    if count < 8 or logs[-1] - logs[0] < gap:
        return False
    sums, squares = [0.0], [0.0]
    for value in logs:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    best, split = -1.0, 0
    for i in range(max(2, math.ceil(share * count)), count - max(2, math.ceil(share * count)) + 1):
        between = i * (count - i) * (sums[i] / i - (sums[count] - sums[i]) / (count - i)) ** 2
        if between > best:
            best, split = between, i
    if not split:
        return False
    left, right = logs[:split], logs[split:]
    inner = max(_width(left), _width(right), 1e-6)
    distance = median(right) - median(left)
    return distance > gap and distance > clarity * inner


def _width(ordered: Sequence[float]) -> float:
    """A robust standard deviation: interquartile range / 1.349."""
    return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 1.349


def steady(values: Sequence[float], block: int = 5, tolerance: float = 0.02) -> bool:
    """Whether the medians of the last two blocks of `block` samples agree within `tolerance`."""
    if len(values) < 2 * block:
        return False
    before, last = median(values[-2 * block : -block]), median(values[-block:])
    return abs(last - before) <= tolerance * before
