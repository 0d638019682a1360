"""What checks in Python share: the switches that an operation ran under, a comparison that lost, a block that puts everything back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from course import flags
from course.core.i18n import Text, both
from course.core.verdict import Verdict
from course.exercises.told import Told, judged, listed

if TYPE_CHECKING:
    from course.timing import Comparison


@dataclass(frozen=True)
class Step:
    """One operation of torch in a watched call: its name, the switches while it ran, what came out."""

    name: str
    switches: dict[str, Any]
    result: Any


def watched(call: Callable[[], Any], *switches: str) -> list[Step]:
    """Run ``call`` once and see its operations, each with the values of these switches (names as in course.flags).

    Every switch is as before afterwards; warnings are kept back.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    from course.flags.catalogue import SWITCHES

    steps: list[Step] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result, name = function(*args, **(kwargs or {})), getattr(function, "__name__", "")
            made = result if isinstance(result, (tuple, list)) else (result,)
            if name != "__get__" and any(
                isinstance(one, torch.Tensor) for one in made
            ):  # what turns gradients off makes none
                steps.append(Step(name, {one: SWITCHES[one].read() for one in switches}, result))
            return result

    with flags.preserved(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Watch():
            call()
    return steps


def comparison(found: Any) -> Comparison | None:
    """What `compare` gave back for two functions, which it still knows; None for anything else."""
    from course.timing import Comparison

    good = isinstance(found, Comparison) and len(found.pairs) == 1 and len(found.functions) == 2
    return found if good else None


def race_in(losing: Any, maker: str, baseline: str, other: str) -> Comparison:
    """The comparison of these two sides in ``losing["race"]``, made by ``maker`` of the notebook; raises Told for anything else."""
    try:
        raced = comparison(losing["race"])
    except (KeyError, TypeError, ValueError):  # a comparison asked for a name it lacks is a ValueError
        raise Told("no-dictionary", maker=maker) from None
    if raced is not None and raced.baseline == baseline and list(raced.pairs) == [other]:
        return raced
    raise Told("no-race", maker=maker)


def enough_rounds(raced: Comparison) -> None:
    """Raises Told where a comparison of two has too few rounds for an interval."""
    from course.timing.results import too_few
    from course.timing.stats import enough

    if raced.low is None or not enough(raced.rounds):
        few = too_few(raced.rounds)
        raise Told("rounds", few=both(few["en"][0].upper() + few["en"][1:], few["zh"]))


def lost(raced: Comparison, line: float = 1) -> dict[str, float]:
    """The interval of a comparison that shows a loss: all of it lies above ``line``.

    Raises Told: `won` where the interval lies below, `undecided` where it holds the line, drifts, or comes from too few rounds.
    """
    enough_rounds(raced)
    interval = {"low": raced.low, "high": raced.high}
    told = raced.verdict != "undecided"  # a drift makes an interval beside the line undecided, too
    if told and raced.low > line:
        return interval
    raise Told("won" if told and raced.high < line else "undecided", rounds=raced.rounds, **interval)


# --- a block that puts everything back ---
#
# The learner's function calls another one under a changed switch. ``exercises.yaml`` states it as data:
#
#     block:
#       sets: {cudnn.enabled: false}                        # what holds while `run()` runs
#       keeps: [cudnn.benchmark, cudnn.deterministic]       # what may not move
#       starts: [{cudnn.enabled: true, cudnn.benchmark: true}, {cudnn.enabled: false}]
#     moved: {en: ..., zh: ...}                             # said after the names of those that moved
#     right: {en: ..., zh: ...}
#
# The function is called once from each start, and once more with a `run` that raises. Where it goes wrong there is one
# sentence for each way (reasons: no-result, not-set, moved, left-behind, exception, forced, swallowed, runs).

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
