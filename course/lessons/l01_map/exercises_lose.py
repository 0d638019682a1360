"""The code task of lesson 01 that measures: make the advice lose that asking for deterministic costs nothing on a CPU."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from course.exercises.checking import comparison, enough_rounds, same_work, watched
from course.exercises.told import Told, listed

PRICES = 4  # a gap of fewer prices of the empty block may be that block alone


def _price_of_asking_ms() -> float:
    """Milliseconds that the polite request takes around nothing, here and now."""
    import torch

    from course.timing import measure

    def nothing() -> None:
        with torch.backends.mkldnn.flags(deterministic=True):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(nothing, max_time=0.05).median_ms


def check_make_it_lose(evidence: Any) -> dict[str, float]:
    """A Comparison whose interval excludes 1, or (without oneDNN) the two states as a dict."""
    from torch.backends import mkldnn

    if isinstance(evidence, Mapping) and not mkldnn.is_available():
        _check_states(evidence)
    pairs = getattr(evidence, "pairs", None)
    if not pairs:
        raise Told("no-comparison")
    if len(pairs) != 1:
        raise Told("two-functions")
    _is_the_request(evidence)
    enough_rounds(evidence)
    interval = {"ratio": evidence.ratio, "low": evidence.low, "high": evidence.high}
    if evidence.low <= 1 <= evidence.high:
        raise Told("undecided", **interval)
    price_ms, gap_ms = _price_of_asking_ms(), abs(evidence.ratio - 1) * evidence.medians_ms[evidence.baseline]
    if gap_ms < PRICES * price_ms:
        raise Told("price", gap_us=gap_ms * 1e3, price_us=price_ms * 1e3)
    return interval


def _is_the_request(evidence: Any) -> None:
    """Raises Told unless the two functions do the same work, one of them inside the request."""
    found = comparison(evidence)
    if found is None:
        raise Told("no-comparison, of two")
    steps = [watched(call, "mkldnn.deterministic") for call in found.functions.values()]
    asked = [sorted({step.switches["mkldnn.deterministic"] for step in one}) for one in steps]
    if not all(steps):
        raise Told("no-work")
    if sorted(asked) != [[False], [True]]:
        raise Told("switch")
    if not same_work(*steps):
        raise Told("other-work")


def _check_states(states: Mapping[str, Any]) -> None:
    """{"named": [...], "before": {...}, "inside": {...}}: a switch moved that was not named."""
    try:
        before, inside = states["before"], states["inside"]
        moved = [name for name in before if before[name] != inside[name] and name not in states["named"]]
    except (KeyError, TypeError, AttributeError):
        raise Told("no-states") from None
    raise Told("right, states" if moved else "nothing-moved", moved=listed(moved))


CHECKS = {"01-make-it-lose": check_make_it_lose}
