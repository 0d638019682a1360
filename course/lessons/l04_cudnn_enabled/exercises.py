"""The code task of lesson 04 that measures: make the rule lose."""

from __future__ import annotations

from typing import Any

from course.exercises.checking import comparison, enough_rounds, watched
from course.exercises.told import Told


def check_lose(race: Any) -> dict[str, float]:
    """Accept on evidence: the interval of time(off) / time(on) stays below 1.05, from enough rounds."""
    raced = comparison(race)
    if raced is None or raced.baseline != "on" or list(raced.pairs) != ["off"]:
        raise Told("no-race")
    seen = {
        name: {step.switches["mkldnn.enabled"] for step in watched(call, "mkldnn.enabled")}
        for name, call in raced.functions.items()
    }
    if seen != {"on": {True}, "off": {False}}:
        raise Told("switch")
    enough_rounds(raced)
    interval = {"low": raced.low, "high": raced.high}
    if raced.high > 1.05:
        raise Told("slower" if raced.low > 1.05 else "undecided", **interval)
    if _misses_onednn(raced):
        raise Told("again")
    return interval


def _misses_onednn(race: Any) -> bool:
    """Whether a second race, ours, says that off is slower; a layer in which oneDNN never runs cannot miss it."""
    from torch.backends import mkldnn

    from course import flags
    from course.lessons.l04_cudnn_enabled.probes import switch_race
    from course.trace.onednn_log import log_of

    call = race.functions["on"]
    with flags.preserved():
        if not mkldnn.is_available() or not log_of(call).lines:
            return False
        again = switch_race(lambda: race.functions["on" if mkldnn.enabled else "off"](), max_time=1.0)
        return again.low is not None and again.low > 1.05


CHECKS = {"04-lose": check_lose}
