"""`place`: every layer of a model against the measured roof of the machine it runs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from course.flops import CountError, FlopCount, count
from course.flops.restore import modules_kept
from course.i18n import t
from course.roofline import asked
from course.roofline.layer import Layer
from course.roofline.peaks import peaks
from course.roofline.result import Roofline
from course.roofline.roof import Peaks
from course.roofline.traffic import moved, tensors
from course.roofline.words import RooflineError, is_out_of_memory, percent, too_little_memory
from course.timing import clock_for, guard, interrupts_propagate, measure
from course.timing.clock import Clock, end_progress, progress

MAX_TIME = 5.0
WHOLE_SHARE = 0.25
"""Part of the budget that goes into timing the model in one piece."""
LEAST_S = 0.004
"""Shortest budget of one layer, in seconds."""

_peaks_now = peaks  # `place` has a parameter of that name


@dataclass
class _Seen:
    """What the hooks saw of one layer: bytes and milliseconds of all its calls."""

    name: str
    module: nn.Module
    moved: int = 0
    time_ms: float = 0.0
    calls: int = 0


def place(model: nn.Module, *inputs: Any, peaks: Peaks | None = None, max_time: float = MAX_TIME,
          cache: str = "hot", **kwargs: Any) -> Roofline:
    """Place `model(*inputs, **kwargs)` and each of its layers under the machine's roof.

    For each layer (a module without children, or one that does the work of its children itself, such as
    nn.MultiheadAttention): FLOPs (course.flops), bytes moved at least, FLOPs a byte, measured time, achieved
    rate and share of the roof. The forward runs without gradients, in the mode the model is in; nothing stays
    behind: no hook, changed buffer, moved random generator or written input, also after an exception.

    peaks: default, the ones of the model's device and type, measured once and kept. max_time: seconds for
    timing; every layer is timed at least once. cache: hot (layers find their data in the cache where it
    fits) or cold (before every call the cache is overwritten, as after other large work). An interrupt
    returns the layers measured so far.
    Raises RooflineError, in words, for anything that cannot be placed.
    """
    given = (*inputs, *kwargs.values())
    model = asked.checked(model, given)
    guard.require_positive(max_time=max_time)
    device = asked.where(model, given)
    try:
        counted = count(model, *inputs, **kwargs)
    except CountError as error:
        if is_out_of_memory(error):
            raise too_little_memory(device) from error
        raise RooflineError(str(error)) from error
    clock, dtype = clock_for(device, cache=cache), asked.dtype(model, given)
    roof = _peaks_now(device, dtype) if peaks is None else peaks
    notes = asked.mismatch(roof, device, dtype)
    with asked.in_words(device):
        run = _Run(model, inputs, kwargs, counted, device, max_time, clock)
        run.go()
    return run.result(roof, notes)


def _units(model: nn.Module, counted: FlopCount) -> list[_Seen]:
    """The layers: modules without children, and those whose children's work is done in their own forward."""
    tree = {node.name: node for _, node in counted.by_module.walk()}
    found: list[_Seen] = []

    def visit(name: str, module: nn.Module) -> None:
        children = [(f"{name}.{key}" if name else key, child) for key, child in module.named_children()]
        node = tree.get(name)
        own_only = node is not None and node.own > 0 and all(
            below is node or not below.calls for _, below in node.walk())
        if not children or own_only:
            if all(seen.module is not module for seen in found):
                found.append(_Seen(name, module))
            return
        for key, child in children:
            visit(key, child)

    visit("", model)
    return found


class _Run:
    """One placing while it is under way."""

    def __init__(self, model: nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any], counted: FlopCount,
                 device: str, max_time: float, clock: Clock) -> None:
        self.model, self.asked, self.counted, self.device = model, (inputs, kwargs), counted, device
        self.max_time, self.clock = max_time, clock
        self.units = _units(model, counted)
        calls = {node.name: node.calls for _, node in counted.by_module.walk()}
        total = sum(calls.get(unit.name, 1) for unit in self.units)
        self.each_s = max((1 - WHOLE_SHARE) * max_time / max(total, 1), LEAST_S)
        self.order: list[_Seen] = []
        self.whole_ms, self.complete = 0.0, True

    def go(self) -> None:
        """The model in one piece, then one forward in which every layer is timed as it is reached."""
        bar = progress(self.max_time, t("placing the layers", "逐层测量"))
        try:
            with _nothing_left(self.model, self.device), torch.no_grad(), interrupts_propagate():
                args, kwargs = _copied(self.asked)
                part = WHOLE_SHARE * self.max_time
                self.whole_ms = self._time(lambda: self.model(*args, **kwargs), part)
                bar.update(part)
                args, kwargs = _copied(self.asked)
                with self._hooks(bar):
                    self.model(*args, **kwargs)
        except KeyboardInterrupt:
            if not (self.order and guard.swallow_interrupt(True)):
                raise
            self.complete = False
        finally:
            end_progress(bar)

    def _time(self, f: Callable[[], Any], budget_s: float) -> float:
        """Median milliseconds of one call, on the clock of the device, fenced."""
        return measure(f, max_time=budget_s, clock=self.clock, calibrate=None).median_ms

    @contextmanager
    def _hooks(self, bar: Any) -> Iterator[None]:
        """Hooks on every layer while the block runs; gone afterwards, whatever happens."""
        with ExitStack() as stack:
            for unit in self.units:
                before, after = self._pair(unit, bar)
                for handle in (unit.module.register_forward_pre_hook(before, with_kwargs=True),
                               unit.module.register_forward_hook(after, with_kwargs=True)):
                    stack.callback(handle.remove)
            yield

    def _pair(self, unit: _Seen, bar: Any) -> tuple[Callable[..., None], Callable[..., None]]:
        versions: list[list[int]] = []

        def before(_module: nn.Module, args: Any, kwargs: Any) -> None:
            versions.append([x._version for x in _versioned(args, kwargs)])

        def after(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            written = versions.pop() != [x._version for x in _versioned(args, kwargs)]
            traffic = moved(module, tensors((args, kwargs)), output, written)
            if written:  # timing repeats the call: the values of this forward must not be written again
                args, kwargs = _copied((args, kwargs))
            spent = self._time(lambda: module.forward(*args, **kwargs), self.each_s)
            unit.moved, unit.time_ms, unit.calls = unit.moved + traffic, unit.time_ms + spent, unit.calls + 1
            if unit.calls == 1:
                self.order.append(unit)
            bar.update(self.each_s)

        return before, after

    def result(self, roof: Peaks, notes: list[str]) -> Roofline:
        """What was seen, as a Roofline."""
        flops = {node.name: node.flops for _, node in self.counted.by_module.walk()}
        kind = type(self.model).__name__
        layers = tuple(Layer(u.name, type(u.module).__name__, flops.get(u.name, 0), u.moved, u.time_ms,
                             u.calls, roof) for u in self.order)
        whole = Layer("", kind, self.counted.flops, sum(u.moved for u in self.order), self.whole_ms, 1, roof)
        notes = [*notes, *self._remarks(layers, whole)]
        alone = len(layers) == 1 and layers[0].name == ""
        return Roofline(whole, () if alone else layers, roof, self.clock.cache,
                        self.complete, tuple(notes))

    def _remarks(self, layers: tuple[Layer, ...], whole: Layer) -> list[str]:
        notes = []
        if not self.complete:
            notes.append(t("Interrupted: the layers that follow were not measured, and the bytes of the "
                           "whole model are those of the layers shown.",
                           "已中断：后面的层没有测量，整个模型的字节数只含已列出的层。"))
        outside = whole.flops - sum(layer.flops for layer in layers)
        if self.complete and whole.flops and outside > 0.001 * whole.flops:
            notes.append(t(
                f"{percent(outside / whole.flops)} of the work is done outside the layers (functions called "
                "in a forward, such as attention): it is in the whole model's FLOPs, its traffic in no row.",
                f"{percent(outside / whole.flops)} 的工作量在各层之外完成（forward 里直接调用的函数，例如注意力）："
                "它计入整个模型的 FLOPs，但其访存不在任何一行里。",
            ))
        if not self.counted.exact:
            names = ", ".join(self.counted.unknown)
            notes.append(t(f"FLOPs are a lower bound: no formula for {names}.",
                           f"FLOPs 只是下界：没有以下算子的公式：{names}。"))
        return notes


def _copied(arguments: Any) -> Any:
    """The same arguments with every tensor cloned."""
    return tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, arguments)


def _versioned(args: Any, kwargs: Any) -> list[torch.Tensor]:
    return [x for x in tensors((args, kwargs)) if not x.is_inference()]


@contextmanager
def _nothing_left(model: nn.Module, device: str) -> Iterator[None]:
    """Put back every attribute, buffer and random generator that forwards may change."""
    modules = list(model.modules())
    saved = [(buffer, buffer.clone()) for buffer in model.buffers()]
    with _generators_kept(device):
        try:
            with modules_kept(modules):
                yield
        finally:
            with torch.no_grad():
                for buffer, values in saved:
                    buffer.copy_(values)


@contextmanager
def _generators_kept(device: str) -> Iterator[None]:
    """Put back torch's random generators of the CPU and of `device`."""
    kind = device.split(":")[0]
    states = torch.mps.get_rng_state() if kind == "mps" else None
    devices = [torch.device(device)] if kind in ("cuda", "xpu") else []
    with torch.random.fork_rng(devices=devices, device_type=kind if devices else "cuda"):
        try:
            yield
        finally:
            if states is not None:
                torch.mps.set_rng_state(states)
