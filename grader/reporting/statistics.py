"""The statistics of a report, valid also for small classes. Pure functions on lists of numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Z = 1.959964  # 95 %
LEAST = 10  # submissions; with fewer no correlation is shown


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (0..1) of ``n`` students; (0, 1) for nobody.

    It is valid for few students and for shares of 0 and 1. With partial credit, shares vary less than right or wrong, so
    the interval may be too wide but never too narrow.
    """
    if n == 0:
        return 0.0, 1.0
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def correlation(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Pearson's correlation; for right-or-wrong against a number it is the point-biserial one. None if one is constant."""
    if len(left) < 3 or len({*left}) == 1 or len({*right}) == 1:
        return None
    return statistics.correlation(left, right)


def fisher(r: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a correlation of ``n`` pairs, n > 3, by Fisher's transformation."""
    middle, half = math.atanh(max(-0.999999, min(0.999999, r))), Z / math.sqrt(n - 3)
    return math.tanh(middle - half), math.tanh(middle + half)


def quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    """The lower quartile, the median and the upper quartile; None for no values."""
    if not values:
        return None
    if len(values) == 1:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high
