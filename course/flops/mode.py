"""The dispatch mode that sees every operator, counts it, and runs it on the ground it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from course.flops.disguise import NotHere
from course.flops.formulas import FORMULAS, Formula, from_torch_registry, tensors_in
from course.flops.free import is_free, moves_only
from course.flops.outside import Made
from course.flops.tally import Tally

PRODUCTS = (torch.ops.aten.mul, torch.ops.aten.mul_)
SUMS = (torch.ops.aten.sum, torch.ops.aten.mean, torch.ops.aten.nansum)
COUNTED, ELEMENTS, STILL, COMPOSITE, UNKNOWN = range(5)
_kinds: dict[Any, tuple[int, Formula | None]] = {}


class Ground(Protocol):
    """Where operators run: on shapes alone, on fake tensors, or for real."""

    name: str
    made: Made

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The output of the operator on this ground."""


def _kind_of(func: Any) -> tuple[int, Formula | None]:
    name = func._schema.name
    formula = FORMULAS.get(name) or FORMULAS.get(name.removesuffix("_")) or from_torch_registry(func)
    if formula is not None:
        return COUNTED, formula
    if moves_only(name) or name.startswith(("prim::", "profiler::")) or getattr(func, "is_view", False):
        return STILL, None
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        return COMPOSITE, None
    return (ELEMENTS if is_free(func) else UNKNOWN), None


def kind_of(func: Any) -> tuple[int, Formula | None]:
    """How an operator counts, and its formula; unknown ones are asked again, a formula may be registered."""
    known = _kinds.get(func)
    if known is None:
        known = _kind_of(func)
        if known[0] != UNKNOWN:
            _kinds[func] = known
    return known


def _measurable(tensors: list[torch.Tensor]) -> bool:
    """Dense tensors only: a formula on the shape of a sparse or nested one would claim too much."""
    return all(t.layout in (torch.strided, torch._mkldnn) and not t.is_nested for t in tensors)


class CountingMode(TorchDispatchMode):
    """Counts into `tally`, runs operators through `ground`.

    `broken` keeps the first exception an operator raised: a model that swallows it has taken another
    path than it takes on real data, so the count of this run must not be believed.
    """

    supports_higher_order_operators = True
    counts = True
    """Tells `course.flops.disguise` that code of the forward is running."""

    def __init__(self, tally: Tally, ground: Ground, plain_types: tuple[type, ...] = ()) -> None:
        super().__init__()
        self.tally, self.ground = tally, ground
        self.broken: Exception | None = None
        self._plain = plain_types
        self._product: torch.Tensor | None = None  # of the latest multiplication of two tensors

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Compiled code is switched off while counting, so torch need not import its compiler for this
        mode.
        """
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if types and not all(self._is_plain(kind) for kind in types):
            return NotImplemented  # the subclass explains itself in plain operators, and those are counted
        if isinstance(func, HigherOrderOperator):
            return self._higher_order(func, args, kwargs)
        kind, formula = kind_of(func)
        if kind == COMPOSITE:
            out = NotImplemented
            if not any(x.is_nested for x in tensors_in(args, kwargs)):  # those have no size to decompose by
                with self:
                    out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
            kind = UNKNOWN
        out = self._guarded(lambda: self.ground.run(func, args, kwargs))
        if self.ground.name != "real":
            self.ground.made.note(out)
        if kind == COUNTED:
            self._contraction(func, formula, out, args, kwargs)
        elif kind == ELEMENTS:
            self._elements(func, out, args)
        elif kind == UNKNOWN:
            self.tally.unknown[_short(func)] += 1
        return out

    def _is_plain(self, kind: type) -> bool:
        return kind in self._plain or kind.__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl

    def _guarded(self, run: Callable[[], Any]) -> Any:
        try:
            return run()
        except Exception as error:
            self.broken = self.broken or error
            raise

    def _higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        if str(func) in CHOICES:  # both are ordinary control flow once the values are there
            if self.ground.name != "real":
                self._guarded(lambda: _needs_values(func))
            with self:
                return CHOICES[str(func)](*args, **kwargs)
        out = self._guarded(lambda: func(*args, **kwargs))
        formula = from_torch_registry(func)
        if formula is None:
            self.tally.unknown[str(func)] += 1
        else:
            self._count(str(func), formula, out, args, kwargs, 1)
        return out

    def _contraction(self, func: Any, formula: Any, out: Any, args: Any, kwargs: Any) -> None:
        tensors = tensors_in(args, kwargs)
        if _measurable(tensors):
            self._count(
                _short(func), formula, out, args, kwargs, 4 if tensors and tensors[0].is_complex() else 1
            )
        else:
            self.tally.unknown[_short(func) + " (sparse or nested)"] += 1

    def _count(self, name: str, formula: Any, out: Any, args: Any, kwargs: Any, factor: int) -> None:
        try:
            given = {name: value for name, value in kwargs.items() if name != "out"}
            macs = int(formula(out, *args, **given)) * factor
        except (TypeError, IndexError, KeyError, AttributeError, RuntimeError, ValueError):
            self.tally.unknown[name + " (unusual arguments)"] += 1
        else:
            self.tally.contraction(name, macs)

    def _elements(self, func: Any, out: Any, args: Any) -> None:
        packet = func._overloadpacket
        if packet in PRODUCTS:
            self._product = out if sum(isinstance(x, torch.Tensor) and x.numel() > 1 for x in args) == 2 else None
        elif packet in SUMS and self._product is not None and _one_storage(args[0], self._product):
            self.tally.summed_products += args[0].numel()
        written = out.numel() if isinstance(out, torch.Tensor) else 0
        read = args[0].numel() if args and isinstance(args[0], torch.Tensor) else 0
        self.tally.elements(max(written, read))


def _one_storage(a: Any, b: torch.Tensor) -> bool:
    dense = all(x.layout is torch.strided and not x.is_nested for x in (a, b))
    return dense and a.untyped_storage()._cdata == b.untyped_storage()._cdata


def _needs_values(func: Any) -> None:
    raise NotHere(f"{func} chooses by a value")


def _cond(predicate: Any, if_true: Any, if_false: Any, operands: Any) -> Any:
    return (if_true if bool(predicate) else if_false)(*operands)


def _while_loop(goes_on: Any, body: Any, carried: Any, more: Any = ()) -> Any:
    while bool(goes_on(*carried, *more)):
        carried = body(*carried, *more)
    return carried


CHOICES: dict[str, Callable[..., Any]] = {"cond": _cond, "while_loop": _while_loop}
"""Operators that choose what runs: the branch taken and every round of the loop are counted."""


def _short(func: Any) -> str:
    """`convolution` for aten's own operators, `library::name` for all others."""
    return func._schema.name.removeprefix("aten::")
