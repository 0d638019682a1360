"""What checks that measure share: the switches that an operation ran under, and a comparison that lost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course.core.i18n import both
from course.exercises.told import Told

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

    from course import flags
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
    from course.timing import enough, too_few

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
