"""The verdict of a comparison, faster, slower, same or undecided: when to look at the data, what to conclude, when to stop.

Pure functions on plain numbers: no clock, no torch. Ratios are time(candidate) / time(baseline).
"""

from __future__ import annotations

from course.timing.stats import FEWEST_ROUNDS, TOTAL_ERROR, Interval

INTERIM_ERROR = 0.003
"""Chance of a false alarm each look before the last may have (two-sided)."""
FINAL_ERROR = 0.035
"""The same for the look when the time is out. All looks together stay below 5 % (exact sum in the tests)."""
FIRST_LOOK = FEWEST_ROUNDS
"""Rounds before the first look; every later look comes after twice as many rounds as the one before."""
PLACE = 0.0015
"""Equal code differs by some 0.3 % in one process, from where it and its data lie in memory. So an interval from one process
is widened by this share on either side, and faster and slower must clear 1 by as much again."""
BIG_EFFECT_WIDTH = 0.05
"""A ratio clear of the gate still needs an interval of +/- 5 % of itself before the measuring stops."""
PROCESS_EFFECT_WIDTH = 0.15
"""The same over processes, where a narrow interval costs a second for each process."""
FIRST_PROCESS_LOOK = 4
"""Processes of each candidate before the first look; every later look comes after twice as many."""


def widened(interval: Interval, place: float = PLACE) -> Interval:
    """Returns an interval from one process, widened by the difference that equal code shows: see PLACE."""
    return Interval(interval.low * (1 - place), interval.high * (1 + place), interval.confidence)


def is_look(count: int, first: int = FIRST_LOOK) -> bool:
    """Whether to look at the data after this many rounds: 12, 24, 48, 96, ... (processes: 4, 8, 16, ...)."""
    quotient, rest = divmod(count, first)
    return rest == 0 and quotient > 0 and quotient & (quotient - 1) == 0


def error_at(count: int, final: bool, comparisons: int = 1, first: int = FIRST_LOOK) -> float:
    """The false-alarm chance this look may have, shared among `comparisons` candidates.

    A run that ends before the first look has only one look and may use all 5 % there.
    """
    last = TOTAL_ERROR if count <= first else FINAL_ERROR
    return (last if final else INTERIM_ERROR) / comparisons


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


def settled(
    interval: Interval | None, ratio: float, ci: float, gate: float, wide: float = BIG_EFFECT_WIDTH, place: float = 0.0
) -> bool:
    """Whether measuring more is pointless: clear of the gate on one side and within +/- wide, or within +/- ci.

    Within +/- ci a difference that is larger than ci must also have been told from 1: a difference of 1 % with an interval
    of +/- 0.5 % is measured on, because a little more data often tells it.
    """
    if interval is None:
        return False
    half = (interval.high - interval.low) / 2
    if interval.high < 1 - gate or interval.low > 1 + gate:
        return half <= max(wide, ci) * ratio
    told = abs(ratio - 1) <= ci or decide(widened(interval, place), ratio, ci, gate, place) in ("faster", "slower")
    return told and half <= ci * ratio
