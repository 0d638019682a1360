"""What stands for a tensor of the caller's: `Shapes` gives one without memory, `Real` a copy with data."""

from __future__ import annotations

import copy
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from course.core.i18n import t
from course.flops.checks import NotHere
from course.flops.copies import Copies

if TYPE_CHECKING:
    from course.flops.tally import Tally

_PLAIN = (torch.Tensor, nn.Parameter, FakeTensor)


def has_memory(x: torch.Tensor) -> bool:
    """Whether the tensor is a plain view of memory that can be read byte by byte."""
    by_itself = type(x).__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
    return by_itself and x.layout is torch.strided and not (x.is_nested or x.is_meta or nn.parameter.is_lazy(x))


class Shapes:
    """Tensors have shapes alone, and say that they are on `device`, where the caller's are. made: those of the run."""

    name = "meta"

    def __init__(self) -> None:
        self.device = torch.get_default_device()
        self.made: list[weakref.ref[torch.Tensor]] = []
        self.broken: Exception | None = None  # what was asked for that shapes do not have
        self._stores: dict[int, Any] = {}
        self._outside = False  # whether a tensor was met that is not the run's

    def refuse(self, english: str, chinese: str) -> NotHere:
        """Returns the exception to raise, and remembers it: a forward may swallow it and take another path."""
        self.broken = self.broken or NotHere(t(english, chinese))
        return NotHere(t(english, chinese))

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A tensor of the same shape without memory."""
        kind = type(x)
        ours = (
            kind in _PLAIN or isinstance(x, nn.Parameter) and kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        )
        if not ours or x.layout is not torch.strided or x.is_nested or x.is_quantized:
            raise NotHere(
                t(f"a tensor of class {kind.__name__}, {x.layout}", f"类型为 {kind.__name__}、{x.layout} 的张量")
            )
        new = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
        return _like(new, x)

    def settle(self, copies: Copies) -> None:
        """Finds the device that stand-ins name. Raises NotHere where there are several."""
        devices = {x.device for x in copies.tensors}
        if any(one.type == "meta" for one in devices):
            self.device = torch.device("meta")
        elif len(devices) > 1:
            raise NotHere(t("tensors lie on several devices", "张量在多个设备上"))
        elif devices:
            (self.device,) = devices
        for x in copies.tensors:
            self._keep(copies(x))

    def _keep(self, x: torch.Tensor) -> bool:
        """Keeps the storage of a tensor, so that no other gets its place. Returns whether it is seen for the first time."""
        if x.layout is not torch.strided or x.is_nested or type(x) not in _PLAIN:
            return False
        store = x.untyped_storage()
        first = store._cdata not in self._stores
        self._stores[store._cdata] = store
        return first

    def born(self, x: torch.Tensor) -> None:
        """A tensor that the run has made."""
        if self._keep(x) or not self._outside:
            self.made.append(weakref.ref(x))

    def looks_strange(self, x: torch.Tensor, tally: Tally) -> None:
        """Notes a tensor that no operator of the run has made."""
        if self._keep(x):
            self._outside = True
            if not x.is_meta:
                raise self.refuse("a tensor from outside the model", "来自模型之外的张量")
            if x.is_floating_point() or x.is_complex():  # an index given as a list makes one of integers
                tally.unknown["a tensor made out of sight"] += 1


class Real(Shapes):
    """Tensors are copies with data."""

    name = "real"

    def __init__(self) -> None:
        super().__init__()
        self._copied: dict[Any, Any] = {}

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A copy; tensors on one memory stay on one."""
        if torch._C._functorch.is_functorch_wrapped_tensor(x):
            return x
        new = x.detach().clone() if x.is_nested else copy.deepcopy(x.detach(), self._copied)
        return _like(new if type(new) is type(x) else new.as_subclass(type(x)), x)

    def settle(self, copies: Copies) -> None:
        """Notes memory that NumPy and torch may share: their copies do not."""
        if copies.arrays and any(has_memory(x) and not x.untyped_storage().resizable() for x in copies.tensors):
            copies.doubts["a NumPy array on the memory of something else"] += 1

    def born(self, x: torch.Tensor) -> None:
        """Memory of the run needs no note."""

    def looks_strange(self, x: torch.Tensor, tally: Tally) -> None:
        """Notes a tensor on memory of another library's."""
        if has_memory(x) and not x.untyped_storage().resizable():  # all copies are on memory that is
            tally.unknown["data made by NumPy, or on another library's memory"] += 1


def _like(new: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The new tensor as a parameter and with the wish for a gradient, where the other is one and has it."""
    if isinstance(x, nn.Parameter) and type(new).__torch_dispatch__ is torch.Tensor.__torch_dispatch__:
        kind = nn.Parameter if isinstance(x, FakeTensor) else type(x)
        return torch.Tensor._make_subclass(kind, new, x.requires_grad)
    if isinstance(x, nn.Parameter):
        return nn.Parameter(new, x.requires_grad)
    new.requires_grad_(x.requires_grad)
    if x.is_leaf or not x.requires_grad:
        return new
    with torch.enable_grad():
        return new.clone()  # like the original it may be written to
