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

from course.i18n import t
from course.roofline.hooks import around
from course.roofline.machine import cache_bytes, clock, free_bytes, wait
from course.roofline.tensors import copied, moved, shape, size, tensors
from course.roofline.words import reason

LARGEST_SWEEP = 512 << 20
"""Bytes read at most to empty a cache."""


@dataclass(eq=False, kw_only=True)
class Call:
    """A function on arguments of its own, to be timed. A layer is called with its hooks: they may do part of its work.

    step: the backward runs as well. written: whether a run writes to the arguments, so that each gets new copies. context: entered
    around each run. samples_s: seconds, one value a run.
    """

    forward: Callable[..., Any]
    arguments: tuple[Any, Any]
    step: bool = False
    written: bool = False
    context: Callable[[], Any] = nullcontext
    samples_s: list[float] = field(default_factory=list)

    def renew(self) -> None:
        """New copies of arguments that a run writes to; no gradients."""
        self.now = copied(self.arguments) if self.written or self.step else self.arguments
        if self.step:
            held = self.forward.parameters() if isinstance(self.forward, nn.Module) else []
            for x in (*held, *tensors(self.arguments)):
                x.grad = None

    def __call__(self) -> Any:
        args, kwargs = self.now
        output = self.forward(*args, **kwargs)
        if self.step and (outputs := [x for x in tensors(output) if x.requires_grad]):
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
        return output

    def time(self, device: str) -> None:
        """Run it once and keep the time."""
        now = clock(device)
        with self.context(), torch.set_grad_enabled(self.step):
            wait(device)
            began = now()
            self()
            wait(device)
            self.samples_s.append(now() - began)


@dataclass(eq=False)
class Unit:
    """One layer: its module and what was seen of it. moved: bytes of all its calls. shape: of its first call. calls: how often it ran;
    steps: how often with a backward. timed: its calls. parts: its part of each run that was profiled.
    """

    name: str
    module: nn.Module
    moved: int = 0
    shape: str = ""
    calls: int = 0
    steps: int = 0
    timed: list[Call] = field(default_factory=list)
    parts: list[float] = field(default_factory=list)

    @property
    def samples_s(self) -> list[float]:
        """Seconds of all its calls, one value a round."""
        return [sum(seconds) for seconds in zip(*(call.samples_s for call in self.timed), strict=True)]


def layers_of(model: nn.Module, run: Callable[[], Any]) -> list[str]:
    """The names of a model's layers: modules that run in `run()` and call no other one, in the order of their first calls.

    Modules of nn.utils.parametrize, which make a weight of the layer they are in, belong to that layer.
    """
    names = {module: name for name, module in model.named_modules() if "parametrizations" not in name.split(".")}
    open_calls: list[nn.Module] = []
    called: dict[nn.Module, bool] = {}  # whether it called another one

    def before(module: nn.Module, _args: Any, _kwargs: Any) -> None:
        called.setdefault(module, False)
        if open_calls and open_calls[-1] is not module:
            called[open_calls[-1]] = True
        open_calls.append(module)

    with around(names, before, lambda *_: open_calls.pop()):
        run()
    return [names[module] for module, calls_others in called.items() if not calls_others]


class Capture:
    """One run of the whole in which each layer notes its shapes and bytes, and gets its calls with copies of what they were given.

    In a step, layers that torch.utils.checkpoint runs again in the backward have more calls than backwards.
    keep: whether calls are kept at all. why: why some cannot be repeated alone, in the learner's language; "" where all can.
    """

    def __init__(self, layers: Sequence[Unit], whole: Call, device: str, keep: bool) -> None:
        self.units = {id(unit.module): unit for unit in layers}
        self.whole, self.device, self.keep, self.room = whole, device, keep, free_bytes(device) / 3
        self.open_calls: list[Any] = []
        self.why, self.in_forward = "", True
        run = Call(forward=self._forward, arguments=whole.arguments, step=whole.step, written=True)
        run.renew()
        with around([unit.module for unit in layers], self._before, self._after):
            run()

    def _forward(self, *args: Any, **kwargs: Any) -> Any:
        output = self.whole.forward(*args, **kwargs)
        self.in_forward = False
        return output

    def _before(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        inputs, own = tensors((args, kwargs)), None
        self.room -= sum(map(size, inputs))
        if self.keep and not self.why:
            self.why = self._hindrance(inputs, module)
            if not self.why:
                try:
                    own = copied((args, kwargs), leaves=True)
                except Exception as error:
                    self.why = reason(error)
        self.open_calls.append((inputs, _versions(inputs), own, _autocast(self.device)))

    def _hindrance(self, inputs: Sequence[torch.Tensor], module: nn.Module) -> str:
        if any(map(torch._C._functorch.is_functorch_wrapped_tensor, (*inputs, *module.parameters()))):
            return t(
                "they run inside a transform of torch.func, such as vmap", "它们运行在 torch.func 的变换（例如 vmap）里"
            )
        if self.room < 0:
            return t("copies of their inputs do not fit into memory", "内存放不下它们输入的副本")
        return ""

    def _after(self, module: nn.Module, output: Any) -> None:
        inputs, versions, own, context = self.open_calls.pop()
        unit, written = self.units[id(module)], versions != _versions(inputs)
        step = self.whole.step and torch.is_grad_enabled() and (self.in_forward or not unit.steps)
        if not unit.calls:
            unit.shape = shape(inputs, tensors(output))
        unit.moved += moved(module, inputs, output, written, step)
        unit.calls += 1
        unit.steps += step and self.in_forward
        if own is not None:
            unit.timed.append(Call(forward=module, arguments=own, step=step, written=written, context=context))


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
