"""`place`: every layer of a model against the measured roof of the machine it runs on."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch import nn

from course.core.bars import end_progress, progress, reach
from course.core.generators import generators_preserved
from course.core.i18n import t
from course.flops import FlopCount, count
from course.flops.copies import Copies
from course.flops.standins import Real
from course.roofline.exported import is_exported, regrouped
from course.roofline.inside import by_clock, by_kernels, look_s, no_hooks_of_all_modules
from course.roofline.layer import OUTSIDE, TINY, Layer, Peaks
from course.roofline.machine import clock
from course.roofline.peaks import QUIET, kept_peaks, precision
from course.roofline.replay import FLOOR, Call, Unit, capture, floor, sweep, timed_round
from course.roofline.result import Roofline
from course.roofline.tensors import tensors
from course.roofline.words import cannot
from course.timing import enough
from course.timing.rounds import out_of_time
from course.timing.stats import median_interval
from course.timing.validation import require_positive

MOST_ROUNDS = 100
STEADY_CALLS = 5
"""Runs of the whole in a row without a wait, on a GPU."""


def place(model: nn.Module, *inputs: Any, peaks: Peaks | None = None, max_time: float = 5.0, **kwargs: Any) -> Roofline:
    """Where the time of a forward goes, in one table: place `model(*inputs, **kwargs)` and each of its layers under the roof.

    For each layer (a module that calls no other one): FLOPs (course.flops), bytes moved at least, measured time, its part of the time
    with the likely range, what limits it (compute, memory, or neither: overhead) and how far from the roof it is. What runs outside the
    layers is a row of its own; the parts add up to 100 %. A model of torch.export shows the modules it came from. Print it, show
    it in a notebook, or ask `.rows()` (plain dicts for pandas).

    The forward runs without gradients, in the mode the model is in, and on copies of model and inputs: nothing of yours changes, also
    after an exception, and random generators are put back. Hooks of yours run on copies of what they write to, those of all modules as
    often as in one forward. (What a forward itself does outside of its model, such as writing a file, it does here too, in each run.)

    On an NVIDIA GPU a layer's time is that of its kernels inside the whole forward, and that the GPU idles is a fact of the
    whole. Elsewhere each layer is timed by itself, with its data out of the cache; on a CPU with one thread the time is that of the
    thread, without what other programs took, else it is wall time. What runs outside the layers is timed inside the whole.

    peaks: default, those of the model's device and type, measured once in a process. A layer that is seen to beat them raises them,
    with a note. max_time: most seconds for timing; every layer is timed at least once. Raises RooflineError or CountError, in words,
    for what cannot be placed, and what the model raises when it runs again.
    """
    if not isinstance(model, nn.Module):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise cannot(
            f"place needs a model, an object of an nn.Module, and got {kind}. Write place(model, x), the model first.",
            f"place 需要模型，也就是 nn.Module 的对象，得到的却是 {kind}。请写成 place(model, x)，模型放在前面。",
        )
    require_positive(max_time=max_time)
    model = regrouped(model) if is_exported(model) else model
    device, dtype = _where(tensors([*model.parameters(), *model.buffers(), *inputs, *kwargs.values()]))
    with torch.no_grad(), no_hooks_of_all_modules():
        counted = count(model, *inputs, **kwargs)
    roof = peaks or kept_peaks(device, dtype, torch.get_num_threads(), precision(device))
    return _Run(model, (inputs, kwargs), device, max_time).result(counted, roof)


def _where(held: Sequence[torch.Tensor]) -> tuple[str, torch.dtype]:
    """The device and the floating type of a model's weights and inputs: those of the first floating ones."""
    if any(x.is_meta for x in held):
        raise cannot(
            "On the meta device there are shapes but no data, so nothing can be timed. "
            "Make the model and the inputs on a real device.",
            "meta 设备上只有形状，没有数据，无法计时。请在真实设备上创建模型和输入。",
        )
    floating = [x.dtype for x in held if x.is_floating_point()]
    return str(held[0].device) if held else "cpu", (floating or [torch.float32])[0]


class _Run:
    """One placing. samples_s: layer (or OUTSIDE) -> seconds, one value a round; whole_s: of the whole. floor_s: of calls that do next to
    nothing. got: the share of its processor that this thread got.
    """

    rounds = 0

    def __init__(self, model: nn.Module, arguments: Any, device: str, max_time: float) -> None:
        self.device, self.max_time = device, max_time
        self.samples_s, self.whole_s, self.floor_s = defaultdict[str, list[float]](list), list[float](), list[float]()
        copies = Copies(Real().stand_for, Counter())
        own, args, kwargs = copies.of_call((model, *arguments))
        self.whole = Call("", own, (args, kwargs), written=True)
        try:
            with copies.in_place(), generators_preserved(device), torch.no_grad():
                self.own, *others = capture(self.whole, device)
                self.alone = not others
                self.layers = [unit for unit in others if not unit.container] or [self.own]
                self.modules = {unit.name: unit.module for unit in self.layers}
                with no_hooks_of_all_modules(), contextlib.redirect_stdout(io.StringIO()):
                    self._measure()
        finally:
            copies.clear()

    @property
    def on_cuda(self) -> bool:
        """Whether the kernels in a profile say how long a layer takes."""
        return self.device.startswith("cuda")

    def _measure(self) -> None:
        """Rounds until the next would go over the budget, or over twice of it where they are too few for likely ranges."""
        self.began, before, spent = time.perf_counter(), time.thread_time(), 0.0
        bar = progress(self.max_time, t("placing the layers", "逐层测量"))
        try:
            for _ in self._by_kernels() if self.on_cuda else self._one_by_one():
                self.rounds, started, spent = self.rounds + 1, spent, self._spent()
                reach(bar, spent, self.max_time)
                limit = self.max_time * (1 if enough(self.rounds) else 2)
                if self.rounds == MOST_ROUNDS or 2 * spent - started > limit or out_of_time():
                    break
        finally:
            end_progress(bar)
        self.got = (time.thread_time() - before) / spent

    def _by_kernels(self) -> Iterator[None]:
        """Each round: one run under the profiler, then several in a row without it, in the rest of whose time no kernel runs."""
        watch, runs = clock(self.device), list[Call]()

        def in_a_row() -> None:
            for run in runs:
                run()

        for _ in range(2):
            self.whole.renew()
            self.whole()
        while True:
            self.whole.renew()
            for name, seconds in by_kernels(self.whole, self.modules).items():
                self.samples_s[name].append(seconds)
            runs[:] = [replace(self.whole) for _ in range(STEADY_CALLS)]
            for run in runs:
                run.renew()
            self.whole_s.append(watch.block(in_a_row, 1) / STEADY_CALLS)
            yield

    def _one_by_one(self) -> Iterator[None]:
        """Each round: one run of the whole, which says what runs outside the layers, then the calls of the layers, each alone."""
        watch, empty, calls = (
            clock(self.device),
            sweep(self.device),
            [call for unit in self.layers for call in unit.timed],
        )
        now, nothing = watch.reader(), floor(self.device)
        cost_s = look_s(now)
        while True:
            if not self.alone:
                self.whole.renew()
                empty()
                parts = by_clock(self.whole, self.modules, now, cost_s)
                self.whole_s.append(sum(parts.values()))
                self.samples_s[OUTSIDE].append(parts[OUTSIDE])
            found = timed_round([*calls, *nothing], watch, empty)
            for name in self.modules:
                self.samples_s[name].append(sum(found[name]))
            self.floor_s += found[FLOOR]
            yield

    def _spent(self) -> float:
        return time.perf_counter() - self.began

    def result(self, counted: FlopCount, roof: Peaks) -> Roofline:
        """What was measured, as a Roofline."""
        floor_ms = 1e3 * median_interval(self.floor_s).low if self.floor_s else 0.0
        flops, idle = {node.name: node.flops for _, node in counted.by_module.walk()}, None

        def layer_of(unit: Unit, samples_s: Sequence[float]) -> Layer:
            kind, samples_ms = type(unit.module).__name__, tuple(1e3 * seconds for seconds in samples_s)
            work = flops.get(unit.name, 0), unit.moved, unit.calls
            return Layer(unit.name, kind, *work, roof, samples_ms, unit.calls * floor_ms)

        layers = [layer_of(unit, self.samples_s[unit.name]) for unit in self.layers]
        higher, notes = _raised(roof, layers), [*self._remarks(counted)]
        if higher != roof:
            notes += [
                t("A layer was faster than the probes: the roof is raised to it.", "有的层比探测还快：屋顶已抬到那里。")
            ]
        if self.on_cuda:
            busy_s = [sum(parts) for parts in zip(*self.samples_s.values(), strict=True)]
            idle = max(0.0, 1 - median(busy_s) / max(median(self.whole_s), TINY))
        whole = layers[0]
        if not self.alone:
            whole = replace(layer_of(self.own, self.whole_s), flops=counted.flops)
            least_ms = max((idle or 0.0) * whole.time_ms, sum(layer.overhead_ms for layer in layers))
            whole, rest = replace(whole, overhead_ms=least_ms), whole.flops - sum(layer.flops for layer in layers)
            samples_ms = tuple(1e3 * seconds for seconds in self.samples_s[OUTSIDE])
            layers.append(Layer(OUTSIDE, "", max(0, rest), 0, 1, roof, samples_ms))
        whole, *layers = [replace(one, peaks=higher) for one in (whole, *layers)]
        return Roofline(whole, () if self.alone else tuple(layers), higher, self.rounds, tuple(notes), idle)

    def _remarks(self, counted: FlopCount) -> Iterator[str]:
        if not enough(self.rounds):
            yield t(
                f"{self.rounds} round{'s' * (self.rounds != 1)} of all layers fitted into {self.max_time:g} s, too few for likely "
                "ranges: give it more max_time.",
                f"{self.max_time:g} 秒内只测了 {self.rounds} 轮，给不出可能范围：请调大 max_time。",
            )
        if self.device == "cpu" and self.got < QUIET:
            yield t(
                f"Disturbed: this process got only {self.got:.0%} of the time on its processor. Other programs make times too long, "
                "and take the caches; run it again when the machine is quieter.",
                f"受到干扰：本进程只拿到了 {self.got:.0%} 的处理器时间。其他程序会拉长耗时、占用缓存；请在机器空闲时再运行一次。",
            )
        if not counted.exact:
            names = ", ".join(counted.unknown)
            yield t(
                f"FLOPs are a lower bound: no formula for {names}.", f"FLOPs 只是下界：没有以下算子的公式：{names}。"
            )


def _raised(roof: Peaks, layers: Sequence[Layer]) -> Peaks:
    """The roof lifted to the fastest layers, as far as even the slow end of their interval shows it."""
    sure = [(one, max(one.interval_ms[1] * 1e-3, TINY)) for one in layers if enough(len(one.samples_ms))]
    work = max([roof.flops_per_s, *(layer.flops / slow_s for layer, slow_s in sure)])
    traffic = max([roof.bytes_per_s, *(layer.moved / slow_s for layer, slow_s in sure)])
    return replace(roof, flops_per_s=work, bytes_per_s=traffic)
