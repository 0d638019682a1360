"""Watch what a forward asks its tensors: on which device they are, what is in their memory. A function mode answers
it or notes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course.flops.operators import is_meta, mapped
from course.flops.tally import Tally
from course.flops.worlds import READ_GRADIENT, REPLACED, SET_GRADIENT, Real, Shapes
from course.i18n import t
from course.isolation.saving import tensors_in

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
}
"""Calls through which data leaves torch, where nobody can count what is done with it."""
_MOVES = {torch.Tensor.cpu: "cpu", torch.Tensor.cuda: "cuda", torch.Tensor.xpu: "xpu"}
_BACKWARD = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
_TAKING = {*_EXITS, torch.Tensor.__repr__, torch.Tensor.__reduce_ex__}
_LEFT_ALIGNED = torch._nested_tensor_from_mask_left_aligned


class AskingMode(TorchFunctionMode):
    """Stand-ins name the device of the tensors they stand for and give no data; data that leaves torch is noted."""

    def __init__(self, tally: Tally, world: Real, arrays: list[Any]) -> None:
        super().__init__()
        self.tally, self.world = tally, world
        self._arrays = arrays  # those there were before
        self._integers_left = False
        self._storages: list[torch.UntypedStorage] = []  # those handed out
        self._watched = type("UntypedStorage", (_Watched,), {"__slots__": (), "_course_mode": self})

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if name := self.tally.compiled(sys._getframe(1)):
            self.world.meets(name)
        self.tally.depth += 1
        try:
            return self._answer(func, args, kwargs or {})
        finally:
            self.tally.depth -= 1

    def _answer(self, func: Any, args: Any, kwargs: Any) -> Any:
        world, place = self.world, None
        if isinstance(world, Shapes):
            args, kwargs = mapped(world.known, (args, kwargs))
            if func in _TOLD:
                device, asked = world.device(args[0]), _TOLD[func]
                return device if asked == "device" else device.type == asked
            if func in (READ_GRADIENT, SET_GRADIENT) and type(args[0]) not in REPLACED:
                return world.gradient(func, *args)
            if func in _TAKING and is_meta(args[0]):
                raise world.refuse(_asks_for_data(func.__name__))
            func, args, kwargs, place = _on_the_host(world, func, args, kwargs)
            if func is torch.tensor:
                kwargs = {**kwargs, "device": None}
        if func in _BACKWARD:
            return self._in_the_engine(func, args, kwargs)
        if func is torch.tensor and type(args[0]).__module__ == "numpy" and not any(args[0] is x for x in self._arrays):
            self._made_by_numpy(args[0].dtype.kind in "fc", args[0].size)
        if func is _LEFT_ALIGNED:
            return self._padding(args)
        if func in _EXITS or func is torch.Tensor.untyped_storage:
            world.leaves(args[0])
            floats = args[0].is_floating_point() and args[0].numel() > 1
            self._integers_left |= args[0].numel() > 1 and _EXITS.get(func) == "NumPy"
            if floats and func is torch.Tensor.untyped_storage:
                self._storages.append(func(*args, **kwargs))
                self._storages[-1].__class__ = self._watched
                return self._storages[-1]
            if floats:
                self.tally.unknown[f"{func.__name__} (data handed to {_EXITS[func]})"] += 1
        out = func(*args, **kwargs)
        if place is not None and place != world.device(out):
            out = world.put(out.clone() if any(out is x for x in tensors_in(args)) else out, place)
        return out

    def _made_by_numpy(self, floats: bool, size: int) -> None:
        """Data come in that another library has made: floats, or integers after some went out."""
        if size > 1 and (floats or self._integers_left):
            self.tally.unknown["data made by NumPy, or on another library's memory"] += 1

    def at_the_end(self, output: list[torch.Tensor]) -> None:
        """Notes what came in on memory of another library's, the output included."""
        known = [(one.__array_interface__["data"][0], one.nbytes) for one in self._arrays]
        with torch._C.DisableTorchFunction():
            for x in output:
                self.world.known(x)
            for x in self.world.lent.values():
                if not any(begin <= x.data_ptr() < begin + size for begin, size in known):
                    self._made_by_numpy(x.is_floating_point() or x.is_complex(), x.numel())

    def _padding(self, args: Any) -> bool:
        """nn.TransformerEncoder asks whether it can leave out padded positions; it is counted with them."""
        encoder = sys._getframe(3).f_locals.get("self")
        wants = torch.is_grad_enabled() and any(x.requires_grad for x in (args[0], *encoder.parameters()))
        if not wants:
            if is_meta(args[1]):
                raise self.world.refuse(t("a mask decides what is computed", "掩码决定要计算什么"))
            with torch._C._DisableTorchDispatch():
                aligned = bool(_LEFT_ALIGNED(torch.zeros(1).expand(args[0].shape), args[1]))
            if aligned and not bool(args[1].all()):
                self.tally.unknown["padding left out by nn.TransformerEncoder"] += 1
        return False

    def read(self, storage: torch.UntypedStorage, name: str) -> None:
        """Bytes of a storage are asked for: it is noted, or refused where it has none."""
        if storage.device.type == "meta":
            raise self.world.refuse(_asks_for_data(name))
        self.tally.unknown[f"untyped_storage().{name} (data handed to its memory)"] += 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch every call inside this block. Storages that were handed out in it are plain ones again afterwards."""
        try:
            with self:
                yield
        finally:
            for storage in self._storages:
                storage.__class__ = torch.UntypedStorage

    def _in_the_engine(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A backward whose Python code (hooks, gradients of one's own) is seen too: torch runs it without modes."""
        run = torch.autograd._engine_run_backward

        def seen(*given: Any, **named: Any) -> Any:
            with self:
                return run(*given, **named)

        torch.autograd._engine_run_backward = seen
        try:
            return func(*args, **kwargs)
        finally:
            torch.autograd._engine_run_backward = run


def _on_the_host(world: Shapes, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any, torch.device | None]:
    """The call without its device, and that device: the bindings of torch would start it before any mode is asked."""
    named = kwargs.get("device")
    if func in _MOVES:
        index = args[1] if len(args) > 1 else named
        place = _MOVES[func] if index is None else f"cuda:{index}" if type(index) is int else index
        func, args, kwargs = torch.Tensor.to, (args[0], "cpu"), {}
    elif func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], torch.Tensor):
        place = world.device(args[1])
        args = (args[0], "cpu", args[1].dtype, *args[2:])
    elif func is torch.Tensor.to and len(args) > 1 and isinstance(args[1], (str, int, torch.device)):
        place, args = args[1], (args[0], "cpu", *args[2:])
    elif named is not None:
        place = named
    else:
        return func, args, kwargs, None
    place = torch.device(place)
    if place.type == "meta":
        return func, args, kwargs, place
    world.elsewhere |= place.type != "cpu"
    kwargs = {name: value for name, value in kwargs.items() if name != "non_blocking"}
    return func, args, {**kwargs, "device": torch.device("cpu")} if named is not None else kwargs, place


def _asks_for_data(name: str) -> str:
    return t(f"`{name}` asks for data", f"`{name}` 要读取数据")


class _Watched(torch.UntypedStorage):
    """A storage that tells the mode that handed it out (`_course_mode`) when its bytes may be read. To ask for its size or
    to change it reads none."""

    __slots__ = ()
    _course_mode: AskingMode

    def __getattribute__(self, name: str) -> Any:
        if name == "data_ptr" and self.device.type == "meta":
            return lambda: _Address(self._cdata)
        if not name.startswith("__") and name not in _READS_NOTHING:
            self._course_mode.read(self, name)
        return super().__getattribute__(name)

    def __getitem__(self, at: Any) -> Any:
        self._course_mode.read(self, "__getitem__")
        return super().__getitem__(at)


@dataclass(frozen=True)
class _Address:
    """Where a storage without memory would lie: above 0, and the same for the same storage. Good for comparing alone."""

    storage: int

    def __gt__(self, other: Any) -> Any:
        return other == 0 or NotImplemented


_READS_NOTHING = frozenset(
    "size nbytes resize_ resizable fill_ element_size device type get_device is_cuda is_hpu is_sparse is_sparse_csr "
    "is_shared is_pinned filename _cdata _course_mode _fake_device _checkpoint_offset _expired _weak_ref _free_weak_ref".split()
)
"""Attributes of a storage that do not show its bytes."""
