"""What every experiment that races two functions puts into a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.timing import Comparison, Paired


def race_row(found: Comparison | Paired) -> dict[str, Any]:
    """The ratio, its interval and the verdict of a comparison of two, or of one pair; low and high are None without an interval."""
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "verdict": found.verdict}
