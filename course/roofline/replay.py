"""The calls of a model's layers: caught in one forward with the inputs they got, timed afterwards in rounds.

A round empties the cache once and then times every call once, in random order, each on inputs of its own: none
finds its data in the cache, and rounds spread every layer's samples over the whole budget.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from course.roofline.copies import copied, detached
from course.roofline.memory import cache_bytes, free_bytes
from course.roofline.traffic import backward_moved, moved, size, tensors, weights
from course.timing import stats
from course.timing.clock import Clock, issue_s
from course.timing.faults import minor_faults

LARGEST_SWEEP = 512 << 20
"""Bytes read at most to empty a cache."""


@dataclass(eq=False)
class Samples:
    """What was measured, one value a round: seconds; on an accelerator, seconds of the thread that issues the call; minor page
    faults."""

    samples_s: list[float] = field(default_factory=list)
    issue_s: list[float] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)


@dataclass
class Unit:
    """One layer: its module, what was seen of it, and the samples of its calls, which add up.

    moved: bytes in all its calls. weights: bytes of its weights. shape: of its first call. calls: how often it ran.
    """

    name: str
    module: nn.Module
    moved: int = 0
    weights: int = 0
    shape: str = ""
    calls: int = 0
    timed: list[Samples] = field(default_factory=list)

    def see(self, inputs: list[torch.Tensor], output: Any, written: bool) -> None:
        """Note one call: its shapes and the bytes it moved."""
        if not self.calls:
            self.shape, self.weights = shape(inputs, tensors(output)), weights(self.module, inputs)
        forward = moved(self.module, inputs, output, written)
        self.moved += forward + (backward_moved(self.module, inputs, output) if forward else 0)
        self.calls += 1

    @property
    def samples_s(self) -> list[float]:
        """Seconds of all its calls, one value a round."""
        return [sum(seconds) for seconds in zip(*(call.samples_s for call in self.timed), strict=False)]

    @property
    def issue_s(self) -> float:
        """Seconds of the thread that issues its calls."""
        return sum(stats.median(call.issue_s) for call in self.timed if call.issue_s)

    @property
    def faults(self) -> float:
        """Minor page faults of all its calls."""
        return sum(stats.median(call.faults) for call in self.timed if call.faults)


@dataclass(eq=False, kw_only=True)
class Call(Samples):
    """A function on arguments, to be timed; `renew()` puts the arguments back where a run writes to them.

    A layer is called with the hooks that it had before, since they may do part of its work (spectral_norm, prune, weight_norm).

    step: the parameters of a training step, whose gradients a run computes too (and throws away); None: a forward.
    """

    forward: Callable[..., Any]
    arguments: tuple[Any, Any]
    written: bool = False
    around: Callable[[], Any] = nullcontext
    step: Sequence[torch.Tensor] | None = None

    def __post_init__(self) -> None:
        self.now = self.arguments

    def renew(self) -> None:
        if self.written or self.step is not None:  # a tensor that is no leaf may be written to in a training step
            self.now = copied(self.arguments)

    def forget(self) -> None:
        """Free the arguments."""
        self.now = self.arguments = ((), {})

    def __call__(self) -> None:
        args, kwargs = self.now
        output = self.forward(*args, **kwargs)
        if self.step is not None:
            self._backward(output)

    def _backward(self, output: Any) -> None:
        """The gradients of everything differentiable in the output, by the inputs and by the parameters."""
        outputs = [x for x in tensors(output) if x.requires_grad]
        wanted = [x for x in (*tensors(self.arguments), *(self.step or ())) if x.requires_grad]
        if outputs and wanted:
            torch.autograd.grad(outputs, wanted, [torch.ones_like(x) for x in outputs], allow_unused=True)

    def time(self, clock: Clock) -> None:
        """Run it once and keep what was measured."""
        before = minor_faults()
        with self.around():
            seconds = clock.block(self, 1)
        after = minor_faults()
        if clock.device == "cpu":
            self.faults.append(0 if before is None or after is None else after - before)
        else:
            self.issue_s.append(issue_s(clock, self) or 0.0)
            seconds = max(seconds, self.issue_s[-1])
        self.samples_s.append(seconds)


class Capture:
    """Sees the calls of `units` in forwards of their model, and catches them with the arguments they got.

    seen: the units that ran, in this order. training: the calls caught are steps, forward and backward.
    """

    def __init__(self, units: Sequence[Unit], forward: Callable[[], Any], device: str, training: bool) -> None:
        self.units, self.forward, self.device, self.training = units, forward, device, training
        self.seen: list[Unit] = []
        self.given, self.total = 0, 0
        free = free_bytes(device)
        self.room = math.inf if free is None else free / 3

    def survey(self) -> None:
        """A forward in which the layers are seen and no call is caught."""
        self._run(given=math.inf)

    def parts(self) -> Iterator[list[Call]]:
        """All calls, as many at a time as `room` bytes hold; each part is caught in a forward of its own."""
        while not self.total or self.given < self.total:
            self._run(self.given)
            if not self.found:
                return
            self.given += len(self.found)
            yield self.found

    def _run(self, given: float) -> None:
        """A forward; `found` gets the calls that follow the first `given` ones, as far as there is room."""
        self.at, self.held, self.found = 0, 0, list[Call]()
        with self._hooks(given, survey=not self.total):
            self.forward()
        self.total = self.at

    @contextmanager
    def _hooks(self, given: float, survey: bool) -> Iterator[None]:
        """Hooks on every layer of the copy while the block runs."""
        with ExitStack() as stack:
            for unit in self.units:
                before, after = self._pair(unit, given, survey)
                for handle in (
                    unit.module.register_forward_pre_hook(before, with_kwargs=True, prepend=True),
                    unit.module.register_forward_hook(after, with_kwargs=True),
                ):
                    stack.callback(handle.remove)
            yield

    def _pair(self, unit: Unit, given: float, survey: bool) -> tuple[Callable[..., None], Callable[..., None]]:
        open_calls: list[tuple[list[int], Any]] = []

        def before(_module: nn.Module, args: Any, kwargs: Any) -> None:
            inputs = tensors((args, kwargs))
            own = None
            if self.at >= given and (not self.found or self.held <= self.room):
                own = detached((args, kwargs))
                self.held += sum(map(size, inputs))
            self.at += 1
            open_calls.append((_versions(inputs), own))

        def after(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            inputs = tensors((args, kwargs))
            versions, own = open_calls.pop()
            written = versions != _versions(inputs)
            if survey:
                if not unit.calls:
                    self.seen.append(unit)
                unit.see(inputs, output, written)
            if own is not None:
                call = Call(
                    forward=module,
                    arguments=own,
                    written=written,
                    around=_autocast(self.device),
                    step=list(module.parameters()) if self.training else None,
                )
                unit.timed.append(call)
                self.found.append(call)

        return before, after


def shape(inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> str:
    """As `1x64x56x56 -> 1x128x28x28`."""
    return " -> ".join(", ".join("x".join(map(str, x.shape)) or "1" for x in side) for side in (inputs, outputs))


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


def floor(times: int = 3) -> list[Call]:
    """Calls on a CPU that do next to nothing: an operator on one number."""
    return [Call(forward=nn.ReLU().forward, arguments=((torch.zeros(1),), {})) for _ in range(times)]


def sweep() -> Callable[[], Any]:
    """Reads twice the last-level cache of the CPU (at most 512 MiB), so that nothing else is left in it."""
    free = free_bytes("cpu")
    wanted = min(2 * cache_bytes("cpu"), LARGEST_SWEEP, free // 4 if free else LARGEST_SWEEP)
    buffer, total = torch.ones(wanted // 4), torch.empty(())
    return lambda: torch.sum(buffer, 0, out=total)


def timed_round(calls: Sequence[Call], clock: Clock, empty: Callable[[], Any], order: random.Random) -> None:
    """Empty the cache, then take one sample of every call, in random order."""
    for call in calls:
        call.renew()
    empty()
    for call in order.sample(calls, len(calls)):
        call.time(clock)
