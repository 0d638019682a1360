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
from course.core.i18n import pick, t
from course.core.process_state import process_state_preserved
from course.core.tensors import tensors_of as tensors
from course.flops import FlopCount, count
from course.flops.copies import Copies, Real
from course.flops.result import certificate
from course.roofline.exported import regrouped
from course.roofline.inside import by_clock, by_kernels, look_s, no_hooks_of_all_modules
from course.roofline.layer import OUTSIDE, TINY, Peaks, RooflineError, disturbed, row_of
from course.roofline.peaks import clock, kept_peaks, precision
from course.roofline.replay import FLOOR, Call, Unit, capture, floor, sweep, timed_round
from course.roofline.result import Roofline
from course.timing.results import too_few
from course.timing.rounds import out_of_time
from course.timing.stats import enough, interval_or_none, median_interval
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
        english = (
            f"place needs a model, an object of an nn.Module, and got {kind}. Write place(model, x), the model first."
        )
        chinese = f"place 需要模型，也就是 nn.Module 的对象，得到的却是 {kind}。请写成 place(model, x)，模型放在前面。"
        raise RooflineError(t(english, chinese))
    require_positive(max_time=max_time)
    model = regrouped(model)
    held = tensors([*model.parameters(), *model.buffers(), *inputs, *kwargs.values()])
    held = [x for x in held if not x.is_meta] or held  # weights of an offloaded model come when they are needed
    device, dtypes = str(held[0].device) if held else "cpu", [x.dtype for x in held if x.is_floating_point()]
    with torch.no_grad(), no_hooks_of_all_modules():
        counted = count(model, *inputs, **kwargs)
    dtype = dtypes[0] if dtypes else torch.float32
    roof = peaks or kept_peaks(device, dtype, torch.get_num_threads(), precision(device))
    return _Run(model, (inputs, kwargs), device, max_time).result(counted, roof)


class _Run:
    """One placing. samples_s: layer (or OUTSIDE) -> seconds, one value a round; whole_s: of the whole. floor_s: of calls that do next to
    nothing. got: the share of its processor that this thread got.
    """

    rounds = 0

    def __init__(self, model: nn.Module, arguments: Any, device: str, max_time: float) -> None:
        self.device, self.max_time = device, max_time
        self.samples_s, self.whole_s, self.floor_s = defaultdict[str, list[float]](list), list[float](), list[float]()
        copies = Copies(Real(), Counter())
        own, args, kwargs = copies.of_call((model, *arguments))
        self.whole = Call("", own, (args, kwargs), written=True)
        try:
            with copies.in_place(), process_state_preserved(device), torch.no_grad():
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
        began, before, spent = time.perf_counter(), time.thread_time(), 0.0
        bar = progress(self.max_time, t("placing the layers", "逐层测量"))
        try:
            for _ in self._by_kernels() if self.on_cuda else self._one_by_one():
                self.rounds, started, spent = self.rounds + 1, spent, time.perf_counter() - began
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
        watch, empty = clock(self.device), sweep(self.device)
        calls = [*floor(self.device), *(call for unit in self.layers for call in unit.timed)]
        now, cost_s = watch.reader(), look_s(watch.reader())
        while True:
            if not self.alone:
                self.whole.renew()
                empty()
                parts = by_clock(self.whole, self.modules, now, cost_s)
                self.whole_s.append(sum(parts.values()))
                self.samples_s[OUTSIDE].append(parts[OUTSIDE])
            found = timed_round(calls, watch, empty)
            for name in self.modules:
                self.samples_s[name].append(sum(found[name]))
            self.floor_s += found[FLOOR]
            yield

    def result(self, counted: FlopCount, roof: Peaks) -> Roofline:
        """What was measured; the roof is lifted to the fastest layers, as far as even the slow end of their range shows it."""
        floor_s = median_interval(self.floor_s).low if self.floor_s else 0.0
        flops = {node.name: node.flops for _, node in counted.by_module.walk()} | {"": counted.flops}
        ranges = [(unit, interval_or_none(self.samples_s[unit.name])) for unit in self.layers]
        work = [flops.get(unit.name, 0) / found.high for unit, found in ranges if found]
        traffic = [unit.moved / found.high for unit, found in ranges if found]
        lifted = max(roof.flops_per_s, *work, 0.0), max(roof.bytes_per_s, *traffic, 0.0)
        higher = replace(roof, flops_per_s=lifted[0], bytes_per_s=lifted[1])

        def row(unit: Unit, samples_s: Sequence[float], overhead_s: float, every: Any = None) -> dict[str, Any]:
            about = unit.name, type(unit.module).__name__, unit.calls, (flops.get(unit.name, 0), unit.moved)
            return row_of(*about, samples_s, higher, overhead_s, every)

        rounds_s = [sum(parts) for parts in zip(*self.samples_s.values(), strict=True)]
        every = None if self.alone else (sum(map(median, self.samples_s.values())), rounds_s)
        rows = [row(unit, self.samples_s[unit.name], unit.calls * floor_s, every) for unit in self.layers]
        idle = max(0.0, 1 - median(rounds_s) / max(median(self.whole_s), TINY)) if self.on_cuda else None
        if not self.alone:
            least_s = max((idle or 0.0) * median(self.whole_s), floor_s * sum(unit.calls for unit in self.layers))
            rest = max(0, counted.flops - sum(row["flops"] for row in rows))
            rows.append(row_of(OUTSIDE, "", 1, (rest, 0), self.samples_s[OUTSIDE], higher, every=every))
            rows.insert(0, row(self.own, self.whole_s, least_s))
        return Roofline(rows, higher, self.rounds, tuple(self._remarks(counted, roof, higher)), idle)

    def _remarks(self, counted: FlopCount, roof: Peaks, higher: Peaks) -> Iterator[str]:
        if not enough(self.rounds):
            few = pick(too_few(self.rounds))
            yield t(f"Likely ranges: {few}; give it more max_time.", f"可能范围：{few}；请调大 max_time。")
        if self.device == "cpu":
            yield from disturbed(min(self.got, roof.got))
        if not counted.exact:
            yield f"FLOPs{t(': ', '：')}{certificate(counted)}{t('.', '。')}"
        if higher != roof:
            yield t(
                "A layer was faster than the probes: the roof is raised to it.", "有的层比探测还快：屋顶已抬到那里。"
            )
