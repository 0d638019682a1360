"""What settings do to the result of one step: every run starts from a new copy of the step and the same random numbers."""

from __future__ import annotations

import contextlib
import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from course.tryout.settings import LightMode, Setting, Step, look_at, tensors_of, under

DOUBLE = Setting("float64", "float64", [], way="float64")

NOISY = 1e-3
"""A step whose calls differ by more, as a share of the largest value, cannot be compared."""

Row = dict[str, Any]
Copy = tuple[Step, list[torch.Tensor]]
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
    """The results of one step. copies: gives a new copy of it, with its tensors, each time. held: some of them are not new.

    look: what ran. random: calls that begin alike end differently, because they draw random numbers beside dropout or because a module
    keeps something from one to the next: nothing can be compared. rough_s: about what a call takes. exact: the result in float64, if any.
    """

    def __init__(self, copies: Callable[[], Copy], held: bool = False) -> None:
        self.copies = copies
        self.look = look_at(copies()[0])
        self.as_is, self.rough_s, _ = self._once()
        again, other = self._once()[0], self._once(seed=1)[0]
        self.noise = differs(self.as_is, again)
        self.random = differs(self.as_is, other) > 0 if self.noise == 0 else self.noise > NOISY or held
        self.exact: Values | None = None
        with contextlib.suppress(Exception):  # a step may hold numbers of a fixed type; MPS has no float64
            exact = self._once([DOUBLE])[0]
            self.exact = exact if math.isfinite(differs(self.as_is, exact)) else None
        self.sizes = sizes_of(self.exact or self.as_is)

    def _once(self, settings: Sequence[Setting] = (), seed: int = 0) -> tuple[Values, float, bool]:
        """What one call gives, without dropout; about what a call takes, in seconds; and whether it gives integers alone.

        The values: the tensors of its result and the gradients it leaves; without any, the tensors it changes.
        """
        step, tensors = self.copies()
        with under(step, settings, tensors, self.look.device) as run:
            torch.manual_seed(seed)
            random.seed(seed)
            with _NoDropout() if self.look.ran(["bernoulli_", "native_dropout"]) else contextlib.nullcontext():
                result = tensors_of(run())
            leaves = [one for one in tensors if one.is_leaf]
            trains = self.look.backward  # else gradients are left from before
            left = [one.grad for one in leaves if one.grad is not None] if trains else []
            found = [one for one in result + left or leaves if not one.is_complex() and one.layout is torch.strided]
            values = [one.detach().cpu().double().clone() for one in found]  # a copy, before the next call
            integers = bool(found) and not any(one.is_floating_point() for one in found)
            began = time.perf_counter()
            run()
            return values, time.perf_counter() - began, integers

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
    each = zip(one, two, sizes or sizes_of(one), strict=True)
    return max((_gap(a, b) / size for a, b, size in each if a.numel() and not torch.equal(a, b)), default=0.0)


def sizes_of(truth: Values) -> list[float]:
    """By what to measure a difference: the largest value of each tensor, or of the one in the middle, whichever is larger. The gradient
    of a bias before a batch normalization is truly 0, in float32 what rounding leaves: it has no digit to lose.
    """
    reach = [float(each.abs().max()) if each.numel() else 0.0 for each in truth]
    return [max(size, statistics.median(reach), 1e-300) for size in reach]


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; infinite: not finite on one side alone."""
    gap = float(torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs()).max())
    return gap if math.isfinite(gap) else math.inf
