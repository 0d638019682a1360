"""The two modes of a count (one sees every operator and counts it, one sees what is asked of tensors and what leaves torch), and the
sums that they keep."""

from __future__ import annotations

import functools
import threading
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.flops.checks import NotHere
from course.flops.copies import Shapes, from_outside
from course.flops.formulas import FORMULAS
from course.flops.free import is_free
from course.flops.result import ModuleCount

BILINEAR = torch.ops.aten._trilinear.default
NON_FUNCTIONAL = torch._C.DispatchKey.CompositeExplicitAutogradNonFunctional
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


class Tally:
    """MACs and unknown operators seen so far, and which module the work belongs to.

    Forward: a stack of the modules being run; those of a function are found when it calls them. Backward: autograd nodes carry the
    sequence number they got in the forward; the stack's history says which module was running then.
    """

    def __init__(self) -> None:
        self.root = ModuleCount("", "")
        self.places: dict[int, ModuleCount] = {}
        self.by_operator: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.depth = 0  # how many functions of torch are running, one inside the other
        self._alive: dict[int, Any] = {}  # an id means something only while its object lives
        self._stack = [self.root]
        self._history = [(torch.autograd._get_sequence_nr(), self.root)]
        self._found, self._thread = 0, threading.get_ident()
        self._whole = False

    def start(self, model: Any) -> None:
        """Makes places for the modules of a model."""
        owner = getattr(model, "__self__", model)
        self.root.kind = getattr(model, "__name__", type(model).__name__)
        self._whole = isinstance(owner, nn.Module)
        if self._whole:
            self._plant(self.root, owner)

    def _plant(self, node: ModuleCount, module: nn.Module) -> None:
        """Places for a module and all below it; one reachable by two names stands where it is found first."""
        node.kind = type(module).__name__
        self.places[id(module)] = node
        self._alive[id(module)] = module
        for parameter in getattr(module, "_parameters", {}).values():  # a module never set up has none
            if parameter is not None and id(parameter) not in self._alive:
                self._alive[id(parameter)] = parameter
                node.params += parameter.numel()
        for name, child in getattr(module, "_modules", {}).items():
            if child is not None and id(child) not in self.places:
                below = ModuleCount(f"{node.name}.{name}" if node.name else name, "")
                node.children.append(below)
                self._plant(below, child)

    def place(self) -> ModuleCount:
        """The module the operator running now belongs to."""
        if len(self._stack) == 1:
            node = torch._C._current_autograd_node()
            if node is not None:
                at = bisect_right(self._history, node._sequence_nr(), key=lambda entry: entry[0])
                return self._history[max(at - 1, 0)][1]
        return self._stack[-1]

    @contextmanager
    def following(self) -> Iterator[None]:
        """Notice every forward of a module that this thread runs in this block."""
        pre = register_module_forward_pre_hook(self._enter)
        with pre, register_module_forward_hook(self._leave, always_call=True):
            yield

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            if id(module) in self.places:
                self.unknown["work in another thread"] += 1
            return
        if id(module) not in self.places and not self._whole and len(self._stack) == 1:
            node = ModuleCount(f"{type(module).__name__.lower()}_{self._found}", "")
            self._found += 1
            self.root.children.append(node)
            self._plant(node, module)
        if isinstance(module, torch.jit.ScriptModule):
            self.unknown["TorchScript (compiled code)"] += 1
        self._stack.append(self.places.get(id(module), self._stack[-1]))
        self._note()

    def _leave(self, _module: nn.Module, _args: Any, _output: Any) -> None:
        if threading.get_ident() == self._thread and len(self._stack) > 1:
            self._stack.pop()
            self._note()

    def _note(self) -> None:
        self._history.append((torch.autograd._get_sequence_nr(), self._stack[-1]))


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
            self.tally.by_operator[name] += macs
            self.tally.place().own += macs


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
_SHOWS = "item __repr__ __format__ __reduce_ex__ is_set_to".split()
_NEED_DATA = {*_EXITS, *(getattr(torch.Tensor, name) for name in _SHOWS)}


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
        if self.ground.name == "meta" and func in _NEED_DATA:
            raise self.ground.stop(NotHere(f"{func.__name__} asks for data"))
        return func(*args, **kwargs)
