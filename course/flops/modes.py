"""The two modes of a count: one sees every operator and counts it, one sees what is asked of tensors and what leaves torch."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.flops.checks import NotHere
from course.flops.formulas import FORMULAS
from course.flops.free import is_free
from course.flops.standins import Shapes
from course.flops.tally import Tally

META = torch.device("meta")
_ONE_TYPE = frozenset(f"aten::{name}" for name in "mm addmm bmm baddbmm convolution".split())
_BY_VALUE = frozenset((torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))


@functools.cache
def _kind(func: Any) -> tuple[str, Any, str]:
    """Name, formula and kind of an operator: "counted", "free", "parts" (made of others) or "unknown"."""
    if isinstance(func, HigherOrderOperator):
        full, kind = str(func), "unknown"
    elif is_free(func):
        full, kind = func._schema.name, "free"
    else:
        parts = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
        full, kind = func._schema.name, "parts" if parts else "unknown"
    formula = FORMULAS.get(full) or FORMULAS.get(full.removesuffix("_"))
    return full.removeprefix("aten::"), formula, "counted" if formula else kind


class Counting(TorchDispatchMode):
    """Counts every operator into `tally` and runs it on what `ground` gave."""

    supports_higher_order_operators = True

    def __init__(self, ground: Shapes, tally: Tally) -> None:
        super().__init__()
        self.ground, self.tally = ground, tally

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch need not import its compiler for this mode

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None:
            return func(*args, **kwargs)  # a shape is asked for, as DTensor does: no work
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
                out = func.decompose(*args, **kwargs)
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
        for x in tensors:
            self.ground.looks_strange(x, self.tally)
        if not self.tally.depth and torch._C._current_autograd_node() is None:
            self.tally.unknown["compiled code that calls torch"] += 1
        if self.ground.name == "meta" and f"aten::{name}" in _ONE_TYPE and len({x.dtype for x in tensors}) > 1:
            raise self.ground.refuse(f"`{name}` got tensors of several types", f"`{name}` 得到了几种类型的张量")

    def _ran(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            with torch._C.DisableTorchFunction():  # torch's own rules for shapes hear the truth about devices
                out = func(*args, **kwargs)
                for x in tree_leaves(out):
                    if isinstance(x, torch.Tensor):
                        self.ground.born(x)
                return out
        except Exception as error:
            self.ground.broken = self.ground.broken or error
            if self.ground.name == "meta" and not _BY_VALUE.isdisjoint(getattr(func, "tags", ())):
                raise self.ground.refuse(f"`{func}` depends on values", f"`{func}` 的结果取决于数值") from error
            raise

    def _count(self, name: str, formula: Any, out: Any, args: Any, kwargs: Any, factor: int) -> None:
        try:
            given = {name: value for name, value in kwargs.items() if name != "out"}
            macs = int(formula(out, *args, **given)) * factor
        except NotHere as why:
            self.ground.broken = self.ground.broken or why
            raise
        except Exception:  # a formula that does not fit: no fault of the forward
            self.tally.unknown[name + " (unusual arguments)"] += 1
        else:
            self.tally.contraction(name, macs)


_TOLD = {
    vars(torch._C.TensorBase)[name].__get__: name.removeprefix("is_")
    for name in ("device", "is_meta", "is_cpu", "is_cuda", "is_mps", "is_xpu")
}
"""What follows from the device of a tensor."""
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
_MOVES = {torch.Tensor.cpu: "cpu", torch.Tensor.cuda: "cuda", torch.Tensor.xpu: "xpu"}
_FROM = (torch.tensor, torch.as_tensor, torch.asarray)
_SHOWS = (torch.Tensor.item, torch.Tensor.__repr__, torch.Tensor.__reduce_ex__)


class Watching(TorchFunctionMode):
    """Answers for the device of stand-ins, and notes data that leave torch."""

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
        if self.ground.name == "real":
            return func(*args, **kwargs)
        if func in _TOLD:
            return self.ground.device if _TOLD[func] == "device" else self.ground.device.type == _TOLD[func]
        if func in _EXITS or func in _SHOWS:
            raise self.ground.refuse(f"`{func.__name__}` asks for data", f"`{func.__name__}` 要读取数据")
        return self._on_meta(func, args, kwargs)

    def _on_meta(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The call with the device of stand-ins in the place of the one named."""
        if func in _MOVES:
            self._place(_MOVES[func])
            return func(*args[:1]) if self.ground.device == META else args[0]
        if func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], (str, int, torch.device)):
            args = (args[0], self._place(args[1]), *args[2:])
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": self._place(kwargs["device"])}
        elif func in _device_constructors():
            kwargs = {**kwargs, "device": META}
        out = func(*args, **{name: value for name, value in kwargs.items() if name not in ("pin_memory", "generator")})
        if func in _device_constructors():  # some are made without an operator
            self.ground.born(out)
        return out

    def _place(self, device: Any) -> torch.device:
        given, told = torch.device(device), self.ground.device
        if told != META and (given.type != told.type or None not in (given.index, told.index) and given != told):
            raise self.ground.refuse(f"a tensor on {given}", f"{given} 上的张量")
        return META
