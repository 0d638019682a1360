"""One look at a step: which operators ran, on which device, and whether they met numbers that are very small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass
class Look:
    """What ran in a step. operators: names without their overload, each once. images: a tensor of four dimensions was convolved.

    full: no float16 or bfloat16 took part. denormal: an operator on the CPU gave a number that is not zero and smaller than the
    smallest normal one. graph: a graph for a backward was recorded, whether or not the result still holds it.
    """

    device: str = "cpu"
    operators: list[str] = field(default_factory=list)
    images: bool = False
    full: bool = True
    denormal: bool = False
    graph: bool = False

    def ran(self, patterns: Sequence[str]) -> bool:
        """Whether an operator ran whose name fits one of the patterns."""
        return any(fnmatch(name, pattern) for pattern in patterns for name in self.operators)

    @property
    def tf32(self) -> bool:
        """Whether the GPU has TF32 and float32 is used."""
        return self.full and self.device == "cuda" and torch.cuda.get_device_capability() >= (8, 0)

    @property
    def backward(self) -> bool:
        """Whether a backward ran."""
        return self.ran(["*backward*"])

    @property
    def forward(self) -> bool:
        """Whether a graph was recorded that no backward used."""
        return self.graph and not self.backward


class LightMode(TorchDispatchMode):
    """A dispatch mode for which torch need not import its compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _Watch(LightMode):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self:  # in inference mode a linear comes as a whole: its parts say what is read
            result = function.decompose(*args, **(kwargs or {}))
        if result is not NotImplemented:
            return result
        result = function(*args, **(kwargs or {}))
        name, look = function.overloadpacket.__name__, self.look
        if name not in look.operators:
            look.operators.append(name)
        look.graph = look.graph or torch.is_grad_enabled() and any(one.requires_grad for one in tensors_of(args))
        for value in tensors_of((args, result)):
            look.images = look.images or ("convolution" in name and value.dim() == 4)
            look.full = look.full and value.dtype not in (torch.float16, torch.bfloat16)
            look.device = look.device if value.device.type == "cpu" else value.device.type
            if value.dtype in (torch.float32, torch.float64) and value.device.type == "cpu" and plain(value):
                size = value.detach().abs()
                tiny = (size > 0) & (size < torch.finfo(value.dtype).smallest_normal)
                look.denormal = look.denormal or bool(tiny.any())
        return result


def look_at(step: Callable[[], Any]) -> Look:
    """Run the step once and tell what ran."""
    look = Look()
    with _Watch(look):
        result = step()
    look.graph = look.graph or any(value.requires_grad for value in tensors_of(result))
    return look


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors in a result: in tuples, lists, dicts and dataclasses of them, in order."""
    held = vars(value) if hasattr(value, "__dataclass_fields__") and not isinstance(value, dict) else value
    return [one for one in tree_leaves(held) if isinstance(one, torch.Tensor)]


def plain(x: torch.Tensor) -> bool:
    """Whether the tensor has memory of its own that can be read byte by byte."""
    wraps = type(x).__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl
    lazy = torch.nn.parameter.is_lazy(x)
    return not wraps and x.layout is torch.strided and not (x.is_nested or x.is_meta or lazy)
