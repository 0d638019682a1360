"""Count every operator of a forward with a dispatch mode. (For questions about devices and data: course.flops.asking.)"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._ops import HigherOrderOperator

from course.flops.formulas import HIGHER_ORDER, registered
from course.flops.operators import COMPOSITE, ELEMENTS, STILL, UNKNOWN, mapped, only_asks, operator_of
from course.flops.tally import Tally
from course.flops.validation import NotHere
from course.flops.worlds import Real
from course.isolation.saving import LightMode, as_they_are, tensors_in


class CountingMode(LightMode):
    """Counts every operator into `tally` and runs it in `world`."""

    supports_higher_order_operators = True

    def __init__(self, tally: Tally, world: Real) -> None:
        super().__init__()
        self.tally, self.world = tally, world
        self._products: set[int] = set()  # storages that hold products of two tensors, moved or cast since

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if only_asks():
            return func(*args, **kwargs)
        if not as_they_are(types):
            return NotImplemented  # the subclass explains itself in plain operators, and those are counted
        if isinstance(func, HigherOrderOperator):
            return self._higher_order(func, args, kwargs)
        known = operator_of(func)
        tensors = tensors_in(args, kwargs)
        if known.is_view:  # the most frequent, and nothing to count
            out = self._guarded(self.world.view, func, args, kwargs, tensors)
            return self._follow(known.role, out, args, kwargs, tensors) if self._products else out
        with torch._C.DisableTorchFunction():  # in a backward the mode that answers for devices is on here, too
            if any(self.world.known(x) is not x for x in tensors):
                args, kwargs = mapped(self.world.known, (args, kwargs))
                tensors = tensors_in(args, kwargs)
        if not self.tally.depth and known.kind != STILL and func.namespace == "aten":
            if name := self.tally.uncalled(sys._getframe(1)):
                self.world.meets(name)
        if known.kind == COMPOSITE and not any(x.is_nested for x in tensors):  # those have no size to decompose by
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = self._guarded(self.world.run, known, func, args, kwargs, tensors)
        if known.kind == ELEMENTS:
            sizes = [x.numel() for x in (out, *args[:1]) if isinstance(x, torch.Tensor)]
            self.tally.element_operations += max(sizes, default=0)
        elif known.kind != STILL:
            formula = known.formula or known.kind == UNKNOWN and registered(func)  # registered since, perhaps
            if formula and not all(t.layout in (torch.strided, torch._mkldnn) and not t.is_nested for t in tensors):
                # on the shape of a sparse or nested tensor it would claim too much
                self.tally.unknown[known.name + " (sparse or nested)"] += 1
            else:
                factor = 4 if tensors and tensors[0].is_complex() else 1
                self._count(known.name, formula, out, args, kwargs, factor)
        if self._products or known.role == "makes":
            self._follow(known.role, out, args, kwargs, tensors)
        return out

    def _guarded(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            with torch._C.DisableTorchFunction():  # torch's own rules for shapes hear the truth about devices
                return run(*args, **kwargs)
        except Exception as error:
            self.world.broken = self.world.broken or error
            raise

    def _higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        if str(func) in _CHOICES:  # ordinary control flow once the values are there
            with self:
                return _CHOICES[str(func)](*args, **kwargs)
        args, kwargs = mapped(self.world.known, (args, kwargs))
        out = self._guarded(func, *args, **kwargs)
        self._count(str(func), HIGHER_ORDER.get(str(func)) or registered(func), out, args, kwargs, 1)
        return out

    def _count(self, name: str, formula: Any, out: Any, args: Any, kwargs: Any, factor: int) -> None:
        if not formula:
            self.tally.unknown[name] += 1
            return
        try:
            given = {name: value for name, value in kwargs.items() if name != "out"}
            macs = int(formula(out, *args, **given)) * factor
        except NotHere as why:
            raise self.world.refuse(str(why)) from why
        except Exception:  # a formula, ours or somebody's, that does not fit: no fault of the forward
            self.tally.unknown[name + " (unusual arguments)"] += 1
        else:
            self.tally.contraction(name, macs)

    def _follow(self, role: str, out: Any, args: Any, kwargs: Any, tensors: list[torch.Tensor]) -> Any:
        """Follow products of two tensors through moves, casts and scalings to the operator that sums them."""
        held = sum(tensor.numel() for tensor in tensors if _storage(tensor) in self._products)
        sums = role == "sums" or role == "puts" and bool(args[3] if len(args) > 3 else kwargs.get("accumulate"))
        if held and sums:
            self.tally.summed_products += held
        several = role == "makes" and sum(tensor.numel() > 1 for tensor in tensors) > 1
        is_product = several or held and not sums and role != ""
        for tensor in tensors_in(out if isinstance(out, (tuple, list)) else (out,)):
            (self._products.add if is_product else self._products.discard)(_storage(tensor))
        return out


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided and not tensor.is_nested else 0


def _while_loop(goes_on: Any, body: Any, carried: Any, more: Any = ()) -> Any:
    while bool(goes_on(*carried, *more)):
        carried = body(*carried, *more)
    return carried


_CHOICES: dict[str, Callable[..., Any]] = {
    "cond": lambda predicate, if_true, if_false, operands: (if_true if bool(predicate) else if_false)(*operands),
    "while_loop": _while_loop,
}
"""Operators that choose what runs: the branch taken and every round of the loop are counted."""
