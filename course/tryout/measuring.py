"""What each setting does to one step, found in one process: the digits, the memory, the first call, the time."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.nn.modules.dropout import _DropoutNd

from course.attention import peak_mib
from course.flags import SWITCHES
from course.timing import TimingError, clock_for, compare
from course.tryout.look import Look, look_at, tensors_of
from course.tryout.reach import Reach, device_of, put_back
from course.tryout.settings import Setting
from course.tryout.work import Work

AS_IS = "as it is"
ROUNDS = 20
"""Rounds that a verdict needs, and a few that warm up."""
LONGEST_S = 5.0
"""Seconds for one comparison, where a step is short."""

Row = dict[str, Any]
Tell = Callable[[Row], None]


class Side:
    """One side of a comparison. An `Outside` clock applies its settings around a block; called alone it does so itself."""

    def __init__(self, work: Work, settings: Sequence[Setting] = ()) -> None:
        self.work, self.settings, self.run = work, settings, work.wrapped(settings)

    def __call__(self) -> Any:
        with self.work.under(self.settings):
            return self.run()


class Outside:
    """A clock of `course.timing` for which settings are applied before a block and taken back after it, outside the time."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)

    def block(self, f: Callable[[], Any], calls: int) -> float:
        """Seconds that `calls` calls take."""
        if not isinstance(f, Side):
            return float(self._clock.block(f, calls))
        with f.work.under(f.settings):
            return float(self._clock.block(f.run, calls))


class Bench:
    """One step on this process's bench. clock, seed: for tests; else the clock of the step's device, and any order."""

    def __init__(self, step: Callable[[], Any], clock: Any = None, seed: int | None = None) -> None:
        self.step, self.seed = step, seed
        with put_back(step, device_of(step)):
            self.look: Look = look_at(step)
        self.work = Work(step, self.look.device)
        self.clock = Outside(clock or clock_for(self.look.device))
        self.as_is, self.again = self._values(), self._values()
        self.random = differs(self.as_is, self._values(seed=1)) > 0 and differs(self.as_is, self.again) == 0
        self.exact = self._exact()

    def _values(self, settings: Sequence[Setting] = (), seed: int = 0) -> list[torch.Tensor]:
        """What one call gives: the tensors of its result and the gradients it leaves; without any, the tensors it changes.

        From the same state and random numbers each time; layers of dropout do nothing.
        """
        run = self.work.wrapped(settings)
        with put_back(self.step, self.look.device), self.work.under(settings, afresh=True):
            _no_dropout(self.step)
            torch.manual_seed(seed)
            result = [*tensors_of(run())]
            leaves = [one for one in Reach(self.step).tensors if one.is_leaf]
            found = result + [one.grad for one in leaves if one.grad is not None] or leaves
            return [
                one.detach().cpu().double() for one in found if not one.is_complex() and one.layout is torch.strided
            ]

    def _exact(self) -> list[torch.Tensor] | None:
        """The same in float64; None where the step cannot run so."""
        try:
            with put_back(self.step, self.look.device):
                _no_dropout(self.step)
                torch.manual_seed(0)
                with self.work.in_float64():
                    result = [*tensors_of(self.step())]
                    grads = [one.grad for one in Reach(self.step).tensors if one.is_leaf and one.grad is not None]
                    found = [one.detach().cpu().double() for one in result + grads]
        except Exception:  # noqa: BLE001  (a step may hold numbers of a fixed type; MPS has no float64)
            return None
        finally:
            self.work.forget()
        return found if math.isfinite(differs(self.as_is, found)) else None

    def digits(self, settings: Sequence[Setting]) -> Row:
        """What changes in the result, and the memory.

        bits: whether all bits are the same; None where random numbers or a result without tensors forbid to tell. error: the
        largest difference from float64 (without a float64 run: from the step as it is), as a share of the largest value.
        rough_s: the shortest of some calls, to plan with.
        """
        values = self._values(settings)
        told = bool(values) and not self.random
        near = self.exact or self.as_is
        with put_back(self.step, self.look.device):
            side = Side(self.work, settings)
            memory = _peak_mib(side, self.look.device)
            rough = _shortest_s(side)
        return {
            "bits": differs(self.as_is, values) == 0 if told else None,
            "error": differs(near, values) if told else None,
            "error_as_is": differs(near, self.as_is) if self.exact else differs(self.as_is, self.again),
            "float64": self.exact is not None,
            "memory_mib": memory,
            "rough_s": rough,
        }

    def race(self, settings: Sequence[Setting], seconds: float) -> Row:
        """The time with the settings over the time as it is. What seems faster or slower is compared again, and the second counts."""
        still = [replace(one, flags={name: SWITCHES[name].read() for name in one.flags}, way="") for one in settings]
        sides = {
            AS_IS: Side(self.work, still),
            "tried": Side(self.work, settings),
        }  # both write the same switches before a block
        price = None
        while True:
            found = compare(sides, AS_IS, 0.01, seconds, clock=self.clock, same=False, seed=self.seed)
            pair = found["tried"]
            if price is None:
                first = {name: found.first_call_ms[name] - found.medians_ms[name] for name in sides}
                price, done = max(0.0, first["tried"] - first[AS_IS]), pair.low is None or pair.low <= 1 <= pair.high
            else:
                done = True
            if done or not found.complete:
                return {
                    "ratio": pair.ratio, "low": pair.low, "high": pair.high, "rounds": found.rounds,
                    "base_ms": found.medians_ms[AS_IS], "complete": found.complete, "price_ms": price,
                }  # fmt: skip
            self.seed = None if self.seed is None else self.seed + 1

    def all(self, settings: Sequence[Setting], seconds: float, tell: Tell) -> None:
        """Look at the digits of every setting, then time them, the most promising first, until the seconds are out."""
        began, rough = time.perf_counter(), {}
        base = self.digits(())
        tell({"base": base})
        for one in settings:
            if rough and time.perf_counter() - began > seconds / 2:
                tell({"id": one.id, "late_s": 2 * ROUNDS * base["rough_s"]})
                continue
            try:
                row = self.digits([one])
            except Exception as error:  # noqa: BLE001  (what the user's step or torch says of this setting)
                tell({"id": one.id, "why": said_of(error)})
                continue
            rough[one.id] = row["rough_s"]
            if one.kept and self.look.device != "cpu":  # this process has chosen already, so nothing of it shows here
                row = {}
            tell({"id": one.id, **row})
        timed = sorted((one for one in settings if one.id in rough and not one.kept), key=lambda one: rough[one.id])
        end = max(
            began + seconds, time.perf_counter() + seconds / 2
        )  # half for the times, however long the digits took
        for at, one in enumerate(timed):
            left = end - time.perf_counter()
            needed = ROUNDS * (base["rough_s"] + rough[one.id])
            if left < max(needed, 0.2):
                tell({"id": one.id, "late_s": needed})
                continue
            try:
                with put_back(self.step, self.look.device):
                    row = self.race([one], max(needed, min(LONGEST_S, left / (len(timed) - at) / 2)))
            except TimingError as error:
                row = {"why": str(error)}
            tell({"id": one.id, **row})
            if not row.get("complete", True):
                raise KeyboardInterrupt


def differs(one: Sequence[torch.Tensor], two: Sequence[torch.Tensor]) -> float:
    """The largest difference as a share of the largest value of that tensor (of an ordinary tensor, where it is all but zero);
    0: the same bits; infinite: other shapes, or not finite on one side alone.
    """
    if [each.shape for each in one] != [each.shape for each in two]:
        return math.inf
    reach = [float(each.abs().max()) for each in one if each.numel()]
    usual, worst = statistics.median(reach) if reach else 0.0, 0.0
    for a, b in zip(one, two, strict=True):
        if a.numel() and not torch.equal(a, b):
            gap = torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs())
            largest = float(gap.max()) / max(float(a.abs().max()), 1e-3 * usual, 1e-300)
            worst = max(worst, largest) if math.isfinite(largest) else math.inf
    return worst


def _no_dropout(step: Callable[[], Any]) -> None:
    for held in Reach(step).held:
        for one in held.values() if isinstance(held, dict) else ():
            if isinstance(one, _DropoutNd):
                one.training = False


def _peak_mib(call: Callable[[], Any], device: str) -> float | None:
    """The most memory held at once for a call, over what was held before, in MiB; None where it cannot be told."""
    if device == "cpu":
        return peak_mib(call)
    if device != "cuda":
        call()
        return None
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def _shortest_s(call: Callable[[], Any]) -> float:
    """The shortest of at most five calls; three of a slow one, of a very slow one a single call."""
    taken: list[float] = []
    while not taken or (len(taken) < 5 and sum(taken) < (0.5 if len(taken) > 2 else 2)):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return min(taken)


def said_of(error: BaseException) -> str:
    """An exception in a line."""
    line = (str(error).strip().splitlines() or [""])[0][:160].rstrip(".")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
