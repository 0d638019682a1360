"""Rows of an experiment: what a race of two functions puts into one, where its interval lies, and rows in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.timing import Comparison, Paired

FEW = 6
"""Fewer repeats decide no bet."""
SAME = 0.02
"""Up to this share of the time to either side, two times count as the same."""


def race_row(found: Comparison | Paired) -> dict[str, Any]:
    """The ratio, its interval and the verdict of a comparison of two, or of one pair; low and high are None without an interval."""
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "verdict": found.verdict}


def kind_of(row: Mapping[str, Any], same: float = SAME) -> str:
    """Where the interval of a row's ratio lies: `faster` below 1 - same, `slower` above 1 + same, `same` between the two; else
    `undecided`, also where the row has no interval.
    """
    low, high = row["low"], row["high"]
    if low is None or high is None:
        return "undecided"
    if high < 1 - same:
        return "faster"
    if low > 1 + same:
        return "slower"
    return "same" if 1 - same <= low and high <= 1 + same else "undecided"


def groups(rows: Sequence[dict], key: str) -> dict[Any, list[dict]]:
    """The rows by their value of ``key``, in order of appearance."""
    found: dict[Any, list[dict]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found
