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
from course.core.i18n import Text, both
from course.core.verdict import Verdict, correct, incorrect, partly

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


def judge_block(
    function: Callable[..., Any], sets: State, keeps: Iterable[str], starts: Iterable[State], moved: Text, right: Text
) -> Verdict:
    """The verdict on a function that should call what it is given under ``sets``, once, and put back what was there."""
    calls = [call_of(function, [*sets, *keeps], start, fails) for start in starts for fails in (False, True)]
    for find in (_not_under, _not_kept, _not_back, _not_once):
        for call in calls:
            if verdict := find(call, sets, moved):
                return verdict
    return correct(right)


def block_check(entry: Mapping[str, Any]) -> Callable[[Any], Verdict] | None:
    """The check that ``block`` in an entry of ``exercises.yaml`` states; None where it has none."""
    if "block" not in entry:
        return None
    return partial(judge_block, **entry["block"], moved=entry["moved"], right=entry["right"])


def _not_under(call: Call, sets: State, moved: Text) -> Verdict | None:
    if not call.raised and not call.returned:
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    for name, wanted in sets.items():
        if any(seen[name] != wanted for seen in call.inside):
            return incorrect(
                both(
                    f"While `run()` runs, `{name}` is {call.inside[0][name]!r}, not {wanted!r}.",
                    f"`run()` 执行时，`{name}` 是 {call.inside[0][name]!r}，而不是 {wanted!r}。",
                ),
                reason="not-set",
            )
    return None


def _not_kept(call: Call, sets: State, moved: Text) -> Verdict | None:
    names = [
        name for name in call.before if name not in sets and any(s[name] != call.before[name] for s in call.inside)
    ]
    if not names:
        return None
    told = [f"`{name}` ({call.before[name]!r} → {call.inside[0][name]!r})" for name in names]
    first = next(iter(sets))
    return partly(
        0.5,
        1.0,
        both(
            f"`{first}` is right while `run()` runs. But more moved: {', '.join(told)}. {moved['en']}",
            f"`run()` 执行时 `{first}` 是对的，可别的也跟着动了：{'、'.join(told)}。{moved['zh']}",
        ),
        reason="moved",
    )


def _not_back(call: Call, sets: State, moved: Text) -> Verdict | None:
    name = next((name for name in call.before if call.after[name] != call.before[name]), None)
    if name is None:
        return None
    was, now = call.before[name], call.after[name]
    if call.raised:
        reason, text = (
            "exception",
            both(
                f"All is well until `run()` raises an exception: then `{name}` stays {now!r}. `finally` always runs.",
                f"一切顺利时没问题。可 `run()` 一抛异常，`{name}` 就一直是 {now!r}。`finally` 总会执行。",
            ),
        )
    elif sets.get(name) == was:
        reason, text = (
            "forced",
            both(
                f"One case is left: `{name}` was {was!r} before the call already, and is {now!r} afterwards. "
                "Put back what was there, not the default.",
                f"还剩一种情况：调用之前 `{name}` 就已经是 {was!r}，之后却成了 {now!r}。要恢复原值，而不是默认值。",
            ),
        )
    else:
        reason, text = (
            "left-behind",
            both(
                f"While `run()` runs all is well, but afterwards `{name}` is {now!r}, and it was {was!r}: put it back, in `finally`.",
                f"`run()` 执行时都对，但之后 `{name}` 是 {now!r}，而原来是 {was!r}：在 `finally` 里恢复它。",
            ),
        )
    return partly(0.5, 1.0, text, reason=reason)


def _not_once(call: Call, sets: State, moved: Text) -> Verdict | None:
    if call.raised and not call.came_out:
        return partly(
            0.5,
            1.0,
            both(
                "An exception in `run()` did not reach the caller: to the caller it looks like a success. "
                "`finally` lets it pass; an `except` without `raise` swallows it.",
                "`run()` 里的异常没有传出来，调用的人会以为成功了。`finally` 会放它过去；不写 `raise` 的 `except` 会把它吞掉。",
            ),
            reason="swallowed",
        )
    times = len(call.inside)
    if times == 1:
        return None
    often = both(f"`run` was called {times} times: once is asked for.", f"`run` 被调用了 {times} 次：只要一次。")
    return partly(0.5, 1.0, often, reason="runs")
