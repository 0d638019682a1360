"""`place`: every layer of a model against the measured roof of the machine it runs on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from course.flops import CountError, FlopCount, count
from course.generators import generators_preserved
from course.i18n import t
from course.roofline import kernels, validation
from course.roofline.copies import copied, copied_model
from course.roofline.layer import ENOUGH, TINY, Layer
from course.roofline.memory import is_out_of_memory, too_little_memory
from course.roofline.peaks import QUIET, peaks, undisturbed
from course.roofline.replay import Call, Capture, Unit, floor, shape, sweep, timed_round
from course.roofline.result import Roofline
from course.roofline.roof import Peaks
from course.roofline.traffic import backward_moved, size, tensors
from course.roofline.words import RooflineError, percent
from course.timing import clock_for, interrupts_propagate, stats, verdicts
from course.timing.clock import Clock, end_progress, progress
from course.timing.deadline import out_of_time
from course.timing.faults import fault_share
from course.timing.validation import hidden_prints, print_note, require_positive, swallow_interrupt
from course.units import scaled

MAX_TIME = 5.0
LOOK = 24
"""Rounds before the first look whether all ranges are narrow; every later look comes after twice as many."""
NARROW = 0.05, 0.01
"""A range is narrow within +/- this part of the layer's time, or +/- this part of the time of all layers."""
WHOLE_EVERY = 3
"""The model in one piece is timed once in so many rounds, in the first of them."""
FOR_KERNELS = 0.7
"""The part of the budget in which a GPU's kernels are looked at; the rest is for the whole without a profiler."""

_peaks_now = peaks  # `place` has a parameter of that name


def place(
    model: nn.Module,
    *inputs: Any,
    peaks: Peaks | None = None,
    max_time: float = MAX_TIME,
    training: bool = False,
    **kwargs: Any,
) -> Roofline:
    """Where the time of a model goes, in one table: place `model(*inputs, **kwargs)` and each of its layers under the roof.

    For each layer (a module without children, or one that does the work of its children itself, such as
    nn.MultiheadAttention): output shape, parameters, FLOPs (course.flops), bytes moved at least, measured time, its
    share of the time of all layers with the likely range, what limits it (compute, memory, or neither: overhead) and
    how far from the roof it is. Print it, show it in a notebook, ask `.table("time")`, `.table("tree")` or `.rows()`
    (plain dicts for pandas).

    The forward runs without gradients, in the mode the model is in, and on a copy of model and inputs: nothing of
    yours changes, also after an exception, and random generators are put back. (What a forward does outside of its
    model, such as writing a file or a global variable, it does here too, once for each run.)
    training: a training step instead, forward and backward, without the optimizer; bytes are then those of both.

    On an NVIDIA GPU a layer's time is that of its kernels inside the whole forward or step: they add up to 100 %, and that the GPU
    idles is a fact of the whole. Elsewhere each layer is timed by itself, with its data out of the cache; on a CPU with one thread
    the time is that of the thread, without what other programs took, else it is wall time.

    peaks: default, the ones of the model's device and type, measured once and kept. A layer that is seen to beat
    them raises them, with a note. max_time: most seconds for timing; it stops when all likely ranges are narrow; every
    layer is timed at least once. An interrupt returns what was measured so far.
    Raises RooflineError, in words, for anything that cannot be placed.
    """
    given = (*inputs, *kwargs.values())
    model = validation.checked(model, given)
    require_positive(max_time=max_time)
    device = validation.where(model, given)
    try:
        counted = _counted(model, inputs, kwargs, training)
    except CountError as error:
        if is_out_of_memory(error):
            raise too_little_memory(device) from error
        raise RooflineError(str(error)) from error
    dtype = validation.dtype(model, given)
    roof = _peaks_now(device, dtype) if peaks is None else peaks
    with validation.in_words(device):
        run = _Run(model, (inputs, kwargs), counted, device, max_time)
        run.go()
    return run.result(roof, validation.mismatch(roof, device, dtype))


def _counted(model: nn.Module, inputs: Any, kwargs: Any, training: bool) -> FlopCount:
    """The count; the keyword is passed on only where it is wanted, for a forward may have one of that name."""
    return count(model, *inputs, training=True, **kwargs) if training else count(model, *inputs, **kwargs)


def _units(model: nn.Module, counted: FlopCount) -> list[Unit]:
    """The layers: modules without children, and those whose children's work is done in their own forward."""
    tree = {node.name: node for _, node in counted.by_module.walk()}
    found: dict[int, Unit] = {}

    def visit(name: str, module: nn.Module) -> None:
        children = [
            (f"{name}.{key}" if name else key, child)
            for key, child in module.named_children()
            if key != "parametrizations"  # of nn.utils.parametrize: they make a weight of this very layer
        ]
        node = tree.get(name)
        own_only = (
            node is not None and node.own > 0 and all(below is node or not below.calls for _, below in node.walk())
        )
        if not children or own_only:
            found.setdefault(id(module), Unit(name, module))
            return
        for key, child in children:
            visit(key, child)

    visit("", model)
    return list(found.values())


class _Run:
    """One placing while it is under way."""

    def __init__(self, model: nn.Module, arguments: Any, counted: FlopCount, device: str, max_time: float) -> None:
        self.counted, self.device, self.max_time = counted, device, max_time
        self.model, self.arguments = copied_model(model), copied(arguments)
        on_cpu = device == "cpu"
        self.clock: Clock = undisturbed(clock_for(device, cache="hot" if on_cpu else "cold"))
        self.empty: Callable[[], Any] = sweep() if on_cpu else lambda: None
        self.tiny = floor() if on_cpu else []
        self.units = _units(self.model, counted)
        self.layers: list[Unit] = []  # those that ran, in this order
        self.alone = [unit.name for unit in self.units] == [""]
        step = list(self.model.parameters()) if counted.training else None
        self.run = Call(forward=self.model, arguments=self.arguments, written=True, step=step)
        self.whole = Unit("", self.model, timed=[self.run])
        self.on_cuda = device.startswith("cuda")
        self.idle: float | None = None
        self.conversions = 0.0
        self.rounds, self.complete, self.notes = 0, True, list[str]()
        self.got = 1.0  # share of the processor that this thread got while it timed

    def go(self) -> None:
        """Catch the calls, time them in rounds; where memory holds only some at a time, part by part."""
        self.bar, self.began = progress(self.max_time, t("placing the layers", "逐层测量")), self.clock.now()
        try:
            with (
                generators_preserved(self.device),
                torch.set_grad_enabled(self.counted.training),
                interrupts_propagate(),
                hidden_prints() as printed,
            ):
                capture = Capture(self.units, self._forward, self.device, self.counted.training)
                self.layers = capture.seen
                before = time.thread_time(), time.perf_counter()
                if self.on_cuda:
                    capture.survey()
                    self._kernel_rounds()
                else:
                    for calls in capture.parts():
                        part = len(calls) / (len(calls) + capture.total - capture.given)
                        self._rounds(calls, part * (self.max_time - self._spent()))
                        for call in calls:
                            call.forget()
                self.got = (time.thread_time() - before[0]) / (time.perf_counter() - before[1])
                self.notes += print_note(printed)
        except KeyboardInterrupt:
            if not (any(unit.samples_s for unit in self.layers) and swallow_interrupt(True)):
                raise
            self.complete = False
        finally:
            end_progress(self.bar)

    def _kernel_rounds(self) -> None:
        """On a GPU: each layer's kernels inside the whole; then the whole, and how much of its time no kernel runs."""
        found = kernels.time_layers(self.run, self.layers, LOOK, lambda: self._spent() < FOR_KERNELS * self.max_time)
        self.layers, self.conversions, self.rounds = found.layers, found.conversions, len(found.busy_s)
        kernels.time_whole(self.run, self.device, LOOK, lambda: self._spent() < self.max_time)
        steady_s = stats.median(self.run.samples_s)
        self.idle = max(0.0, 1 - stats.median(found.busy_s) / max(steady_s, TINY))
        self.run.issue_s = [self.idle * steady_s]

    def _spent(self) -> float:
        return self.clock.now() - self.began

    def _forward(self) -> None:
        """One forward of the copy; what enters and leaves the model is kept in mind."""
        args, kwargs = copied(self.arguments)
        inputs = tensors((args, kwargs))
        outputs = tensors(self.model(*args, **kwargs))
        self.whole.shape = shape(inputs, outputs)
        self.whole.moved = sum(map(size, tensors((inputs, outputs)))) + backward_moved(self.model, inputs, outputs)

    def _rounds(self, calls: Sequence[Call], budget_s: float) -> None:
        """Rounds of these calls until the next would go over the budget, or over twice that where they are not enough."""
        order, until, rounds = random.Random(), self._spent() + budget_s, 0
        units = [unit for unit in self.layers if not set(calls).isdisjoint(unit.timed)]
        while True:
            started = self._spent()
            timed_round([*calls, *self.tiny], self.clock, self.empty, order)
            if not self.alone and rounds % WHOLE_EVERY == 0:
                timed_round([self.run], self.clock, self.empty, order)
            rounds += 1
            self.bar.update(max(0.0, min(self._spent(), self.max_time) - self.bar.n))
            late = 2 * self._spent() - started > until + budget_s * (rounds < ENOUGH)
            if late or out_of_time() or rounds >= LOOK and verdicts.is_look(rounds, LOOK) and narrow(units):
                self.rounds = min(self.rounds or rounds, rounds)
                return

    def result(self, roof: Peaks, notes: list[str]) -> Roofline:
        """What was measured, as a Roofline; layers that an interrupt left without a sample are missing."""
        nodes = {node.name: node for _, node in self.counted.by_module.walk()}
        layers = []
        for unit in self.layers:
            if unit.samples_s:
                node = nodes.get(unit.name)
                flops, params = (node.flops, node.total_params) if node else (0, 0)
                layers.append(self._layer(unit, flops, params, roof))
        if not layers:
            raise _nothing_ran(self.model)
        roof, raised = _raised(roof, layers)
        layers = [replace(layer, peaks=roof) for layer in layers]
        whole = layers[0] if self.alone else self._whole(layers, roof)
        return Roofline(
            whole,
            () if self.alone else tuple(layers),
            roof,
            self.rounds,
            (*notes, *raised, *self._remarks(layers, whole), *self.notes),
            self.counted.training,
            self.idle,
            self.conversions,
        )

    def _layer(self, unit: Unit, flops: int, params: int, roof: Peaks) -> Layer:
        samples = [seconds * 1e3 for seconds in unit.samples_s]
        time_ms = stats.median(samples)
        tiny = [seconds for call in self.tiny for seconds in call.samples_s]
        overhead_s = len(unit.timed) * stats.median_interval(tiny).low if tiny else unit.issue_s
        return Layer(
            unit.name,
            type(unit.module).__name__,
            flops,
            unit.moved,
            time_ms,
            unit.calls or 1,
            roof,
            tuple(samples),
            overhead_s * 1e3,
            unit.faults,
            fault_share(unit.faults, time_ms * 1e-3),
            unit.shape,
            params,
        )

    def _whole(self, layers: Sequence[Layer], roof: Peaks) -> Layer:
        """The model as if it were one layer: what enters and leaves it, and every weight, once."""
        within = {id(x) for unit in self.units for x in (*unit.module.parameters(), *unit.module.buffers())}
        outside = [x for x in (*self.model.parameters(), *self.model.buffers()) if id(x) not in within]
        self.whole.moved += sum(unit.weights for unit in self.units) + sum(map(size, outside))
        if not self.run.samples_s:  # an interrupt came first
            self.run.samples_s = [sum(layer.time_ms for layer in layers) * 1e-3]
        whole = self._layer(self.whole, self.counted.flops, self.counted.params, roof)
        return replace(whole, overhead_ms=max(whole.overhead_ms, sum(layer.overhead_ms for layer in layers)))

    def _remarks(self, layers: Sequence[Layer], whole: Layer) -> list[str]:
        notes = []
        if not self.complete:
            notes.append(
                t(
                    "Interrupted: these are the samples taken so far; layers without any are missing.",
                    "已中断：以下是目前得到的样本；还没有样本的层没有列出。",
                )
            )
        elif self.rounds < ENOUGH:
            notes.append(
                t(
                    f"{self.rounds} round{'s' * (self.rounds != 1)} of all layers fitted into {self.max_time:g} s, "
                    "too few for intervals of 95 %: give it more max_time.",
                    f"{self.max_time:g} 秒内只测了 {self.rounds} 轮，不足以给出 95% 的区间：请调大 max_time。",
                )
            )
        if self.device == "cpu" and self.got < QUIET and torch.get_num_threads() > 1:
            notes.append(
                t(
                    "The machine was busy with other work: "
                    f"this process got only {self.got:.0%} of the time on its processor, "
                    "so times are too long and shares too low. "
                    "Run it again when it is quieter.",
                    f"机器正忙于其他工作：本进程只拿到了 {self.got:.0%} 的处理器时间，因此耗时偏长，份额偏低。"
                    "请在机器空闲时再运行一次。",
                )
            )
        outside = whole.flops - sum(layer.flops for layer in layers)
        if self.complete and whole.flops and outside > 0.001 * whole.flops:
            notes.append(
                t(
                    f"{percent(outside / whole.flops)} of the work is done outside the layers (functions called in a forward, "
                    "such as attention): it is in the whole model's FLOPs, its traffic in no row.",
                    f"{percent(outside / whole.flops)} 的工作量在各层之外完成（forward 里直接调用的函数，例如注意力）："
                    "它计入整个模型的 FLOPs，但其访存不在任何一行里。",
                )
            )
        if not self.counted.exact:
            names = ", ".join(self.counted.unknown)
            notes.append(
                t(f"FLOPs are a lower bound: no formula for {names}.", f"FLOPs 只是下界：没有以下算子的公式：{names}。")
            )
        return notes


def narrow(units: Sequence[Unit]) -> bool:
    """Whether more rounds would add little: the range of every layer's part of the time (of a single layer: its time)
    is narrow.
    """
    times = [unit.samples_s for unit in units]
    whole = [sum(one) if len(times) > 1 else 1.0 for one in zip(*times, strict=False)]
    for samples in times:
        parts = [seconds / max(every, TINY) for seconds, every in zip(samples, whole, strict=False)]
        found = stats.median_interval(parts)
        if (found.high - found.low) / 2 > max(NARROW[0] * stats.median(parts), NARROW[1] * (len(times) > 1)):
            return False
    return True


def _raised(roof: Peaks, layers: Sequence[Layer]) -> tuple[Peaks, list[str]]:
    """The roof lifted to the fastest layers, as far as even the slow end of their interval shows it; and sentences."""
    higher, notes = roof, []
    for layer in layers:
        if len(layer.samples_ms) >= ENOUGH and layer.time_ms > 0:
            slow_s = max(layer.interval_ms[1] * 1e-3, TINY)
            higher = higher.raised(layer.flops / slow_s, layer.moved / slow_s, layer.label, layer.kind)
    for before, now, by, unit in (
        (roof.flops_per_s, higher.flops_per_s, higher.work_by, "FLOP/s"),
        (roof.bytes_per_s, higher.bytes_per_s, higher.traffic_by, "B/s"),
    ):
        if now > before:
            rates = scaled(now, unit), scaled(before, unit)
            notes.append(
                t(
                    f"{by} reached {rates[0]}, more than the probes did ({rates[1]}): the roof is raised to it.",
                    f"{by} 达到了 {rates[0]}，高于探测值（{rates[1]}）：屋顶已抬到这里。",
                )
            )
    return higher, notes


def _nothing_ran(model: nn.Module) -> RooflineError:
    kind, now, other = type(model).__name__, *("train", "eval")[:: 1 if model.training else -1]
    return RooflineError(
        t(
            f"No layer of {kind} runs in this forward, so there is nothing to place. Does it leave its layers out after model.{now}()? "
            f"Try model.{other}().",
            f"{kind} 的这次 forward 没有运行任何一层，没有可测的东西。是不是 model.{now}() 之后就跳过了各层？试试 model.{other}()。",
        )
    )
