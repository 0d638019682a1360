"""What settings do to the result of one step: every run starts from the same state and the same random numbers."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from course.tryout.back import put_back
from course.tryout.look import LightMode, look_at, tensors_of
from course.tryout.settings import Setting
from course.tryout.step import Side, Step

LONG_S = 5.0
"""Calls that take longer are not repeated."""
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


class Digits:
    """The results of one step, looked at once.

    random: it draws random numbers beside dropout. rough_s: about what a call takes as it is. exact: its result in float64, if it has one.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        with put_back(step):
            self.look = look_at(step)
        self.as_is, self.rough_s, _ = self._once()
        again, other = self._once()[0], self._once(seed=1)[0]
        self.noise = differs(self.as_is, again)
        self.random = self.noise == 0 and differs(self.as_is, other) > 0
        self.exact: Values | None = None
        with contextlib.suppress(Exception):  # a step may hold numbers of a fixed type; MPS has no float64
            exact = self._once([DOUBLE])[0]
            self.exact = exact if math.isfinite(differs(self.as_is, exact)) else None
        self.sizes = sizes_of(self.exact or self.as_is, self.as_is)
        with contextlib.suppress(Exception):  # no error below what the neighbours of all numbers bring is one
            self.noise = max(self.noise, differs(self.as_is, self._once([NUDGED])[0], self.sizes))

    def _once(self, settings: Sequence[Setting] = (), seed: int = 0) -> tuple[Values, float, bool]:
        """What one call gives, without dropout; about what a call takes, in seconds; and whether it gives integers alone.

        The values: the tensors of its result and the gradients it leaves; without any, the tensors it changes.
        """
        device = self.look.device
        with put_back(self.step, device) as reach:
            side = Side(self.step, settings, reach.tensors, device)
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
                integers = bool(found) and not any(one.is_floating_point() for one in found)
                return values, min(first_s, first_s if first_s > LONG_S else _second_s(side.run)), integers

    def of(self, settings: Sequence[Setting]) -> Row:
        """What changes in the result.

        bits: whether all bits are the same; None where random numbers or a result without tensors forbid to tell, and where integers are
        the same, which hide digits. error: the largest difference from float64 (without a float64 run: from the step as it is), as a share
        of the largest value. rough_s: about what a call takes, to plan with.
        """
        values, rough_s, integers = self._once(settings)
        near, equal = self.exact or self.as_is, differs(self.as_is, values) == 0
        told = bool(values) and not self.random and not (integers and equal)
        equal = equal and told
        as_is = max(self.noise, differs(near, self.as_is, self.sizes) if self.exact else 0.0)
        return {
            "rough_s": rough_s,
            "bits": equal if told else None,
            "error": as_is if equal else differs(near, values, self.sizes) if told else None,
            "error_as_is": as_is,
            "float64": self.exact is not None,
        }


def differs(one: Values, two: Values, sizes: Sequence[float] = ()) -> float:
    """The largest difference as a share of the size of that tensor; 0: the same bits; infinite: other shapes, or not finite on one side
    alone. sizes: see `sizes_of`; by default of `one`.
    """
    if [each.shape for each in one] != [each.shape for each in two]:
        return math.inf
    each = zip(one, two, sizes or sizes_of(one, one), strict=True)
    return max((_gap(a, b) / size for a, b, size in each if a.numel() and not torch.equal(a, b)), default=0.0)


def sizes_of(truth: Values, as_is: Values) -> list[float]:
    """By what to measure a difference: the largest value of each tensor; of an ordinary tensor, where the step as it is has no right digit
    to lose. The gradient of a bias before a batch normalization is one: truly 0, in float32 what rounding leaves.
    """
    reach = [float(each.abs().max()) if each.numel() else 0.0 for each in truth]
    right = [_gap(a, b) <= size / 2 if a.numel() else True for a, b, size in zip(truth, as_is, reach, strict=True)]
    usual = statistics.median([size for size, has in zip(reach, right, strict=True) if has] or reach or [0.0])
    return [
        max(size, 1e-3 * usual, 1e-300) if has else max(usual, 1e-300) for size, has in zip(reach, right, strict=True)
    ]


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; infinite: not finite on one side alone."""
    gap = float(torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs()).max())
    return gap if math.isfinite(gap) else math.inf


def _second_s(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
