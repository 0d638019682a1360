"""One look at a step: which operators ran, on which device, and whether they met numbers that are very small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LOW = (torch.float16, torch.bfloat16)


@dataclass
class Look:
    """What ran in a step. operators: names without their overload. images: a tensor of four dimensions was convolved.

    low: float16 or bfloat16 took part. denormal: an operator on the CPU gave a number that is not zero and smaller than the
    smallest normal one. graph: a result keeps the graph for a backward. tf32: the GPU has TF32.
    """

    device: str = "cpu"
    operators: set[str] = field(default_factory=set)
    images: bool = False
    low: bool = False
    denormal: bool = False
    graph: bool = False
    tf32: bool = False

    def ran(self, *parts: str) -> bool:
        """Whether an operator ran whose name has one of these parts between underscores, or is one of them."""
        return any(f"_{part}_" in f"_{name}_" for part in parts for name in self.operators)


class _Watch(TorchDispatchMode):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name, look = function.overloadpacket.__name__.strip("_"), self.look
        look.operators.add(name)
        for value in tensors_of((args, result)):
            look.images = look.images or ("convolution" in name and value.dim() == 4)
            if value.is_floating_point():
                look.low = look.low or value.dtype in LOW
                look.denormal = look.denormal or _denormal(value)
            if value.device.type != "cpu":
                look.device = value.device.type
        return result


def _denormal(value: torch.Tensor) -> bool:
    """Whether a tensor on the CPU holds a denormal number."""
    if (
        value.device.type != "cpu"
        or value.layout is not torch.strided
        or value.dtype not in (torch.float32, torch.float64)
    ):
        return False
    size = value.detach().abs()
    return bool(((size > 0) & (size < torch.finfo(value.dtype).smallest_normal)).any())


def look_at(step: Callable[[], Any]) -> Look:
    """Run the step once and tell what ran."""
    look = Look()
    with _Watch(look):
        result = step()
    look.graph = any(value.requires_grad for value in tensors_of(result))
    look.tf32 = look.device == "cuda" and torch.cuda.get_device_capability() >= (8, 0)
    return look


def tensors_of(value: Any) -> Iterable[torch.Tensor]:
    """The tensors in a result: in tuples, lists, dicts and dataclass-like objects of them, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors_of(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_of(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_of(getattr(value, name, None))
