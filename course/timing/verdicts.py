"""The verdict of a comparison, faster, slower, same or undecided: when to look at the data, what to conclude, when to stop.

Pure functions on plain numbers: no clock, no torch. Ratios are time(candidate) / time(baseline).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from course.timing.stats import FEWEST_ROUNDS, Interval

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
