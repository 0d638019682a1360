"""`place`: every layer of a model against the measured roof of the machine it runs on."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch import nn

from course.core.bars import end_progress, progress
from course.core.generators import generators_preserved
from course.core.i18n import t
from course.flops import CountError, count
from course.flops.checks import Refused
from course.flops.copies import Copies
from course.flops.standins import Real
from course.roofline.inside import by_clock, by_kernels, no_hooks_of_all_modules
from course.roofline.layer import OUTSIDE, TINY, Layer, Peaks
from course.roofline.machine import wait
from course.roofline.peaks import QUIET, kept_peaks, precision
from course.roofline.replay import Call, Capture, Unit, floor, sweep, timed_round
from course.roofline.result import Roofline
from course.roofline.tensors import tensors
from course.roofline.words import RooflineError, cannot, checked, reason, where
from course.timing import enough
from course.timing.rounds import out_of_time
from course.timing.stats import FEWEST_ROUNDS, median_interval
from course.timing.validation import require_positive

MOST_ROUNDS = 100
FOR_PROFILES = 0.7
"""The part of the budget in which the profiler looks on, on a GPU."""
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
    with a note. max_time: most seconds for timing; every layer is timed at least once. Raises RooflineError, in words, for anything
    that cannot be placed.
    """
    model = checked(model)
    require_positive(max_time=max_time)
    device, dtype = where(tensors([*model.parameters(), *model.buffers(), *inputs, *kwargs.values()]))
    run = _Run(model, (inputs, kwargs), device, max_time)
    roof = peaks or kept_peaks(device, dtype, torch.get_num_threads(), precision(device))
    run.measure()
    return run.result(roof)


class _Run:
    """One placing while it is under way."""

    def __init__(self, model: nn.Module, arguments: Any, device: str, max_time: float) -> None:
        self.device, self.kind, self.max_time = device, device.split(":")[0], max_time
        self.copies = Copies(Real().stand_for, Counter())
        own, *arguments = self.copies.of_call((model, *arguments))
        self.whole = Call(forward=own, arguments=tuple(arguments), written=True)
        with self._settings(t("the first time", "第一次")):
            seen = Capture(self.whole, device)
        self.layers, self.as_layer = seen.layers, seen.units[id(own)]
        self.alone = self.layers == [self.as_layer]
        self.named = {unit.name: unit.module for unit in self.layers}
        with self._settings(t("again", "再次")), no_hooks_of_all_modules():
            self.counted = count(own, *arguments[0], **arguments[1])
        self.outside_s: list[float] = []  # what runs outside the layers, one value a round
        self.idle: float | None = None
        self.rounds, self.got = 0, 1.0  # got: share of the processor that this thread got while it timed
        self.floor = [] if self.kind == "cuda" else floor(device)

    def measure(self) -> None:
        """Time the layers one by one and the whole in rounds; on a GPU the kernels in the profile of the whole are their time."""
        self.bar, self.began = progress(self.max_time, t("placing the layers", "逐层测量")), time.perf_counter()
        before, quiet = time.thread_time(), contextlib.redirect_stdout(io.StringIO())
        try:
            with self._settings(t("again", "再次")), no_hooks_of_all_modules(), quiet:
                if self.kind == "cuda":
                    self._on_cuda()
                else:
                    self._one_by_one()
        finally:
            end_progress(self.bar)
            self.copies.clear()
        self.got = (time.thread_time() - before) / self._spent()

    def _on_cuda(self) -> None:
        """Runs under the profiler, as many as carry a range where the time suffices; then samples of the whole without it, several runs
        in a row: in the rest of its time no kernel runs.
        """
        for _ in range(2):
            self.whole.renew()
            self.whole()
        until = FOR_PROFILES * self.max_time
        while not self.rounds or self.rounds < FEWEST_ROUNDS and self._spent() < until and not out_of_time():
            self.whole.renew()
            parts = by_kernels(self.whole, self.named)
            for unit in self.layers:
                unit.kernels_s.append(parts[unit.name])
            self.outside_s.append(parts[OUTSIDE])
            self.rounds += 1
        samples = self.whole.samples_s
        while len(samples) < 2 or len(samples) < FEWEST_ROUNDS and self._spent() < self.max_time:
            calls = [replace(self.whole) for _ in range(STEADY_CALLS)]
            for call in calls:
                call.renew()
            wait(self.device)
            began = time.perf_counter()
            for call in calls:
                call()
            wait(self.device)
            samples.append((time.perf_counter() - began) / STEADY_CALLS)
        busy = [sum(parts) for parts in zip(self.outside_s, *(unit.kernels_s for unit in self.layers), strict=True)]
        self.idle = max(0.0, 1 - median(busy) / max(median(samples), TINY))

    def _one_by_one(self) -> None:
        """Rounds of the whole and of the layers, each alone, until the next would go over the budget."""
        empty, calls = sweep(self.device), [call for unit in self.layers for call in unit.timed]
        round_s, most_s = 0.0, self.max_time
        while self.rounds < MOST_ROUNDS and (
            not self.rounds or self._spent() + round_s <= most_s and not out_of_time()
        ):
            started = self._spent()
            if not self.alone:
                self.whole.renew()
                empty()
                parts = by_clock(self.whole, self.named, self.device)
                self.whole.samples_s.append(sum(parts.values()))
                self.outside_s.append(parts[OUTSIDE])
            timed_round([*calls, *self.floor], self.device, empty)
            self.rounds += 1
            self.bar.update(min(self._spent(), self.max_time) - self.bar.n)
            round_s = self._spent() - started
            most_s = self.max_time * (1 if self.rounds >= FEWEST_ROUNDS else 2)

    def _spent(self) -> float:
        return time.perf_counter() - self.began

    def result(self, roof: Peaks) -> Roofline:
        """What was measured, as a Roofline."""
        work = {node.name: node for _, node in self.counted.by_module.walk()}
        layers = []
        for unit in self.layers:
            layers.append(self._layer(unit, work[unit.name].flops if unit.name in work else 0, unit.samples_s, roof))
        roof, raised = _raised(roof, layers)
        layers = [replace(layer, peaks=roof) for layer in layers]
        whole = layers[0] if self.alone and layers else self._whole(layers, roof)
        if self.kind != "cuda" and self.outside_s or any(self.outside_s):
            flops, samples = (
                max(0, whole.flops - sum(layer.flops for layer in layers)),
                [s * 1e3 for s in self.outside_s],
            )
            layers.append(Layer(OUTSIDE, "", flops, 0, median(samples), 1, roof, tuple(samples)))
        shown = () if self.alone else tuple(layers)
        return Roofline(whole, shown, roof, self.rounds, (*raised, *self._remarks()), self.idle)

    def _layer(self, unit: Unit, flops: int, samples_s: list[float], roof: Peaks) -> Layer:
        samples = tuple(seconds * 1e3 for seconds in samples_s)
        least = [seconds for call in self.floor for seconds in call.samples_s]
        overhead_ms = unit.calls * median_interval(least).low * 1e3 if least else 0.0
        kind, calls = type(unit.module).__name__, max(unit.calls, 1)
        return Layer(unit.name, kind, flops, unit.moved, median(samples), calls, roof, samples, overhead_ms)

    def _whole(self, layers: Sequence[Layer], roof: Peaks) -> Layer:
        """The model as if it were one layer: what enters and leaves it, and every weight, once."""
        whole = self._layer(self.as_layer, self.counted.flops, self.whole.samples_s, roof)
        idle_ms = (self.idle or 0.0) * whole.time_ms
        return replace(whole, overhead_ms=max(idle_ms, sum(layer.overhead_ms for layer in layers)))

    def _remarks(self) -> Iterator[str]:
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
        if not self.counted.exact:
            names = ", ".join(self.counted.unknown)
            yield t(
                f"FLOPs are a lower bound: no formula for {names}.", f"FLOPs 只是下界：没有以下算子的公式：{names}。"
            )

    @contextlib.contextmanager
    def _settings(self, when: str) -> Iterator[None]:
        """No gradients; random numbers are put back afterwards; an exception of the model becomes a RooflineError. when: it runs."""
        try:
            with self.copies.in_place(), generators_preserved(self.device), torch.no_grad():
                yield
        except RooflineError:
            raise
        except (CountError, Refused) as error:
            raise RooflineError(str(error)) from error
        except Exception as error:
            why = reason(error)
            raise cannot(
                f"The model stopped when it ran {when} on copies of these inputs: {why}. place runs it many times: call it twice "
                "by itself, as model(x), and make that work first.",
                f"模型在这些输入的副本上{when}运行时停下了：{why}。place 要运行它很多次：请先单独调用两次，例如 model(x)，让它跑通。",
            ) from error


def _raised(roof: Peaks, layers: Sequence[Layer]) -> tuple[Peaks, list[str]]:
    """The roof lifted to the fastest layers, as far as even the slow end of their interval shows it; and a sentence."""
    higher, names = roof, list[str]()
    for layer in layers:
        if enough(len(layer.samples_ms)) and layer.time_ms > 0:
            slow_s = max(layer.interval_ms[1] * 1e-3, TINY)
            lifted = higher.raised(layer.flops / slow_s, layer.moved / slow_s)
            names += [layer.label] * (lifted != higher)
            higher = lifted
    listed = ", ".join(names)
    note = t(
        f"A layer was faster than the probes: the roof is raised to it ({listed}).",
        f"有的层比探测还快：屋顶已抬到那里（{listed}）。",
    )
    return higher, [note] * bool(names)
