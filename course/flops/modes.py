"""The two modes of a count: one sees every operator and counts it, one sees what is asked of tensors and what leaves torch."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.flops.checks import NotHere
from course.flops.copies import compiled_in
from course.flops.formulas import FORMULAS, HIGHER_ORDER, registered
from course.flops.free import is_free, moves_only
from course.flops.standins import FakeTensor, Shapes
from course.flops.tally import Tally

META = torch.device("meta")
_ONE_TYPE = frozenset(f"aten::{name}" for name in "mm addmm bmm baddbmm convolution".split())
_BY_VALUE = frozenset((torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))


def _tensors(args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """All tensors among the arguments of an operator, also inside lists."""
    found = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found


@functools.cache
def _kind(func: Any) -> tuple[str, Any, str]:
    """Name, formula and kind of an operator: "counted", "still", "elements", "parts" (of others) or "unknown"."""
    full = func._schema.name
    formula = FORMULAS.get(full) or FORMULAS.get(full.removesuffix("_"))
    views = getattr(func, "is_view", False)
    if formula:
        kind = "counted"
    elif moves_only(full) or full.startswith(("prim::", "profiler::")) or views:
        kind = "still"
    elif torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        kind = "parts"
    else:
        kind = "elements" if is_free(func) else "unknown"
    return full.removeprefix("aten::"), formula, kind


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
        if isinstance(func, HigherOrderOperator):
            return self._higher_order(func, args, kwargs)
        name, formula, kind = _kind(func)
        tensors = _tensors(args, kwargs)
        with torch._C.DisableTorchFunction():  # in a backward the mode that watches is on here, too
            self._look(func, name, kind, tensors)
        if kind == "parts" and not any(x.is_nested for x in tensors):
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        out = self._ran(func, args, kwargs)
        if kind == "elements":
            sizes = [x.numel() for x in (out, *args[:1]) if isinstance(x, torch.Tensor)]
            self.tally.element_operations += max(sizes, default=0)
        elif kind != "still":
            formula = formula or registered(func)
            if formula and not all(x.layout in (torch.strided, torch._mkldnn) and not x.is_nested for x in tensors):
                self.tally.unknown[name + " (sparse or nested)"] += 1  # on its shape it would claim too much
            else:
                self._count(name, formula, out, args, kwargs, 4 if tensors and tensors[0].is_complex() else 1)
        return out

    def _look(self, func: Any, name: str, kind: str, tensors: list[torch.Tensor]) -> None:
        """Notes work that is out of sight."""
        for x in tensors:
            self.ground.looks_strange(x, self.tally)
        if kind != "still" and func.namespace == "aten" and not self.tally.depth:
            if torch._C._current_autograd_node() is None:
                self.tally.unknown["compiled code that calls torch"] += 1
        if self.ground.name == "meta" and f"aten::{name}" in _ONE_TYPE and len({x.dtype for x in tensors}) > 1:
            raise self.ground.refuse(f"`{name}` got tensors of several types", f"`{name}` 得到了几种类型的张量")

    def _ran(self, func: Any, args: Any, kwargs: Any) -> Any:
        try:
            with torch._C.DisableTorchFunction():  # torch's own rules for shapes hear the truth about devices
                out = func(*args, **kwargs)
                for x in (out,) if isinstance(out, torch.Tensor) else tree_leaves(out):
                    if isinstance(x, torch.Tensor):
                        self.ground.born(x)
                return out
        except Exception as error:
            self.ground.broken = self.ground.broken or error
            if self.ground.name == "meta" and not _BY_VALUE.isdisjoint(getattr(func, "tags", ())):
                raise self.ground.refuse(f"`{func}` depends on values", f"`{func}` 的结果取决于数值") from error
            raise

    def _higher_order(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = self._ran(func, args, kwargs)
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
            self.ground.broken = self.ground.broken or why
            raise
        except Exception:  # a formula, ours or somebody's, that does not fit: no fault of the forward
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
        self.ground, self.tally, self.doubts = ground, tally, tally.unknown
        self._read: dict[int, Any] = {}  # code that was looked at

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = sys._getframe(1)
        if id(frame.f_code) not in self._read:
            self._read[id(frame.f_code)] = frame.f_code
            if not str(frame.f_globals.get("__name__")).startswith("torch."):
                if what := compiled_in(frame.f_code, frame.f_globals):
                    self.doubts[f"{what} (compiled code)"] += 1
                    if self.ground.name == "meta":
                        self.ground.refuse(f"compiled code: `{what}`", f"编译的代码：`{what}`")
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
        if func is torch._nested_tensor_from_mask_left_aligned:
            return self._padding(*args)
        if func in _EXITS and args[0].numel() > 1 and args[0].is_floating_point():
            self.doubts[f"{func.__name__} (data handed to {_EXITS[func]})"] += 1
        if func in _FROM and type(args[0]).__module__ == "numpy" and args[0].size > 1:
            self.doubts["data made by NumPy"] += 1
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

    def _padding(self, x: torch.Tensor, mask: torch.Tensor) -> bool:
        """nn.TransformerEncoder asks whether it can leave out padded positions; it is counted with them."""
        if self.ground.name == "meta":
            raise self.ground.refuse("a mask decides what is computed", "掩码决定要计算什么")
        if not bool(mask.all()):
            self.doubts["padding left out by nn.TransformerEncoder"] += 1
        return False
