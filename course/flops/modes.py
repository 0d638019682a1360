"""The two modes of a count: one sees every operator and counts it, one sees what is asked of tensors and what leaves torch."""

from __future__ import annotations

import functools
import weakref
from functools import partial
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.flops.checks import NotHere
from course.flops.formulas import FORMULAS
from course.flops.free import is_free
from course.flops.standins import Shapes, from_outside
from course.flops.tally import Tally

BILINEAR, NON_FUNCTIONAL = (
    torch.ops.aten._trilinear.default,
    torch._C.DispatchKey.CompositeExplicitAutogradNonFunctional,
)
"""nn.Bilinear, and where torch keeps the one kernel of it, which is made of products."""
_ONE_TYPE = frozenset("mm addmm bmm baddbmm convolution".split())


@functools.cache
def _kind(func: Any) -> tuple[str, Any, str]:
    """Name, formula and kind of an operator: "counted", "free", "parts" (made of others) or "unknown"."""
    if isinstance(func, HigherOrderOperator):
        full, kind = str(func), "unknown"
    elif is_free(func):
        full, kind = func._schema.name, "free"
    else:
        parts = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
        full, kind = func._schema.name, "parts" if parts or func is BILINEAR else "unknown"
    formula = FORMULAS.get(full) or FORMULAS.get(full.removesuffix("_"))
    return full.removeprefix("aten::"), formula, "counted" if formula else kind


class Counting(TorchDispatchMode):
    """Counts every operator into `tally` and runs it on what `ground` gave."""

    supports_higher_order_operators = True

    def __init__(self, ground: Shapes, tally: Tally) -> None:
        super().__init__()
        self.ground, self.tally = ground, tally

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        shapes = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)
        if func is torch.ops.prim.device.default or shapes not in (None, self.ground.mode):
            return func(*args, **kwargs)  # a device or a shape is asked for, as DTensor does: no work
        own = torch._C._disabled_torch_dispatch_impl, FakeTensor.__torch_dispatch__
        if not all(kind.__torch_dispatch__ in own for kind in types):
            return NotImplemented  # the subclass explains itself in plain operators, and those are counted
        name, formula, kind = _kind(func)
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        with torch._C.DisableTorchFunction():  # in a backward the mode that watches is on here, too
            self._look(name, tensors)
        nested = any(x.is_nested or x.layout not in (torch.strided, torch._mkldnn) for x in tensors)
        if kind == "parts" and not nested:
            with self:
                by_parts = partial(func._op_dk, NON_FUNCTIONAL) if func is BILINEAR else func.decompose
                out = by_parts(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = self._ran(func, args, kwargs)
        if kind == "counted" and not nested:
            self._count(name, formula, out, args, kwargs, 4 if tensors[0].is_complex() else 1)
        elif kind != "free":
            self.tally.unknown[name + " (sparse or nested)" * nested] += 1  # on its shape it would claim too much
        return out

    def _look(self, name: str, tensors: list[torch.Tensor]) -> None:
        """Notes work that is out of sight."""
        if any(map(from_outside, tensors)):
            self.tally.unknown["data made by NumPy, or on another library's memory"] += 1
        if not self.tally.depth and torch._C._current_autograd_node() is None:
            self.tally.unknown["compiled code that calls torch, or data made by NumPy"] += 1
        if name in _ONE_TYPE and len({x.dtype for x in tensors}) > 1:  # shapes alone would do
            raise RuntimeError(f"{name} got tensors of several types: {', '.join(str(x.dtype) for x in tensors)}")

    def _ran(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            with torch._C.DisableTorchFunction():  # torch's own rules for shapes hear the truth about devices
                out = func(*args, **kwargs)
                self.ground.made += [weakref.ref(x) for x in tree_leaves(out) if isinstance(x, torch.Tensor)]
                return out
        except Exception as error:
            if self.ground.name == "meta":
                self.ground.stop(error)
            raise

    def _count(self, name: str, formula: Any, out: Any, args: Any, kwargs: Any, factor: int) -> None:
        try:
            given = {name: value for name, value in kwargs.items() if name != "out"}
            macs = int(formula(out, *args, **given)) * factor
        except Exception:  # a formula that does not fit: no fault of the forward
            self.tally.unknown[name + " (unusual arguments)"] += 1
        else:
            self.tally.contraction(name, macs)


_EXITS = {
    torch.Tensor.numpy: "NumPy",
    torch.Tensor.__array__: "NumPy",
    torch.Tensor.__dlpack__: "DLPack",
    torch.Tensor.data_ptr: "a kernel that torch does not run",
    torch.Tensor.tolist: "Python",
    torch.Tensor.storage: "its memory",
    torch.Tensor.untyped_storage: "its memory",
}
"""Calls through which data leaves torch, where nobody can count what is done with it."""
_FROM = (torch.tensor, torch.as_tensor, torch.asarray)
_SHOWS = (torch.Tensor.item, torch.Tensor.__repr__, torch.Tensor.__format__, torch.Tensor.__reduce_ex__)
_SHOWS += (torch.Tensor.is_set_to,)


class Watching(TorchFunctionMode):
    """Notes data that leave torch, and refuses to show those that stand-ins do not have."""

    def __init__(self, ground: Shapes, tally: Tally) -> None:
        super().__init__()
        self.ground, self.tally = ground, tally

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.tally.depth += 1
        try:
            return self._answer(func, args, kwargs or {})
        finally:
            self.tally.depth -= 1

    def _answer(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func is torch.Tensor.backward:  # in the engine, too, code of the user's may run
            with self:
                kwargs["grad_tensors"] = kwargs.pop("gradient", None)
                return torch.autograd.backward(args[0], **kwargs)
        if func in _EXITS and args[0].numel() > 1 and args[0].is_floating_point():
            self.tally.unknown[f"{func.__name__} (data handed to {_EXITS[func]})"] += 1
        if func in _FROM and type(args[0]).__module__ == "numpy" and args[0].size > 1:
            self.tally.unknown["data made by NumPy"] += 1
        if self.ground.name == "meta" and (func in _EXITS or func in _SHOWS):
            raise self.ground.stop(NotHere(f"{func.__name__} asks for data"))
        return func(*args, **kwargs)
