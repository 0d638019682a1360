"""The calls of a model's layers: caught in one run with the inputs they got, timed afterwards in rounds.

A round empties the cache once and then times every call once, in random order, each on inputs of its own: none
finds its data in the cache, and rounds spread every layer's samples over the whole budget.
"""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from course.core.i18n import t
from course.core.machine import passport
from course.core.tensors import tensors_of as tensors
from course.roofline.exported import REST
from course.roofline.inside import around
from course.roofline.layer import RooflineError
from course.roofline.peaks import cache_bytes
from course.timing import Clock

LARGEST_SWEEP = 512 << 20
"""Bytes read at most to empty a cache."""
FLOOR = "(floor)"
"""The name of calls that do next to nothing."""


@dataclass
class Call:
    """A function on arguments of its own, to be timed. A layer is called with its hooks: they may do part of its work.

    of: the name of the layer. written: whether a run writes to the arguments, so that each gets new copies. context: gives what is entered
    around each run.
    """

    of: str
    forward: Callable[..., Any]
    arguments: tuple[Any, Any]
    written: bool = False
    context: Callable[[], AbstractContextManager[Any]] = nullcontext

    def renew(self) -> None:
        """New copies of arguments that a run writes to."""
        self.now = copied(self.arguments) if self.written else self.arguments

    def __call__(self) -> Any:
        args, kwargs = self.now
        return self.forward(*args, **kwargs)


@dataclass(eq=False)
class Unit:
    """A module and what was seen of it. moved: bytes of all its calls. calls: how often it ran. container: whether it called another one.
    timed: its calls, if it is a layer.
    """

    name: str
    module: nn.Module
    moved: int = 0
    calls: int = 0
    container: bool = False
    timed: list[Call] = field(default_factory=list)


def capture(whole: Call, device: str) -> list[Unit]:
    """One run of the whole in which modules note their bytes, and layers get their calls with copies of what they were given: those that
    ran, in the order of their first calls.

    Modules of nn.utils.parametrize, which make a weight of the layer they are in, belong to that layer. Raises RooflineError where
    a call cannot be repeated alone.
    """
    units = {
        id(part): Unit(name, part)
        for name, part in whole.forward.named_modules()
        if "parametrizations" not in name.split(".") and not name.startswith(REST)
    }
    kind, ran, open_units = device.split(":")[0], dict[str, Unit](), list[Unit]()
    room = float("inf") if kind == "cuda" else (passport("cpu")["memory_gib"] or 8) * 2**30 / 3  # for copies

    def seen(module: nn.Module, call: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        nonlocal room
        unit, inputs = units[id(module)], tensors((args, kwargs))
        ran.setdefault(unit.name, unit)
        if open_units:
            open_units[-1].container = True
        if room < sum(map(size, inputs)) or any(map(torch._C._functorch.is_functorch_wrapped_tensor, inputs)):
            raise RooflineError(
                t(
                    "Copies of what the layers get do not fit into memory, or the layers run inside torch.vmap: give place a smaller "
                    "batch, or one of the layers by itself.",
                    "内存放不下各层输入的副本，或者这些层运行在 torch.vmap 里：请把批大小调小一些，或者单独对其中一层使用 place。",
                )
            )
        versions, own = _versions(inputs), copied((args, kwargs))
        context = partial(torch.autocast, kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind))
        open_units.append(unit)
        try:
            output = call()
        finally:
            open_units.pop()
        written = versions != _versions(inputs)
        unit.moved += moved(module, inputs, output, written)
        unit.calls += 1
        if not unit.container:
            room -= sum(map(size, inputs))
            unit.timed.append(Call(unit.name, module, own, written, context))
        return output

    whole.renew()
    with around([unit.module for unit in units.values()], seen):
        whole()
    return [*ran.values()]


def _versions(inputs: Sequence[torch.Tensor]) -> list[int]:
    """How often each was written to so far."""
    return [x._version for x in inputs if not x.is_inference()]


def floor(device: str) -> list[Call]:
    """Calls that do next to nothing: an operator on one number."""
    return [Call(FLOOR, nn.ReLU().forward, ((torch.zeros(1, device=device),), {})) for _ in range(3)]


def sweep(device: str) -> Callable[[], Any]:
    """Reads twice the last-level cache of the device (at most 512 MiB), so that nothing else is left in it."""
    wanted = min(2 * cache_bytes(device), LARGEST_SWEEP)
    buffer, total = torch.ones(wanted // 4, device=device), torch.empty((), device=device)
    return lambda: torch.sum(buffer, 0, out=total)


def timed_round(calls: Sequence[Call], clock: Clock, empty: Callable[[], Any]) -> Mapping[str, list[float]]:
    """Empty the cache, then time every call once, in random order: layer -> seconds of each of its calls."""
    for call in calls:
        call.renew()
    empty()
    found = defaultdict[str, list[float]](list)
    for call in random.Random().sample(calls, len(calls)):
        with call.context():
            found[call.of].append(clock.block(call, 1))
    return found


def size(tensor: torch.Tensor) -> int:
    """Bytes that must be touched to see every element; an expanded tensor is no larger than its storage."""
    dense, storage = tensor.numel() * tensor.element_size(), _storage(tensor)
    return dense if storage is None else min(dense, storage.nbytes())


def _storage(tensor: torch.Tensor) -> Any:
    """Its memory, or None: nested and sparse ones, and those under vmap, have none of their own."""
    try:
        return None if tensor.is_nested else tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def moved(module: nn.Module, inputs: list[torch.Tensor], output: Any, written: bool) -> int:
    """Least bytes of one call: inputs, weights, outputs, each once; of an embedding only the rows looked up. A view of an input that nobody
    wrote to (Flatten) moves none.

    written: whether the call wrote to one of its inputs.
    """
    outputs, given = tensors(output), {id(x) for x in inputs}
    own = sum(size(x) for x in tensors([*module.parameters(), *module.buffers()]) if id(x) not in given)
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and inputs:
        own = min(own, inputs[0].numel() * module.embedding_dim * module.weight.element_size())
    seen = {storage.data_ptr() for x in inputs if (storage := _storage(x)) is not None}
    if not own and not written and outputs and all((s := _storage(x)) and s.data_ptr() in seen for x in outputs):
        return 0
    return sum(map(size, (*inputs, *outputs))) + own


def copied(values: Any) -> Any:
    """The same values, objects such as a cache too, with every tensor cloned and out of its graph; an expanded one stays as small as it is.

    Raises what copy.deepcopy raises for what it cannot copy.
    """
    own = {}
    for x in tensors(values):
        expanded = size(x) < x.numel() * x.element_size()
        own[id(x)] = x.detach() if expanded else x.detach().clone()
    return copy.deepcopy(values, own)
