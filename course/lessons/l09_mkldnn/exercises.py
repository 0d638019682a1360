"""The code task of lesson 09 that measures: make oneDNN lose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.exercises.checking import comparison, lost
from course.exercises.told import Told


def check_losing(losing: Any) -> dict[str, float]:
    """Accept on evidence: time(on) / time(off) above 1, enough rounds, and oneDNN really ran in the call."""
    from torch.backends import mkldnn

    if not mkldnn.is_available():
        raise Told("no-onednn")
    try:
        call, race = losing["call"], losing["race"]
    except (KeyError, TypeError, ValueError):  # a comparison asked for a name it lacks is a ValueError
        raise Told("no-dictionary") from None
    if call is Ellipsis or not callable(call):
        raise Told("placeholder")
    raced = comparison(race)
    if raced is None:
        raise Told("no-race")
    if raced.baseline != "off" or list(raced.pairs) != ["on"]:
        raise Told("baseline")
    interval = lost(raced)
    if not _used(raced.functions["on"]):
        raise Told("no-line")
    return interval


def _used(call: Callable[[], Any]) -> Sequence[Any]:
    import torch

    from course import flags
    from course.trace.onednn_log import log_of

    with flags.using({"mkldnn.enabled": True}), torch.inference_mode():
        return log_of(call).lines


CHECKS = {"09-make-it-lose": check_losing}
