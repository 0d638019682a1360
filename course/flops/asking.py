"""Watch what a forward asks its tensors: on which device they are, what is in their memory. A function mode answers
it or notes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course.flops.mode import READ_GRADIENT, REPLACED, SET_GRADIENT, Real, Shapes, is_meta, mapped
from course.flops.tally import Tally
from course.i18n import t

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
_BACKWARD = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
_TAKING = {*_EXITS, torch.Tensor.__repr__, torch.Tensor.__reduce_ex__}


class AskingMode(TorchFunctionMode):
    """Stand-ins name the device of the tensors they stand for and give no data; data that leaves torch is noted."""

    def __init__(self, tally: Tally, world: Real) -> None:
        super().__init__()
        self.tally, self.world = tally, world
        self._storages: list[torch.UntypedStorage] = []  # those handed out

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, world = kwargs or {}, self.world
        if isinstance(world, Shapes):
            if func in _TOLD:
                device, asked = world.device(), _TOLD[func]
                return device if asked == "device" else device.type == asked
            if world.strays:
                args, kwargs = mapped(world.known, (args, kwargs))
                if func in (READ_GRADIENT, SET_GRADIENT) and type(args[0]) not in REPLACED:
                    return world.gradient(func, *args)
            if func in _TAKING and is_meta(args[0]):
                raise world.refuse(_asks_for_data(func.__name__))
            if func is torch.tensor:
                kwargs = {**kwargs, "device": None}
        if func in _BACKWARD:
            return self._in_the_engine(func, args, kwargs)
        exit = func in _EXITS or func is torch.Tensor.untyped_storage
        if exit and args[0].is_floating_point() and args[0].numel() > 1:
            if func is torch.Tensor.untyped_storage:
                return self._watched(func(*args, **kwargs), is_meta(args[0]))
            self.tally.unknown[f"{func.__name__} (data handed to {_EXITS[func]})"] += 1
        return func(*args, **kwargs)

    def _watched(self, storage: torch.UntypedStorage, empty: bool) -> torch.UntypedStorage:
        """The memory of a tensor; it notes when its bytes are read, or refuses where it has none (`empty`)."""

        def read(name: str) -> None:
            if empty:
                raise self.world.refuse(_asks_for_data(name))
            self.tally.unknown[f"untyped_storage().{name} (data handed to its memory)"] += 1

        extra = {"__slots__": (), "_course_read": staticmethod(read), "_course_empty": empty}
        storage.__class__ = type("UntypedStorage", (_Watched,), extra)
        self._storages.append(storage)
        return storage

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


def _asks_for_data(name: str) -> str:
    return t(f"`{name}` asks for data", f"`{name}` 要读取数据")


class _Watched(torch.UntypedStorage):
    """A storage that tells `_course_read` when its bytes may be read. To ask for its size or to change it reads none."""

    __slots__ = ()
    _course_read: Callable[[str], None]
    _course_empty: bool

    def __getattribute__(self, name: str) -> Any:
        kind = object.__getattribute__(self, "__class__")
        if kind._course_empty and name == "data_ptr":
            return lambda: _Address(self)
        if not name.startswith("__") and name not in _READS_NOTHING:
            kind._course_read(name)
        return super().__getattribute__(name)

    def __getitem__(self, at: Any) -> Any:
        type(self)._course_read("__getitem__")
        return super().__getitem__(at)


class _Address:
    """Where a storage without memory would lie: not 0, and the same for the same storage. Good for comparing alone."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self._storage = storage

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Address) and self._storage._cdata == other._storage._cdata

    def __hash__(self) -> int:
        return self._storage._cdata

    def __gt__(self, other: Any) -> Any:
        return True if type(other) is int and other == 0 else NotImplemented


_READS_NOTHING = frozenset(
    "size nbytes resize_ resizable fill_ element_size device type get_device is_cuda is_hpu is_sparse is_sparse_csr "
    "is_shared is_pinned filename _cdata _fake_device _checkpoint_offset _expired _weak_ref _free_weak_ref".split()
)
"""Attributes of a storage that do not show its bytes."""
