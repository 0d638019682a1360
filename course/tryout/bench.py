"""What each setting does to one step, in this process: the digits, the memory, the first call, the time."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch

from course.attention import peak_mib
from course.isolation.restoring import unchanged
from course.isolation.saving import LightMode
from course.timing import clock_for, compare
from course.tryout.look import look_at, tensors_of
from course.tryout.settings import Setting
from course.tryout.step import Side, Step

AS_IS = "as it is"
CI = 0.01
"""Half the width of the interval that the comparisons aim at."""
BLOCK_S, SHORT_S = 0.01, 0.05
"""Shortest block of a comparison; and up to which length of a step cold caches would show in it."""
ROUGH_S = 0.2
"""Seconds for the calls that show about how long one takes; at least one call."""
LONG_S = 5.0
"""Calls that take longer are not repeated to see their memory and their usual time."""
DOUBLE, NUDGED = Setting("float64", "float64", [], way="float64"), Setting("nudged", "nudged", [], way="nudged")

Row = dict[str, Any]
Values = list[torch.Tensor]


class _NoDropout(LightMode):
    """Dropout keeps every value: the random keeps of a layer become their mean, by which it divides."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = function.overloadpacket.__name__, kwargs or {}
        if name == "native_dropout":
            return args[0].clone(), torch.ones_like(args[0], dtype=torch.bool)
        if name == "bernoulli_":
            return args[0].fill_(args[1] if len(args) > 1 else kwargs.get("p", 0.5))
        return function(*args, **kwargs)


class Bench:
    """One step, looked at once. clock, seed: for tests; else the clock of the step's device, and any order."""

    def __init__(self, step: Step, clock: Any = None, seed: int | None = None) -> None:
        self.step, self.clock, self.seed = step, clock, seed
        with unchanged(step):
            self.look = look_at(step)
        self.as_is, self.base = self._once()
        again, other = self._once()[0], self._once(seed=1)[0]
        self.noise = differs(self.as_is, again)
        self.random = self.noise == 0 and differs(self.as_is, other) > 0
        self.exact: Values | None = None
        with contextlib.suppress(Exception):  # a step may hold numbers of a fixed type; MPS has no float64
            exact = self._once([DOUBLE])[0]
            self.exact = exact if math.isfinite(differs(self.as_is, exact)) else None
        nudged = self.as_is
        with contextlib.suppress(Exception):
            nudged = self._once([NUDGED])[0]
        self.vague = without_digits(self.exact or self.as_is, [self.as_is, nudged])
        self.unsteady = differs(self.as_is, nudged, self.vague)  # no error below it is one

    def _once(self, settings: Sequence[Setting] = (), seed: int = 0) -> tuple[Values, Row]:
        """What one call gives, from the same state and random numbers each time, without dropout; and what calls take.

        The values: the tensors of its result and the gradients it leaves; without any, the tensors it changes.
        """
        device = self.look.device
        with unchanged(self.step, at_once=True) as journal:
            side = Side(self.step, settings, journal.tensors.values(), device)
            torch.manual_seed(seed)
            with side.on():
                began = time.perf_counter()
                with _NoDropout() if self.look.ran(["bernoulli_", "native_dropout"]) else contextlib.nullcontext():
                    result = tensors_of(side.run())
                first_s = time.perf_counter() - began
                trains = self.look.backward  # else gradients are left from before
                left = [one.grad for one in side.leaves if one.grad is not None] if trains else []
                found = [
                    one for one in result + left or side.leaves if not one.is_complex() and one.layout is torch.strided
                ]
                values = [one.detach().cpu().double() for one in found]  # a copy, before the next call
                slow = first_s > LONG_S  # then one call has to do
                memory = None if slow or seed or settings in ([DOUBLE], [NUDGED]) else _peak_mib(side.run, device)
                rough_s = first_s if slow else _shortest_s(side.run)
        integers = bool(found) and not any(one.is_floating_point() for one in found)
        price_ms = 1e3 * max(0.0, first_s - rough_s)
        return values, {"memory_mib": memory, "rough_s": rough_s, "price_ms": price_ms, "integers": integers}

    def digits(self, settings: Sequence[Setting]) -> Row:
        """What changes in the result, and the memory.

        bits: whether all bits are the same; None where random numbers or a result without tensors forbid to tell. error: the
        largest difference from float64 (without a float64 run: from the step as it is), as a share of the largest value.
        integers: whether the result holds no other numbers. rough_s: about what a call takes, to plan with. price_ms: what the first
        call takes more.
        """
        values, row = self._once(settings)
        told = bool(values) and not self.random
        near, equal = self.exact or self.as_is, told and differs(self.as_is, values) == 0
        as_is = max(self.unsteady, differs(near, self.as_is, self.vague) if self.exact else self.noise)
        return row | {
            "bits": equal if told else None,
            "error": as_is if equal else differs(near, values, self.vague) if told else None,
            "error_as_is": as_is,
            "float64": self.exact is not None,
        }

    def works(self) -> bool:
        """Whether the step as it is still runs."""
        try:
            with unchanged(self.step, at_once=True):
                self.step()
        except Exception:  # noqa: BLE001  (the user's step)
            return False
        return True

    def race(self, sides: Mapping[str, Sequence[Setting]], seconds: float) -> dict[str, Row]:
        """For each name, the time with its settings over the time as it is; all of them take turns. Raises TimingError."""
        with unchanged(self.step, at_once=True) as journal:
            tensors, short = journal.tensors.values(), self.base["rough_s"] < SHORT_S
            every = {AS_IS: (), **sides}
            run = {name: Side(self.step, some, tensors, self.look.device, short) for name, some in every.items()}
            clock: Any = self.clock or clock_for(self.look.device)
            clock.block_s = BLOCK_S
            found = compare(run, AS_IS, CI, seconds, clock=clock, same=False, seed=self.seed)
        return rows_of(found)


def rows_of(found: Any) -> dict[str, Row]:
    """A row for each candidate of a comparison. complete: whether it was not stopped by hand."""
    return {
        name: {
            "ratio": pair.ratio, "low": pair.low, "high": pair.high, "rounds": len(pair.ratios), "processes": pair.processes,
            "base_ms": found.medians_ms[AS_IS], "complete": found.complete,
        }
        for name, pair in found.pairs.items()
    }  # fmt: skip


def differs(one: Values, two: Values, vague: Collection[int] = ()) -> float:
    """The largest difference as a share of the largest value of that tensor (of an ordinary tensor, where it is all but zero);
    0: the same bits; infinite: other shapes, or not finite on one side alone. vague: of these count differences that an ordinary tensor
    would show.
    """
    if [each.shape for each in one] != [each.shape for each in two]:
        return math.inf
    reach = [float(each.abs().max()) if each.numel() else 0.0 for each in one]
    usual = statistics.median([size for at, size in enumerate(reach) if at not in vague] or reach or [0.0])
    worst = 0.0
    for at, (a, b) in enumerate(zip(one, two, strict=True)):
        if a.numel() and not torch.equal(a, b):
            size = usual if at in vague else max(reach[at], 1e-3 * usual)
            worst = max(worst, _gap(a, b) / max(size, 1e-300))
    return worst


def without_digits(truth: Values, others: Sequence[Values]) -> set[int]:
    """Which tensors have no right digit, and so none to lose: they differ by half of what they are from the truth. The gradient of a
    bias before a batch normalization is one: truly 0, in float32 what rounding leaves.
    """
    pairs = [(at, a, b) for other in others for at, (a, b) in enumerate(zip(truth, other, strict=True))]
    return {at for at, a, b in pairs if a.numel() and 0.5 * float(a.abs().max()) < _gap(a, b) < math.inf}


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; infinite: not finite on one side alone."""
    gap = float(torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs()).max())
    return gap if math.isfinite(gap) else math.inf


def _peak_mib(call: Step, device: str) -> float | None:
    """The most memory held at once for a call, over what was held before, in MiB; None where it cannot be told."""
    if device == "cpu":
        return peak_mib(call)
    if device != "cuda":
        return None
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def _shortest_s(call: Step) -> float:
    taken: list[float] = []
    while not taken or (len(taken) < 5 and sum(taken) < ROUGH_S):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return min(taken)
