"""Checks of exercises in which a learner's function calls another one under a changed switch and puts everything back.

``exercises.yaml`` states it as data::

    block:
      sets: {cudnn.enabled: false}                        # what holds while `run()` runs
      keeps: [cudnn.benchmark, cudnn.deterministic]       # what may not move
      starts: [{cudnn.enabled: true, cudnn.benchmark: true}, {cudnn.enabled: false}]
    moved: {en: ..., zh: ...}                             # said after the names of those that moved
    right: {en: ..., zh: ...}

The function is called once from each start, and once more with a `run` that raises. Where it goes wrong there is one
sentence for each way (reasons: no-result, not-set, moved, left-behind, exception, forced, swallowed, runs).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from course import flags
from course.core.i18n import Text
from course.core.verdict import Verdict
from course.exercises.told import Told, judged, listed

State = Mapping[str, Any]


class Planned(Exception):
    """Raised by a check inside the learner's block, to see what is left behind."""


@dataclass(frozen=True)
class Call:
    """One call of a learner's function. before, after: the watched switches around it. inside: those at each call of
    `run`. returned: whether what `run` gave came back. raised: whether `run` raised; came_out: whether that came out.
    """

    before: State
    inside: list[State]
    after: State
    returned: bool
    raised: bool
    came_out: bool


def call_of(function: Callable[..., Any], names: Iterable[str], start: State, fails: bool) -> Call:
    """Call ``function(run)`` from ``start``, watching these switches. Every switch is as before afterwards."""
    inside: list[State] = []
    result, came_out = object(), False

    def read() -> State:
        return {name: flags.SWITCHES[name].read() for name in names}

    def run() -> object:
        inside.append(read())
        if fails:
            raise Planned
        return result

    with flags.preserved(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in start.items():
            flags.assign(name, value)
        before, got = read(), None
        try:
            got = function(run)
        except Planned:
            came_out = True
        return Call(before, inside, read(), got is result, fails, came_out)


def check_block(
    function: Callable[..., Any], *, sets: State, keeps: Iterable[str], starts: Iterable[State], why: Text
) -> None:
    """Raises Told unless the function calls what it is given under ``sets``, once, and puts back what was there."""
    calls = [call_of(function, [*sets, *keeps], start, fails) for start in starts for fails in (False, True)]
    for look in (_not_under, _not_kept, _not_back, _not_once):
        for call in calls:
            look(call, sets, why)


def block_check(entry: Mapping[str, Any]) -> Callable[[Any], Verdict] | None:
    """The check that ``block`` in an entry of ``exercises.yaml`` states; None where it has none."""
    if "block" not in entry:
        return None
    check = partial(check_block, **entry["block"], why=entry["moved"])
    return partial(judged, check, {"right": entry["right"]})


def _not_under(call: Call, sets: State, why: Text) -> None:
    if not call.raised and not call.returned:
        raise Told("no-result")
    for name, wanted in sets.items():
        if any(seen[name] != wanted for seen in call.inside):
            raise Told("not-set", name=name, now=call.inside[0][name], wanted=wanted)


def _not_kept(call: Call, sets: State, why: Text) -> None:
    names = [
        name for name in call.before if name not in sets and any(s[name] != call.before[name] for s in call.inside)
    ]
    if names:
        told = [f"`{name}` ({call.before[name]!r} → {call.inside[0][name]!r})" for name in names]
        raise Told("moved", first=next(iter(sets)), moved=listed(told), why=why)


def _not_back(call: Call, sets: State, why: Text) -> None:
    for name, was in call.before.items():
        if call.after[name] != was:
            reason = "exception" if call.raised else "forced" if sets.get(name) == was else "left-behind"
            raise Told(reason, name=name, was=was, now=call.after[name])


def _not_once(call: Call, sets: State, why: Text) -> None:
    if call.raised and not call.came_out:
        raise Told("swallowed")
    if len(call.inside) != 1:
        raise Told("runs", times=len(call.inside))
