"""The calls of a model's layers: caught in one forward with the inputs they got, timed afterwards in rounds.

A round empties the cache once and then times every call once, in random order, each on inputs of its own: none
finds its data in the cache, and rounds spread every layer's samples over the whole budget.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course.roofline.copies import copied, detached
from course.roofline.memory import cache_bytes, free_bytes
from course.roofline.stopwatch import watch_for
from course.roofline.traffic import backward_moved, moved, size, tensors, weights
from course.timing.clock import Clock
from course.timing.faults import minor_faults

LARGEST_SWEEP = 512 << 20
"""Bytes read at most to empty a cache."""


@dataclass
class Unit:
    """One layer: its module and what was seen of it: bytes moved in all its calls, of its weights, shapes of the first."""

    name: str
    module: nn.Module
    moved: int = 0
    weights: int = 0
    shape: str = ""
    calls: int = 0

    def see(self, inputs: list[torch.Tensor], output: Any, written: bool) -> None:
        """Note one call: its shapes and the bytes it moved."""
        if not self.calls:
            self.shape, self.weights = shape(inputs, tensors(output)), weights(self.module, inputs)
        forward = moved(self.module, inputs, output, written)
        self.moved += forward + (backward_moved(self.module, inputs, output) if forward else 0)
        self.calls += 1


@dataclass
class Call:
    """Something to time: `run()` on arguments that `renew()` puts back where a run writes to them.

    A layer is called with the hooks that it had before, since they may do part of its work (spectral_norm, prune, weight_norm).

    step: the parameters of a training step, whose gradients a run computes too (and throws away); None: a forward.
    watch: reads the time of the calling thread. samples_s: seconds, one a round. issue_s: seconds of that thread
    alone. faults: minor page faults.
    """

    unit: Unit
    forward: Callable[..., Any]
    arguments: tuple[Any, Any]
    written: bool = False
    around: Callable[[], Any] = nullcontext
    watch: Callable[[], float] = time.perf_counter
    step: Sequence[torch.Tensor] | None = None
    samples_s: list[float] = field(default_factory=list)
    issue_s: list[float] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = self.arguments

    def renew(self) -> None:
        if self.written or self.step is not None:  # a tensor that is no leaf may be written to in a training step
            self.now = copied(self.arguments)

    def forget(self) -> None:
        """Free the arguments."""
        self.now = self.arguments = ((), {})

    def run(self) -> None:
        args, kwargs = self.now
        with self.around():
            began = self.watch()
            output = self.forward(*args, **kwargs)
            if self.step is not None:
                self._backward(output)
            self.last_s = self.watch() - began

    def _backward(self, output: Any) -> None:
        """The gradients of everything differentiable in the output, by the inputs and by the parameters."""
        outputs = [x for x in tensors(output) if x.requires_grad]
        wanted = [x for x in (*tensors(self.arguments), *(self.step or ())) if x.requires_grad]
        if outputs and wanted:
            torch.autograd.grad(outputs, wanted, [torch.ones_like(x) for x in outputs], allow_unused=True)

    def time(self, clock: Clock) -> None:
        """Run it once and store the seconds."""
        before = minor_faults()
        seconds = clock.block(self.run, 1)
        after = minor_faults()
        on_cpu = clock.device == "cpu"
        self.samples_s.append(self.last_s if on_cpu else max(seconds, self.last_s))
        self.issue_s.append(self.last_s)
        self.faults.append(after - before if on_cpu and before is not None and after is not None else 0)


class Capture:
    """Catches the calls of `units` in forwards of their model, as many at a time as `room` bytes hold.

    `next()` runs a forward and gives the calls that follow those given before; an empty list when there are no more.
    """

    def __init__(self, units: Sequence[Unit], forward: Callable[[], Any], device: str, training: bool = False) -> None:
        self.units, self.forward, self.device, self.training = units, forward, device, training
        self.given, self.total = 0, 0
        free = free_bytes(device)
        self.room = float("inf") if free is None else free / 3

    def survey(self) -> None:
        """A forward in which the layers are seen and no call is caught."""
        self.at, self.held, self.found, self.given = 0, 0, [], sys.maxsize
        with self._hooks(survey=True):
            self.forward()

    def next(self) -> list[Call]:
        first, self.at, self.held, self.found = self.total == 0, 0, 0, []
        with self._hooks(survey=first):
            self.forward()
        self.total = self.at
        self.given += len(self.found)
        return self.found

    @contextmanager
    def _hooks(self, survey: bool) -> Iterator[None]:
        """Hooks on every layer of the copy while the block runs."""
        with ExitStack() as stack:
            for unit in self.units:
                before, after = self._pair(unit, survey)
                for handle in (
                    unit.module.register_forward_pre_hook(before, with_kwargs=True, prepend=True),
                    unit.module.register_forward_hook(after, with_kwargs=True),
                ):
                    stack.callback(handle.remove)
            yield

    def _pair(self, unit: Unit, survey: bool) -> tuple[Callable[..., None], Callable[..., None]]:
        open_calls: list[tuple[list[int], Any]] = []

        def before(_module: nn.Module, args: Any, kwargs: Any) -> None:
            inputs = tensors((args, kwargs))
            own, at = None, self.at
            self.at += 1
            if at >= self.given + len(self.found) and (not self.found or self.held <= self.room):
                own = detached((args, kwargs))
                self.held += sum(map(size, inputs))
            open_calls.append(([x._version for x in inputs if not x.is_inference()], own))

        def after(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            inputs = tensors((args, kwargs))
            versions, own = open_calls.pop()
            written = versions != [x._version for x in inputs if not x.is_inference()]
            if survey:
                unit.see(inputs, output, written)
            if own is not None:
                step = list(module.parameters()) if self.training else None
                self.found.append(
                    Call(unit, module, own, written, _autocast(self.device), watch_for(self.device), step)
                )

        return before, after


def shape(inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> str:
    """As `1x64x56x56 -> 1x128x28x28`."""
    return " -> ".join(", ".join("x".join(map(str, x.shape)) or "1" for x in side) for side in (inputs, outputs))


def _autocast(device: str) -> Callable[[], Any]:
    """The autocast in force, to be entered again where the call is repeated."""
    kind = device.split(":")[0]
    if not torch.is_autocast_enabled(kind):
        return nullcontext
    dtype = torch.get_autocast_dtype(kind)
    return lambda: torch.autocast(kind, dtype=dtype)


def floor(device: str, times: int = 3) -> list[Call]:
    """Calls that do next to nothing: an operator on one number."""
    return [
        Call(
            Unit("", nn.Identity()), nn.ReLU().forward, ((torch.zeros(1, device=device),), {}), watch=watch_for(device)
        )
        for _ in range(times)
    ]


def sweep(device: str) -> Callable[[], Any]:
    """Reads twice the last-level cache of the CPU (at most 512 MiB), so that nothing else is left in it."""
    free = free_bytes(device)
    wanted = min(2 * cache_bytes(device), LARGEST_SWEEP, free // 4 if free else LARGEST_SWEEP)
    buffer, total = torch.ones(wanted // 4), torch.empty(())
    return lambda: torch.sum(buffer, 0, out=total)


def timed_round(calls: Sequence[Call], clock: Clock, empty: Callable[[], Any], order: random.Random) -> None:
    """Empty the cache, then take one sample of every call, in random order."""
    for call in calls:
        call.renew()
    empty()
    for call in order.sample(calls, len(calls)):
        call.time(clock)
