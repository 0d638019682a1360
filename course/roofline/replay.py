"""The calls of a model's layers: caught in one run with the inputs they got, timed afterwards in rounds.

A round empties the cache once and then times every call once, in random order, each on inputs of its own: none
finds its data in the cache, and rounds spread every layer's samples over the whole budget.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course.roofline.exported import REST
from course.roofline.inside import around
from course.roofline.machine import cache_bytes, clock, free_bytes, wait
from course.roofline.tensors import copied, moved, size, tensors
from course.roofline.words import cannot

LARGEST_SWEEP = 512 << 20
"""Bytes read at most to empty a cache."""


@dataclass(eq=False, kw_only=True)
class Call:
    """A function on arguments of its own, to be timed. A layer is called with its hooks: they may do part of its work.

    written: whether a run writes to the arguments, so that each gets new copies. context: entered around each run. samples_s: seconds,
    one value a run.
    """

    forward: Callable[..., Any]
    arguments: tuple[Any, Any]
    written: bool = False
    context: Callable[[], Any] = nullcontext
    samples_s: list[float] = field(default_factory=list)

    def renew(self) -> None:
        """New copies of arguments that a run writes to."""
        self.now = copied(self.arguments) if self.written else self.arguments

    def __call__(self) -> Any:
        args, kwargs = self.now
        return self.forward(*args, **kwargs)

    def time(self, device: str) -> None:
        """Run it once and keep the time."""
        now = clock(device)
        with self.context():
            wait(device)
            began = now()
            self()
            wait(device)
            self.samples_s.append(now() - began)


@dataclass(eq=False)
class Unit:
    """A module and what was seen of it. moved: bytes of all its calls. calls: how often it ran. timed: its calls, if it is a layer.
    kernels_s: on a GPU, the seconds of its kernels, one value a run.
    """

    name: str
    module: nn.Module
    moved: int = 0
    calls: int = 0
    timed: list[Call] = field(default_factory=list)
    kernels_s: list[float] = field(default_factory=list)

    @property
    def samples_s(self) -> list[float]:
        """Seconds of all its calls, one value a round."""
        rounds = zip(*(call.samples_s for call in self.timed), strict=True)
        return self.kernels_s or [sum(seconds) for seconds in rounds]


class Capture:
    """One run of the whole in which modules note their bytes, and layers get their calls with copies of what they were given.

    layers: modules that called no other one, in the order of their first calls. Modules of nn.utils.parametrize, which make a weight
    of the layer they are in, belong to that layer. Raises RooflineError where a call cannot be repeated alone.
    """

    def __init__(self, whole: Call, device: str) -> None:
        self.whole, self.device = whole, device
        self.room = float("inf") if device.startswith("cuda") else free_bytes(device) / 3  # of copies
        self.units = {
            id(part): Unit(name, part)
            for name, part in whole.forward.named_modules()
            if "parametrizations" not in name.split(".") and not name.startswith(REST)
        }
        self.open_calls: list[Any] = []
        self.containers: set[int] = set()
        self.ran: dict[int, Unit] = {}
        self.refused: Exception | None = None
        whole.renew()
        with around([unit.module for unit in self.units.values()], self._before, self._after):
            whole()
        if self.refused:
            raise self.refused
        self.layers = [unit for key, unit in self.ran.items() if key not in self.containers]

    def _before(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if self.open_calls and self.open_calls[-1][0] is not module:
            self.containers.add(id(self.open_calls[-1][0]))
        self.ran.setdefault(id(module), self.units[id(module)])
        inputs = tensors((args, kwargs))
        self.open_calls.append(
            (module, inputs, _versions(inputs), self._own((args, kwargs), inputs), _autocast(self.device))
        )

    def _own(self, arguments: Any, inputs: Sequence[torch.Tensor]) -> Any:
        """Copies of the arguments; where there can be none, `refused` says why."""
        if any(map(torch._C._functorch.is_functorch_wrapped_tensor, inputs)):
            self.refused = cannot(
                "Layers run inside a transform of torch.func, such as vmap, and cannot be timed one by one: place one of them by itself.",
                "有的层运行在 torch.func 的变换（例如 vmap）里，无法逐层计时：请单独对其中一层使用 place。",
            )
        elif self.room < sum(map(size, inputs)):
            self.refused = cannot(
                "Copies of what the layers get do not fit into memory: give place a smaller batch.",
                "内存放不下各层输入的副本：请把批大小调小一些。",
            )
        return None if self.refused else copied(arguments)

    def _after(self, module: nn.Module, output: Any) -> None:
        _, inputs, versions, own, context = self.open_calls.pop()
        unit, written = self.units[id(module)], versions != _versions(inputs)
        unit.moved += moved(module, inputs, output, written)
        unit.calls += 1
        if id(module) not in self.containers:
            self.room -= sum(map(size, inputs))
            unit.timed.append(Call(forward=module, arguments=own, written=written, context=context))


def _versions(inputs: Sequence[torch.Tensor]) -> list[int]:
    """How often each was written to so far."""
    return [x._version for x in inputs if not x.is_inference()]


def _autocast(device: str) -> Callable[[], Any]:
    """The autocast in force, to be entered again where the call is repeated."""
    kind = device.split(":")[0]
    if not torch.is_autocast_enabled(kind):
        return nullcontext
    dtype = torch.get_autocast_dtype(kind)
    return lambda: torch.autocast(kind, dtype=dtype)


def floor(device: str, times: int = 3) -> list[Call]:
    """Calls that do next to nothing: an operator on one number."""
    return [Call(forward=nn.ReLU().forward, arguments=((torch.zeros(1, device=device),), {})) for _ in range(times)]


def sweep(device: str) -> Callable[[], Any]:
    """Reads twice the last-level cache of the device (at most 512 MiB), so that nothing else is left in it."""
    wanted = int(min(2 * cache_bytes(device), LARGEST_SWEEP, free_bytes(device) // 4))
    buffer, total = torch.ones(wanted // 4, device=device), torch.empty((), device=device)
    return lambda: torch.sum(buffer, 0, out=total)


def timed_round(calls: Sequence[Call], device: str, empty: Callable[[], Any]) -> None:
    """Empty the cache, then take one sample of every call, in random order; no garbage is collected meanwhile."""
    for call in calls:
        call.renew()
    empty()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for call in random.Random(len(calls[0].samples_s)).sample(calls, len(calls)):
            call.time(device)
    finally:
        if collecting:
            gc.enable()
