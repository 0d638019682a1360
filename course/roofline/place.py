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
from course.profiled import events_of
from course.roofline import kernels, validation
from course.roofline.copies import copied, copied_model
from course.roofline.layer import ENOUGH, TINY, Layer
from course.roofline.peaks import QUIET, peaks
from course.roofline.replay import Call, Capture, Unit, floor, shape, sweep, timed_round
from course.roofline.result import Roofline
from course.roofline.roof import Peaks
from course.roofline.stopwatch import watch_for
from course.roofline.traffic import backward_moved, size, tensors
from course.roofline.words import RooflineError, is_out_of_memory, percent, scaled, too_little_memory
from course.timing import clock_for, interrupts_propagate, stats
from course.timing.clock import Clock, end_progress, progress
from course.timing.deadline import out_of_time
from course.timing.faults import fault_share
from course.timing.validation import hidden_prints, print_note, require_positive, swallow_interrupt

MAX_TIME = 5.0
WARM_UPS = 3
"""Runs of the whole on a GPU before its kernels are looked at."""
LOOK = 24
"""Rounds before the first look whether all ranges are narrow; every later look comes after twice as many."""
NARROW = 0.05, 0.01
"""A range is narrow within +/- this part of the layer's time, or +/- this part of the time of all layers."""
WHOLE_EVERY = 3
"""The model in one piece is timed once in so many rounds, in the first of them."""
CACHES = ("cold", "hot")

_peaks_now = peaks  # `place` has a parameter of that name


def place(
    model: nn.Module,
    *inputs: Any,
    peaks: Peaks | None = None,
    max_time: float = MAX_TIME,
    cache: str = "cold",
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
    idles is a fact of the whole. Elsewhere each layer is timed by itself; on a CPU with one thread the time is that of the thread,
    without what other programs took, else it is wall time.

    peaks: default, the ones of the model's device and type, measured once and kept. A layer that is seen to beat
    them raises them, with a note. max_time: most seconds for timing; it stops when all likely ranges are narrow; every
    layer is timed at least once. cache: cold
    (a layer's data come from memory, which is what the memory roof is about) or hot (they stay in the cache where
    they fit, so shares above 100 % are usual). An interrupt returns what was measured so far.
    Raises RooflineError, in words, for anything that cannot be placed.
    """
    given = (*inputs, *kwargs.values())
    model = validation.checked(model, given)
    require_positive(max_time=max_time)
    if cache not in CACHES:
        raise RooflineError(
            t(f'cache must be "cold" or "hot", not {cache!r}.', f'cache 只能是 "cold" 或 "hot"，而不是 {cache!r}。')
        )
    device = validation.where(model, given)
    try:
        counted = _counted(model, inputs, kwargs, training)
    except CountError as error:
        if is_out_of_memory(error):
            raise too_little_memory(device) from error
        raise RooflineError(str(error)) from error
    dtype = validation.dtype(model, given)
    roof = _peaks_now(device, dtype) if peaks is None else peaks
    run = _Run(model, (inputs, kwargs), counted, device, max_time, cache)
    with validation.in_words(device):
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

    def __init__(
        self, model: nn.Module, arguments: Any, counted: FlopCount, device: str, max_time: float, cache: str
    ) -> None:
        self.counted, self.device, self.max_time, self.cache = counted, device, max_time, cache
        with validation.in_words(device):
            self.model, self.arguments = copied_model(model, device), copied(arguments)
        on_cpu = device == "cpu"
        self.clock: Clock = clock_for(device, cache="hot" if on_cpu else cache)
        self.empty: Callable[[], Any] = sweep(device) if on_cpu and cache == "cold" else lambda: None
        self.units = _units(self.model, counted)
        self.alone = [unit.name for unit in self.units] == [""]
        self.calls: list[Call] = []
        self.tiny = floor(device) if on_cpu else []
        self.step = list(self.model.parameters()) if counted.training else None
        self.whole = Call(
            Unit("", self.model), self.model, self.arguments, written=True, watch=watch_for(device), step=self.step
        )
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
                before = time.thread_time(), time.perf_counter()
                if self.on_cuda:
                    capture.survey()
                    self._kernel_rounds()
                while not self.on_cuda and (calls := capture.next()):
                    self.calls += calls
                    part = len(calls) / (len(calls) + capture.total - capture.given)
                    self._rounds(calls, part * (self.max_time - self._spent()))
                    for call in calls:
                        call.forget()
                self.got = (time.thread_time() - before[0]) / (time.perf_counter() - before[1])
                self.notes += print_note(printed)
        except KeyboardInterrupt:
            if not (any(call.samples_s for call in self.calls) and swallow_interrupt(True)):
                raise
            self.complete = False
        finally:
            end_progress(self.bar)

    def _kernel_rounds(self) -> None:
        """On a GPU: each layer's kernels inside the whole, round by round; then the whole without a profiler."""
        wait, until = lambda: torch.cuda.synchronize(self.device), 0.7 * self.max_time
        seen = [unit for unit in self.units if unit.calls]
        parts: list[dict[str, float]] = []
        for _ in range(WARM_UPS):
            self.whole.renew()
            self.whole.run()
        with kernels.ranges((unit.name, unit.module) for unit in seen):
            while len(parts) < LOOK and (len(parts) < 2 or self._spent() < until):
                self.whole.renew()
                events = events_of(self.whole.run, on_cuda=True)
                parts.append(kernels.of_layers(events, kernels.kernels_us))
                self.conversions = kernels.conversions_share(events)
        self.rounds = len(parts)
        named = {unit.name: unit for unit in seen}
        if any(part.get(kernels.OUTSIDE) for part in parts):
            named[kernels.OUTSIDE] = Unit(kernels.OUTSIDE, nn.Module())
        for name, unit in named.items():
            call = Call(unit, unit.module, ((), {}))
            call.samples_s = [part.get(name, 0.0) * 1e-6 for part in parts]
            call.issue_s = call.faults = [0] * len(parts)
            self.calls.append(call)
        while len(self.whole.samples_s) < LOOK and (len(self.whole.samples_s) < 2 or self._spent() < self.max_time):
            self.whole.samples_s.append(kernels.steady_s(self._steps(), wait))
        steady, busy = stats.median(self.whole.samples_s), stats.median([sum(part.values()) * 1e-6 for part in parts])
        self.idle = max(0.0, 1 - busy / max(steady, TINY))
        self.whole.issue_s, self.whole.faults = [self.idle * steady], [0]

    def _steps(self) -> list[Callable[[], Any]]:
        """Several runs of the whole, each on arguments of its own, made before."""
        made = [replace(self.whole) for _ in range(kernels.STEADY_CALLS)]
        for call in made:
            call.renew()
        return [call.run for call in made]

    def _spent(self) -> float:
        return self.clock.now() - self.began

    def _forward(self) -> None:
        """One forward of the copy; what enters and leaves the model is kept in mind."""
        args, kwargs = copied(self.arguments)
        inputs = tensors((args, kwargs))
        outputs = tensors(self.model(*args, **kwargs))
        self.whole.unit.shape = shape(inputs, outputs)
        self.whole.unit.moved = sum(map(size, tensors((inputs, outputs)))) + backward_moved(self.model, inputs, outputs)

    def _rounds(self, calls: Sequence[Call], budget_s: float) -> None:
        """Rounds of these calls until the next would go over the budget, or over twice that where they are not enough."""
        order, until, rounds = random.Random(), self._spent() + budget_s, 0
        while True:
            started = self._spent()
            timed_round([*calls, *self.tiny], self.clock, self.empty, order)
            if not self.alone and rounds % WHOLE_EVERY == 0:
                timed_round([self.whole], self.clock, self.empty, order)
            rounds += 1
            self.bar.update(max(0.0, min(self._spent(), self.max_time) - self.bar.n))
            late = 2 * self._spent() - started > until + budget_s * (rounds < ENOUGH)
            if late or out_of_time() or rounds >= LOOK and stats.is_look(rounds, LOOK) and narrow(calls):
                self.rounds = min(self.rounds or rounds, rounds)
                return

    def result(self, roof: Peaks, notes: list[str]) -> Roofline:
        """What was measured, as a Roofline."""
        layers = self._layers(roof)
        if not layers:
            raise _nothing_ran(self.model)
        roof, raised = _raised(roof, layers, memory=self.cache == "cold")
        layers = tuple(replace(layer, peaks=roof) for layer in layers)
        whole = layers[0] if self.alone else self._whole(layers, roof)
        return Roofline(
            whole,
            () if self.alone else layers,
            roof,
            self.cache,
            self.rounds,
            self.complete,
            (*notes, *raised, *self._remarks(layers, whole), *self.notes),
            self.counted.training,
            self.idle,
            self.conversions,
        )

    def _layers(self, roof: Peaks) -> tuple[Layer, ...]:
        """One Layer a unit, in the order they ran; those an interrupt left without a sample are missing."""
        nodes = {node.name: node for _, node in self.counted.by_module.walk()}
        groups: dict[str, list[Call]] = {}
        for call in self.calls:
            groups.setdefault(call.unit.name, []).append(call)
        return tuple(
            self._layer(
                calls, nodes[name].flops if name in nodes else 0, nodes[name].total_params if name in nodes else 0, roof
            )
            for name, calls in groups.items()
            if all(call.samples_s for call in calls)
        )

    def _layer(self, calls: Sequence[Call], flops: int, params: int, roof: Peaks) -> Layer:
        unit = calls[0].unit
        samples = [sum(times) * 1e3 for times in zip(*(call.samples_s for call in calls), strict=False)]
        faults = sum(stats.median(call.faults) for call in calls)
        time_ms = stats.median(samples)
        if self.tiny:
            tiny = [seconds for call in self.tiny for seconds in call.samples_s]
            overhead_s = len(calls) * stats.median_interval(tiny).low
        else:
            overhead_s = sum(stats.median(call.issue_s) for call in calls)
        return Layer(
            unit.name,
            type(unit.module).__name__,
            flops,
            unit.moved,
            time_ms,
            unit.calls or len(calls),
            roof,
            tuple(samples),
            overhead_s * 1e3,
            faults,
            fault_share(faults, time_ms * 1e-3),
            unit.shape,
            params,
        )

    def _whole(self, layers: Sequence[Layer], roof: Peaks) -> Layer:
        """The model as if it were one layer: what enters and leaves it, and every weight, once."""
        within = {id(x) for unit in self.units for x in (*unit.module.parameters(), *unit.module.buffers())}
        outside = [x for x in (*self.model.parameters(), *self.model.buffers()) if id(x) not in within]
        self.whole.unit.moved += sum(unit.weights for unit in self.units) + sum(map(size, outside))
        if not self.whole.samples_s:  # an interrupt came first
            self.whole.samples_s, self.whole.faults = [sum(layer.time_ms for layer in layers) * 1e-3], [0]
        whole = self._layer([self.whole], self.counted.flops, self.counted.params, roof)
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


def narrow(calls: Sequence[Call]) -> bool:
    """Whether more rounds would add little: the range of every layer's part of the time (of a single layer: its time)
    is narrow.
    """
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(call.unit.name, []).append(call)
    times = [[sum(one) for one in zip(*(call.samples_s for call in group), strict=True)] for group in groups.values()]
    whole = [sum(one) if len(times) > 1 else 1.0 for one in zip(*times, strict=True)]
    for samples in times:
        parts = [one / max(every, TINY) for one, every in zip(samples, whole, strict=True)]
        found = stats.median_interval(parts)
        if (found.high - found.low) / 2 > max(NARROW[0] * stats.median(parts), NARROW[1] * (len(times) > 1)):
            return False
    return True


def _raised(roof: Peaks, layers: Sequence[Layer], memory: bool) -> tuple[Peaks, list[str]]:
    """The roof lifted to the fastest layers, as far as even the slow end of their interval shows it; and sentences.

    memory: whether the memory roof may be lifted too (it says nothing where data may lie in the cache).
    """
    sure = [layer for layer in layers if len(layer.samples_ms) >= ENOUGH and layer.time_ms > 0]
    higher, notes = roof, []
    for layer in sure:
        slow_s = max(layer.interval_ms[1] * 1e-3, TINY)
        higher = higher.raised(flops_per_s=layer.flops / slow_s, by=layer.label, kind=layer.kind)
        if memory:
            higher = higher.raised(bytes_per_s=layer.moved / slow_s, by=layer.label)
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
