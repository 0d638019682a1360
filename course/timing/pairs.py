"""The ratio of two functions timed side by side: its centre and its interval, from blocks in random order.

Pure functions on plain numbers; numpy is loaded at the first call. In each pair one block of either function ran, in an
order drawn by a fair coin. Suppose that a trial ratio is the true one, and divide the candidate's times by it: then
both sides of each coin are equally likely, whatever the times are. The interval holds all trial ratios with which the
coins look fair: judged by blocks next to each other, and by which function has more of the fastest blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from course.timing import stats

NEAR_S = 30e-6
"""In seconds: a pair that begins more than this after the end of the pair before is not compared with it."""
MOST_CHAINED = 1500
"""With more pairs than this the order-statistic interval is narrow enough, and quicker."""
GUARD = 0.001
"""Error of the order-statistic interval that contains the one from sign flips; at most a third of the error asked for."""
SCALE_SHARE, REACH = 0.3, 3.0
"""Differences beyond REACH times this quantile of all differences within pairs have no weight."""
CPU_SHARE = 0.8
"""Differences of CPU time within pairs count alike from this quantile on."""
MANY = 48
"""With at least so many pairs the fastest blocks count too."""
EDGES = (0.02, 0.04, 0.08, 0.15, 0.25, 0.4)
"""Shares of all blocks that may count as the fastest ones."""
SHARPEST = 0.002
"""Least width of the edge between the fastest blocks and the others, in logarithms: the resolution of the clock, and where code
and data lie in memory, change times by about this much."""
TRIALS = 80
"""Trial ratios of the first search."""
_FINE, _STEPS = 16, 3
"""An end is found by cutting the gap between two trial ratios _STEPS times into _FINE parts."""


@dataclass(frozen=True)
class Pairs:
    """Blocks of two functions, one entry a pair, in order of time; times are for one call, in seconds.

    candidate, baseline: the times. first: whether the candidate ran first. linked: whether the pair began within NEAR_S
    after the one before.
    """

    candidate: Sequence[float]
    baseline: Sequence[float]
    first: Sequence[bool]
    linked: Sequence[bool]

    def ratios(self) -> list[float]:
        """time(candidate) / time(baseline) of each pair."""
        return [c / b for c, b in zip(self.candidate, self.baseline, strict=True)]


def flipped(pairs: Pairs, error: float, by_cpu: bool = False) -> tuple[float, stats.Interval]:
    """Centre and interval of the ratio from sign flips; at least FEWEST_ROUNDS pairs.

    Uses neighbouring blocks and the fastest blocks together. Uses neighbouring blocks alone where there are fewer than MANY pairs,
    or where the two contradict each other: then the fastest blocks of a function say nothing about its others, as in one that
    finds some results in a cache. Where other programs slow one function a little more than the other, the ratio is nearer to
    that of undisturbed blocks. by_cpu: the times are CPU time; then only the two blocks of a pair are compared. The interval is
    0 to infinity where the pairs are too few for the error.
    """
    guard = min(GUARD, error / 3)
    score = _differences if by_cpu else _chain
    near = _Flips(pairs, [score])
    if len(pairs.first) >= MANY:
        both = _Flips(pairs, [score, _fastest])
        found = both.interval(error, guard)
        if max(abs(flips.score(math.log(found[0]))) for flips in (both, near)) <= stats.normal_quantile(1 - guard / 2):
            return found
    return near.interval(error, guard)


class _Flips:
    """The test by sign flips of a trial ratio, with these scores, and the interval of all ratios that pass it."""

    def __init__(self, pairs: Pairs, scores: Sequence[Callable[..., tuple[Any, Any]]]) -> None:
        import numpy as np

        self.scores = scores
        self.candidate, self.baseline = np.log(pairs.candidate), np.log(pairs.baseline)
        self.sign, self.linked = np.where(pairs.first, 1.0, -1.0), np.asarray(pairs.linked, bool)[1:]

    def __call__(self, trials: Any) -> Any:
        """The standardised sum of signed scores under each of the trial log ratios.

        Several scores of a pair are added, each with the weight slope / variance, as independent measurements are.
        """
        import numpy as np

        adjusted = self.candidate - trials[:, None]
        before = np.where(self.sign > 0, adjusted, self.baseline)
        after = np.where(self.sign > 0, self.baseline, adjusted)
        total = np.zeros_like(before)
        for score in self.scores:
            found, slope = score(before, after, self.linked)
            total += (slope / np.maximum((found * found).sum(axis=1), 1e-12))[:, None] * found
        size = np.sqrt((total * total).sum(axis=1))
        return np.divide((total * self.sign).sum(axis=1), size, out=np.zeros_like(size), where=size > 0)

    def score(self, trial: float) -> float:
        """The standardised sum under one trial log ratio."""
        import numpy as np

        return float(self(np.array([trial]))[0])

    def interval(self, error: float, guard: float) -> tuple[float, stats.Interval]:
        """Centre and interval, inside that of order statistics with the error `guard`."""
        import numpy as np

        order = np.sort(self.candidate - self.baseline)
        bar = stats.normal_quantile(1 - (error - guard) / 2)
        k, _ = stats.rank(len(order), guard)
        inside = order[max(k - 1, 0) : len(order) - max(k - 1, 0)]
        trials = np.append(inside[:: max(1, len(inside) // TRIALS)], inside[-1])
        found = self(trials)
        centre = _crossing(trials, found, float(np.median(order)), self)
        low, high = _ends(trials, np.abs(found) <= bar, centre, lambda at: np.abs(self(at)) <= bar)
        if not k and (low == order[0] or high == order[-1]):  # too few pairs for an end
            low, high = -math.inf, math.inf
        return math.exp(centre), stats.Interval(math.exp(low), math.exp(high), 1 - error)


def _chain(before: Any, after: Any, linked: Any) -> tuple[Any, Any]:
    """Scores of pairs along the chain of blocks, and how fast their signed sum falls as the trial log ratio grows.

    The score of a pair is its own difference of logarithms against those to the blocks before and after it, each cut off
    by Tukey's biweight, so that a block during which the machine changed its speed counts little. Under the true ratio
    each score has a random sign. before, after: log times of the two blocks, a row for each trial.
    """
    import numpy as np

    within, across = after - before, before[:, 1:] - after[:, :-1]
    scale = REACH * _quantile(within, SCALE_SHARE)
    (own, own_slope), (near, near_slope) = (_biweight(gap / scale) for gap in (within, across))
    score, near = -own, np.where(linked, near, 0.0) / 2
    score[:, 1:] += near
    score[:, :-1] += near
    slope = own_slope.sum(axis=1) + np.where(linked, near_slope, 0.0).sum(axis=1) / 2
    return score, np.maximum(slope, 0.0) / scale[:, 0]


def _differences(before: Any, after: Any, linked: Any) -> tuple[Any, Any]:
    """Scores of pairs by their own differences of logarithms, and how fast the signed sum falls: for CPU time, which is used where
    other programs run between the blocks, so that a pair tells little about the next one.

    A difference counts by its size; from the quantile CPU_SHARE on all count alike (Huber's score).
    """
    import numpy as np

    within = after - before
    scale = _quantile(within, CPU_SHARE)
    return -np.clip(within / scale, -1.0, 1.0), (np.abs(within) < scale).sum(axis=1) / scale[:, 0]


def _fastest(before: Any, after: Any, linked: Any) -> tuple[Any, Any]:
    """Scores of pairs by how their blocks compare with the fastest ones, and how fast the signed sum falls.

    Other programs only ever slow a block down. So where a core is sometimes undisturbed, its fastest blocks lie close together, and
    under the true ratio both functions have about as many of them. A block counts 1 where it is as fast as they are, 0 where it
    is slower, and a part of 1 within the edge between. Of the edges tried, the one narrowest for the number of blocks on its fast
    side is taken.
    """
    import numpy as np

    count = 2 * before.shape[1]
    ranks = [(int(share * count / 2), min(count - 1, int(1.5 * share * count))) for share in EDGES]
    ordered = np.partition(np.concatenate([before, after], axis=1), sorted({r for two in ranks for r in two}), axis=1)
    starts, ends = (np.stack([ordered[:, two[at]] for two in ranks], axis=1) for at in (0, 1))
    widths = np.maximum(ends - starts, SHARPEST)
    best = np.argmax(np.sqrt(EDGES) / widths, axis=1)[:, None]
    end, width = np.take_along_axis(ends, best, axis=1), np.take_along_axis(widths, best, axis=1)
    one, two = (np.clip((end - times) / width, 0.0, 1.0) for times in (before, after))
    between = sum(((times < end) & (times > end - width)).sum(axis=1) for times in (before, after))
    return two - one, between / 2 / width[:, 0]


def _quantile(differences: Any, share: float) -> Any:
    """The quantile of the sizes of the differences in each row, as a column; never 0."""
    import numpy as np

    at = min(differences.shape[1] - 1, int(share * differences.shape[1]))
    return np.maximum(np.partition(np.abs(differences), at, axis=1)[:, at, None], 1e-9)


def _biweight(u: Any) -> tuple[Any, Any]:
    """Tukey's biweight, u (1 - u^2)^2 where |u| < 1, else 0, and its derivative."""
    import numpy as np

    square = u * u
    rest = np.maximum(1 - square, 0.0)
    return u * rest * rest, rest * (1 - 5 * square)


def _crossing(trials: Any, found: Any, middle: float, scores: Callable[[Any], Any]) -> float:
    """The trial nearest to `middle` at which the scores change from positive to negative; `middle` where none does."""
    import numpy as np

    at = np.flatnonzero((found[:-1] >= 0) & (found[1:] <= 0))
    if not len(at):
        return middle
    at = at[np.argmin(np.abs(trials[at] - middle))]
    low, high = trials[at], trials[at + 1]
    for _ in range(_STEPS):
        fine = np.linspace(low, high, _FINE + 1)
        last = _last(scores(fine) >= 0)
        low, high = fine[last], fine[min(last + 1, _FINE)]
    return float((low + high) / 2)


def _last(holds: Any) -> int:
    """Index of the last True; 0 where there is none."""
    return max((at for at, one in enumerate(holds) if one), default=0)


def _ends(trials: Any, kept: Any, centre: float, keeps: Callable[[Any], Any]) -> tuple[float, float]:
    """The outermost trials that are kept, or `centre`, with the gap to the next one beyond searched more finely."""
    import numpy as np

    inner = [*trials[kept], centre]
    ends = []
    for inmost, beyond in (
        (min(inner), trials[trials < min(inner)][-1:]),
        (max(inner), trials[trials > max(inner)][:1]),
    ):
        for outer in beyond:  # at most one
            for _ in range(_STEPS):
                fine = np.linspace(inmost, outer, _FINE + 1)
                last = _last(keeps(fine))
                inmost, outer = fine[last], fine[min(last + 1, _FINE)]
            inmost = outer
        ends.append(float(inmost))
    return ends[0], ends[1]


def ordered(ratios: Sequence[float], error: float) -> tuple[float, stats.Interval]:
    """The median and its order-statistic interval."""
    return stats.median(ratios), stats.median_interval(ratios, error)


def estimate(pairs: Pairs, error: float, by_cpu: bool = False) -> tuple[float, stats.Interval]:
    """Centre and interval of the ratio. by_cpu: the times are CPU time.

    Fewer than FEWEST_ROUNDS pairs: the median and their range, which is no interval (see `stats.enough`).
    """
    if stats.enough(len(pairs.first)) and len(pairs.first) <= MOST_CHAINED:
        return flipped(pairs, error, by_cpu)
    return ordered(pairs.ratios(), error)
