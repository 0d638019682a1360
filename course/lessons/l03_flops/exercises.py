"""The code task of lesson 03 that measures: let fewer MACs lose."""

from __future__ import annotations

import math
from typing import Any

from course.exercises.checking import comparison
from course.exercises.told import Told, placeholder_in

LEAST_SAVING = 0.95


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_lose(evidence: Any) -> dict[str, float]:
    """Accept fewer MACs that an interval shows to be slower, or the same within the gate."""
    from course.flops import count

    wanted = {"more_macs", "fewer_macs", "comparison"}
    if not isinstance(evidence, dict) or not wanted <= evidence.keys():
        raise Told("no-dictionary")
    more, fewer, fair = (evidence[name] for name in ("more_macs", "fewer_macs", "comparison"))
    placeholder_in(more, fewer, fair)
    low, high = getattr(fair, "low", None), getattr(fair, "high", None)
    if not all(map(_is_number, (more, fewer, low, high))):
        raise Told("no-comparison")
    if not 0 < fewer < LEAST_SAVING * more:
        raise Told("no-saving", more=more, fewer=fewer)
    raced = comparison(fair)
    if raced is None:
        raise Told("no-comparison, of two")
    (candidate,) = raced.pairs
    for name, told, said in ((raced.baseline, more, "more_macs"), (candidate, fewer, "fewer_macs")):
        again = count(raced.functions[name]).macs
        if not math.isclose(again, told, rel_tol=0.01):
            raise Told("counts", said=said, told=told, name=name, again=again)
    found = {"share": fewer / more, "low": low, "high": high}
    if low > 1:
        return found
    if high < 1:
        raise Told("faster", **found)
    raise Told("right, no gain" if raced.verdict == "same" else "undecided", **found)


CHECKS = {"03-lose": check_lose}
