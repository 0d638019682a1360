"""The calls of a model's layers: caught in one run with the inputs they got, timed afterwards in rounds.

A round empties the cache once and then times every call once, in random order, each on inputs of its own: none
finds its data in the cache, and rounds spread every layer's samples over the whole budget.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course.core.machine import passport
from course.roofline.exported import REST
from course.roofline.inside import around
from course.roofline.machine import cache_bytes
from course.roofline.tensors import copied, moved, size, tensors
from course.roofline.words import cannot
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
    on_gpu, ran, open_units = device.startswith("cuda"), dict[str, Unit](), list[Unit]()
    room = float("inf") if on_gpu else (passport("cpu")["memory_gib"] or 8) * 2**30 / 3  # for copies

    def seen(module: nn.Module, call: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        nonlocal room
        unit, inputs = units[id(module)], tensors((args, kwargs))
        ran.setdefault(unit.name, unit)
        if open_units:
            open_units[-1].container = True
        _check(inputs, room)
        versions, own, context = _versions(inputs), copied((args, kwargs)), _autocast(device)
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


def _check(inputs: Sequence[torch.Tensor], room: float) -> None:
    """Raises RooflineError where there can be no copies of these."""
    if any(map(torch._C._functorch.is_functorch_wrapped_tensor, inputs)):
        raise cannot(
            "Layers run inside a transform of torch.func, such as vmap, and cannot be timed one by one: place one of them by itself.",
            "有的层运行在 torch.func 的变换（例如 vmap）里，无法逐层计时：请单独对其中一层使用 place。",
        )
    if room < sum(map(size, inputs)):
        raise cannot(
            "Copies of what the layers get do not fit into memory: give place a smaller batch.",
            "内存放不下各层输入的副本：请把批大小调小一些。",
        )


def _versions(inputs: Sequence[torch.Tensor]) -> list[int]:
    """How often each was written to so far."""
    return [x._version for x in inputs if not x.is_inference()]


def _autocast(device: str) -> Callable[[], AbstractContextManager[Any]]:
    """The autocast in force, to be entered again where the call is repeated."""
    kind = device.split(":")[0]
    if not torch.is_autocast_enabled(kind):
        return nullcontext
    dtype = torch.get_autocast_dtype(kind)
    return lambda: torch.autocast(kind, dtype=dtype)


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
