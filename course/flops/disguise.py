"""Stand-ins pass for the tensors they stand for, and data that leaves torch does not go unnoticed.

A forward may ask a tensor where it lies (`x.is_cuda`, `x.device.type`) and choose its way by the answer, so a
stand-in gives the answer of the real one. Whoever takes the data itself (NumPy, a kernel of one's own) would get
nothing: that stops the ground, also where the forward swallows the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course.flops.tally import Tally, replaced


class NotHere(Exception):
    """This ground cannot run the operator; the next one may."""


_EXITS = {
    torch.Tensor.numpy: "NumPy",
    torch.Tensor.__array__: "NumPy",
    torch.Tensor.__dlpack__: "DLPack",
    torch.Tensor.data_ptr: "a kernel that torch does not run",
}
"""Calls through which floating-point data leaves torch, where nobody can count what is done with it."""

_TAKING = ("data_ptr", "numpy", "tolist", "__array__", "__dlpack__", "__repr__", "__reduce_ex__")  # the last: pickle

_TOLD: dict[str, Callable[[torch.device], Any]] = {
    "device": lambda device: device,
    "is_meta": lambda device: False,
    "is_cpu": lambda device: device.type == "cpu",
    "is_cuda": lambda device: device.type == "cuda",
    "is_mps": lambda device: device.type == "mps",
    "is_xpu": lambda device: device.type == "xpu",
}
"""Attributes of a tensor that follow from its device."""

is_meta: Callable[[torch.Tensor], bool] = vars(torch._C.TensorBase)["is_meta"].__get__
"""Whether a tensor really is on the meta device, whatever it says while it is disguised."""


class Leaving(TorchFunctionMode):
    """Notes as unknown what hands floating-point data to code outside torch."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self.tally = tally

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func in _EXITS and args[0].is_floating_point():
            self.tally.unknown[f"{func.__name__} (data handed to {_EXITS[func]})"] += 1
        return out


@contextmanager
def data_kept(refuse: Callable[[str], NotHere]) -> Iterator[None]:
    """Whoever takes the data of a stand-in meets the exception that `refuse(why)` makes (and may take note of)."""

    def guarded(name: str) -> Callable[..., Any]:
        original = getattr(torch.Tensor, name)

        def take(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if is_meta(tensor) or hasattr(tensor, "fake_mode"):
                raise refuse(f"{name} asks for data")
            return original(tensor, *args, **kwargs)

        return take

    with ExitStack() as stack:
        for name in _TAKING:
            stack.enter_context(replaced(torch.Tensor, name, guarded(name)))
        yield


@contextmanager
def disguised(where: Callable[[], torch.device | None]) -> Iterator[None]:
    """Stand-ins on meta say that they lie on `where()`; None: they say the truth.

    Only code of the forward hears it. Below the counting mode, where torch's own kernels for shapes run, that mode
    is off the stack, and the truth is told.
    """

    def told(name: str, answer: Callable[[torch.device], Any]) -> property:
        original = vars(torch._C.TensorBase)[name].__get__

        def get(tensor: torch.Tensor) -> Any:
            device = where() if is_meta(tensor) and _in_forward() else None
            return original(tensor) if device is None else answer(device)

        return property(get)

    with ExitStack() as stack:
        for name, answer in _TOLD.items():
            stack.enter_context(replaced(torch.Tensor, name, told(name, answer)))
        yield


def _in_forward() -> bool:
    """Whether the mode on top of the stack is the one that counts."""
    depth = torch._C._len_torch_dispatch_stack()
    return depth > 0 and getattr(torch._C._get_dispatch_stack_at(depth - 1), "counts", False)
