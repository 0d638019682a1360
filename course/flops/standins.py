"""What stands for a tensor of the caller's: `Shapes` gives one of torch's fake tensors, without memory, `Real` a copy with data."""

from __future__ import annotations

import copy
import weakref
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from course.flops.checks import NotHere


class Shapes:
    """Tensors have shapes alone, on the device where the caller's are.

    mode: to be on while the copies run. made: tensors of the run. broken: why the run does not count; the forward may have swallowed
    the exception and taken another path.
    """

    name = "meta"

    def __init__(self) -> None:
        self.mode: Any = FakeTensorMode()
        self.made: list[weakref.ref[torch.Tensor]] = []
        self.broken: Exception | None = None

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A tensor of the same shape without memory."""
        if type(x) not in (torch.Tensor, nn.Parameter) or x.layout is not torch.strided or x.is_nested:
            raise NotHere(f"a tensor of class {type(x).__name__}, {x.layout}")
        return self.mode.from_tensor(x)

    def stop(self, error: Exception) -> Exception:
        """Notes why the run does not count, if it is the first reason; returns it, to be raised."""
        self.broken = self.broken or error
        return error


class Real(Shapes):
    """Tensors are copies with data."""

    name = "real"

    def __init__(self) -> None:
        super().__init__()
        self.mode = nullcontext()
        self._copied: dict[Any, Any] = {}

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A copy; tensors on one memory stay on one."""
        if torch._C._functorch.is_functorch_wrapped_tensor(x):
            return x
        alone = x.is_nested or x.layout is not torch.strided  # such a tensor shares no memory
        new = x.detach().clone() if alone else copy.deepcopy(x.detach(), self._copied)
        return _like(new if type(new) is type(x) else new.as_subclass(type(x)), x)


def from_outside(x: torch.Tensor) -> bool:
    """Whether data lie on memory that is not torch's own, as an array of NumPy's does; all copies lie on such as is."""
    by_itself = type(x).__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
    plain = by_itself and x.layout is torch.strided and not (x.is_nested or x.is_meta or nn.parameter.is_lazy(x))
    return plain and not x.untyped_storage().resizable()


def _like(new: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The new tensor as a parameter and with the wish for a gradient, where the other is one and has it."""
    if isinstance(x, nn.Parameter) and type(new).__torch_dispatch__ is torch.Tensor.__torch_dispatch__:
        return torch.Tensor._make_subclass(type(x), new, x.requires_grad)
    if isinstance(x, nn.Parameter):
        return nn.Parameter(new, x.requires_grad)
    new.requires_grad_(x.requires_grad)
    if x.is_leaf or not x.requires_grad:
        return new
    with torch.enable_grad():
        return new.clone()  # like the original it may be written to
