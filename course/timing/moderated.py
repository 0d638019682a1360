"""Variances of several comparisons, each drawn towards that of all: few processes tell little of how far one ratio scatters, and
ratios that were measured side by side scatter about as far.

G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray experiments", Statistical
Applications in Genetics and Molecular Biology 3(1), 2004: the moderated t. How far to draw follows from the variances themselves: what
scatters far more than the others keeps its own. Pure functions on plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

TINY = 1e-12
"""Smallest variance: values that are all equal say how fine a clock is."""
LEAST, MOST = 1e-3, 1e3
"""Between these, half of the degrees of freedom of what all of them say is searched; beyond the second all have one variance."""
SHARED = 0.25
"""Correlation of two variances of ratios to one baseline: half of what the ratios scatter by is that of the baseline, and variances
correlate by the square. So all of them together know less than the sum."""
REACH, NEAR, LIKE_BELL = 3.0, 0.75, 0.8693
"""Nothing lies further from the middle of its group than REACH standard deviations: LIKE_BELL times the size that the share NEAR of all
deviations does not exceed, as in a bell curve. Two kinds of processes, half and half, are no values far off."""
FEWEST_PROCESSES = 3
"""Fewer processes of each candidate than this allow no verdict: two may differ by chance alone."""
ENOUGH = 12
"""All groups with fewer values than this do not show how far values lie."""


def reined(groups: Sequence[Sequence[float]]) -> list[list[float]]:
    """The values, all above 0, of several groups, on a scale of ratios; those beyond REACH stand at its end. One group alone
    does not show how far values lie."""
    logs = [[math.log(value) for value in group] for group in groups]
    several = [group for group in logs if len(group) >= FEWEST_PROCESSES]
    sizes = sorted(
        abs(x - median(group)) * math.sqrt(len(group) / (len(group) - 2)) for group in several for x in group
    )
    told = len(several) > 1 and len(sizes) >= ENOUGH
    reach = told and REACH * LIKE_BELL * sizes[math.ceil(NEAR * len(sizes)) - 1] or math.inf  # 0: most are equal
    found = []
    for group, own in zip(groups, logs, strict=True):
        if len(own) < FEWEST_PROCESSES:
            found.append([*group])
            continue
        middle = median(own)
        found.append([math.exp(min(max(x, middle - reach), middle + reach)) for x in own])
    return found


def moderated(variances: Sequence[float], freedoms: Sequence[int]) -> list[tuple[float, float]]:
    """For each variance that was estimated with so many degrees of freedom (at least 1): the moderated one, and its own."""
    if len(variances) < 2:
        return [*zip(variances, freedoms, strict=True)]
    known = [max(each, TINY) for each in variances]
    halves = [each / 2 for each in freedoms]
    logs = [math.log(s) - _digamma(d) + math.log(d) for s, d in zip(known, halves, strict=True)]
    middle = math.fsum(logs) / len(logs)
    spread = math.fsum((each - middle) ** 2 for each in logs) / (len(logs) - 1)
    beyond = spread - math.fsum(map(_trigamma, halves)) / len(halves)  # what chance does not explain
    half = _inverse_trigamma(beyond) if beyond > 0 else MOST
    usual = math.exp(middle + _digamma(half) - math.log(half))
    most = math.fsum(freedoms) / (1 + SHARED * (len(freedoms) - 1))
    return [
        ((2 * half * usual + d * s) / (2 * half + d), min(2 * half + d, max(d, most)))
        for s, d in zip(known, freedoms, strict=True)
    ]


def _digamma(x: float) -> float:
    """The derivative of log(gamma) for x > 0: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.3.5 and 6.3.18."""
    below = 0.0
    while x < 6:
        below, x = below - 1 / x, x + 1
    return below + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def _trigamma(x: float) -> float:
    """The derivative of that: 6.4.6 and 6.4.12 there."""
    below = 0.0
    while x < 6:
        below, x = below + 1 / x**2, x + 1
    return below + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def _inverse_trigamma(value: float) -> float:
    """Where it has this value, within LEAST and MOST, by bisection on a scale of ratios."""
    low, high = LEAST, MOST
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return low
