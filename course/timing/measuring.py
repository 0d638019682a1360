"""`measure`: how long one function takes, with its first call, its spread and a reference_op beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course.i18n import t
from course.timing import pairs, stats, validation
from course.timing.clock import (
    MIN_BLOCK_S,
    Clock,
    calls_for,
    end_progress,
    for_first_calls,
    given_clock,
    issue_s,
    progress,
    settled,
    waits,
    waits_note,
    with_setup,
)
from course.timing.deadline import out_of_time
from course.timing.effort import PARALLEL, Effort, crowded_note, overhead_ns, threads
from course.timing.faults import fault_note, minor_faults
from course.timing.preemption import Watch, watch_for
from course.timing.results import Measurement

WARMUP_SHARE = 0.3
"""Largest part of the budget that goes into warming up after the first call."""
PATIENCE = 10
"""A first call that takes longer than this many budgets is not repeated."""
TINY = 0.2
"""A larger part of the median than this in the timer's own overhead gets a remark."""
EFFORT_S = 0.06
"""Seconds for which the number of working threads is watched: a system updates the time of other threads every few ms
only."""
REFERENCE = "small product"
"""The reference op: a product of two 16 x 16 float32 matrices, so little work that one thread does it."""
MAX_SAMPLES = 10_000
"""Most samples of one measurement: blocks are made so long that no more fit into the budget."""
SHORTEST_S = 0.2
"""Least time for the measuring in one of several processes, in seconds."""


def measure(
    f: Callable[..., Any],
    *given: Any,
    max_time: float | None = None,
    device: Any = None,
    clock: str | Clock = "auto",
    cache: str = "hot",
    setup: Any = None,
    processes: int = 1,
    calibrate: str | Callable[[], Any] | None = REFERENCE,
    name: str | None = None,
    seed: int | None = None,
) -> Measurement:
    """Time `f()` for at most `max_time` seconds (default 1) after its first call: median, interval, samples.

    Warms up until two successive block medians agree within 2 % (at most 30 % of the budget). Blocks (on a CPU of at
    least 25 us, elsewhere of 0.3 ms; or a ten-thousandth of the budget) of `f` and of a reference op alternate at random;
    `relative` is the ratio of the two. It repeats where the absolute time does not, as long as both depend on the
    same part of the machine. calibrate: a function of your own in place of the reference op, or None.
    setup: runs before every call, outside the
    time; what it returns (unless None) is handed to `f`. device: default, where the
    tensors of the first call are. clock, cache: see `clock_for`. On an accelerator there are two numbers: the device's own time of
    a call, and `issue_ms`, which Python takes to issue one.

    The interval is that of the median within this run. processes=5 measures in five new processes one after another
    (max_time seconds in all, at least 0.2 each, default 2; starting them comes on top), and the interval tells
    where a repetition lands in 95 of 100 cases, if the speed of the machine differs from run to run no more than from
    process to process. `f` and setup are then "module:function" strings or importable functions, calibrate
    is left out or None. After an interrupt, returns what was measured so far (raises Interrupted if that is nothing). Raises
    TimingError, with a sentence, for arguments that cannot be measured.
    """
    validation.require_processes(processes)
    label = name or _name_of(f)
    validation.require_no_arguments(label, given)
    max_time = (1.0 if processes == 1 else 2.0) if max_time is None else max_time
    validation.require_positive(max_time=max_time)
    if calibrate not in (REFERENCE, None):
        validation.require_callable("calibrate", calibrate)
    if processes > 1:
        from course.timing.processes import measure_in_processes

        each = {"max_time": max(SHORTEST_S, max_time / processes), "calibrate": calibrate, "seed": seed}
        return measure_in_processes(
            f, label, processes, each, device, validation.require_clock_name(clock), cache, setup
        )
    validation.require_setup(setup)
    validation.require_callable(label, f, setup is not None)
    chosen = given_clock(device, clock, cache)
    with validation.interrupts_in_words(), validation.hidden_prints() as sink:
        run = _Run(label, f, chosen, setup, max_time, calibrate, random.Random(seed))
        run.go()
    return run.result(validation.print_note(sink))


def _name_of(f: Any) -> str:
    if isinstance(f, str):
        return f.partition(":")[2] or f
    return str(getattr(f, "__name__", type(f).__name__)).strip("<>")  # "<lambda>" is told as lambda


def reference_op(choice: str | Callable[[], Any] | None, device: str) -> tuple[str, Callable[[], Any]] | None:
    """(name, function) of what is timed beside the function; None where nothing is."""
    if choice is None:
        return None
    if not isinstance(choice, str):
        return getattr(choice, "__name__", "calibrate"), choice
    import torch

    where = next((d for d in device.split("+") if d != "cpu"), "cpu")
    edge = 16
    room = torch.full((2, edge * edge + 512), 0.5, device=where)  # one piece: their distance never varies
    a, out = (row[: edge * edge].view(edge, edge) for row in room)
    mm = torch.mm
    return choice, lambda: mm(a, a, out=out)


class _Run:
    """The state of one measurement while it is under way."""

    def __init__(
        self,
        name: str,
        f: Callable[..., Any],
        clock: Clock,
        setup: Callable[[], Any] | None,
        max_time: float,
        calibrate: str | Callable[[], Any] | None,
        order: random.Random,
    ) -> None:
        self.name, self.f, self.clock, self.max_time, self.order = name, f, clock, max_time, order
        self.setup, self.timer = setup, with_setup(clock, setup)
        self.calibrate = calibrate
        self.calibration: tuple[str, Callable[[], Any]] | None = None
        self.busy = 1.0
        self.samples: list[float] = []
        self.reference_s: list[float] = []
        self.spans: list[tuple[float, float]] = []  # of a sample with its reference_op, on the clock
        self.first_of_two: list[bool] = []
        self.ratios: list[float] = []
        self.cpu: list[float] = []
        self.watch: Watch | None = None
        self.faults: list[float] = []
        self.calls = 1
        self.warmup_calls, self.warm, self.complete = 0, False, True
        self.notes: list[str] = []

    def go(self) -> None:
        """First call, warm-up, samples."""
        self.began = self.clock.now()
        with validation.named_errors(self.name, 1):
            self.first = for_first_calls(self.timer).block(validation.checked(self.name, self.f), 1)
        self.clock = settled(self.clock)
        self.timer = with_setup(self.clock, self.setup)
        self.started = self.clock.now()
        bar = progress(self.max_time, t("measuring", "测量中"))
        try:
            if self._fits():
                self._warm_up()
                self._sample(bar)
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(True):
                raise
            self.complete = False
            self.notes.append(validation.interrupted_note())
        finally:
            end_progress(bar)

    def _spent(self) -> float:
        """Seconds since the first call: what happens only once is not taken from the budget."""
        return self.clock.now() - self.started

    def _fits(self) -> bool:
        """Whether a call fits into the budget; if not, the second call (or the first) is all there is."""
        if self.first < self.max_time / 2:
            return True
        if self.first > PATIENCE * self.max_time or out_of_time():
            return False
        second = self._block()
        if second >= self.max_time:
            self.samples.append(second)
        return second < self.max_time

    def _block(self) -> float:
        with validation.named_errors(self.name, 2):
            return self.timer.block(self.f, self.calls) / self.calls

    def _warm_up(self) -> None:
        limit = self._spent() + WARMUP_SHARE * self.max_time
        with validation.named_errors(self.name, 2):
            self.calls = calls_for(self.timer, self.f, self._target())
        seen: list[float] = []
        effort, least = Effort(), self._spent() + min(EFFORT_S, WARMUP_SHARE / 2 * self.max_time)
        while self._spent() < limit and not (self.warm and self._spent() >= least) and not out_of_time():
            seen.append(self._block())
            self.warmup_calls += self.calls
            self.warm = stats.steady(seen)
        self.watch = watch_for(self.timer, self.calls * min(seen, default=self.first))
        self.busy = effort.busy()
        making = self._spent()
        self.calibration = reference_op(self.calibrate, self.clock.device)
        self.started += self._spent() - making  # perhaps torch had to be imported for it
        if self.calibration:
            self.calibration_calls = calls_for(self.clock, self.calibration[1], self._target())

    def _sample(self, bar: Any) -> None:
        shown = self._spent()
        while len(self.samples) < MAX_SAMPLES:
            self._one_sample()
            spent = self._spent()
            if spent - shown > 0.2:
                bar.update(min(spent, self.max_time) - min(shown, self.max_time))
                shown = spent
            if spent >= self.max_time or out_of_time():
                return

    def _target(self) -> float:
        """Shortest block in seconds."""
        return max(getattr(self.clock, "block_s", MIN_BLOCK_S), self.max_time / MAX_SAMPLES)

    def _one_sample(self) -> None:
        """One block of the function, and beside it, before or after at random, one of the reference_op."""
        reference_first = self.calibration is not None and self.order.random() < 0.5
        began = self.clock.now()
        reference = self._reference() if reference_first else 0.0
        before = minor_faults()
        if self.watch:
            seconds, cpu = self.watch.block(self._block)
            self.cpu.append(cpu / self.calls)
        else:
            seconds = self._block()
        after = minor_faults()
        self.samples.append(seconds)
        if before is not None and after is not None:
            self.faults.append((after - before) / self.calls)
        if self.calibration is not None:
            self.reference_s.append(reference if reference_first else self._reference())
            self.spans.append((began, self.clock.now()))
            self.first_of_two.append(not reference_first)
        if self.watch:
            self.watch.round_ends()

    def _relative(self) -> tuple[float, stats.Interval | None] | None:
        """Centre and interval of the time over that of the reference_op; None without one."""
        count = len(self.spans)  # an interrupt may have cut the last pair
        if not count:
            return None
        near = [b[0] - a[1] < pairs.NEAR_S for a, b in zip(self.spans, self.spans[1:], strict=False)]
        beside = pairs.Pairs(self.samples[:count], self.reference_s[:count], self.first_of_two, [False, *near])
        self.ratios = beside.ratios()
        centre, interval = pairs.estimate(beside, stats.TOTAL_ERROR)
        return centre, stats.shown(interval, count)

    def _reference(self) -> float:
        assert self.calibration is not None
        return self.clock.block(self.calibration[1], self.calibration_calls) / self.calibration_calls

    def result(self, notes: list[str]) -> Measurement:
        """The samples so far as a Measurement."""
        samples = self.samples or [self.first]
        if self.complete and len(samples) == 1:
            need = f"{max(12 * samples[0], 2 * self.max_time):.3g}"
            self.notes.append(
                t(
                    f"One call took about the whole budget of {self.max_time:g} s: this is a single sample. "
                    f"For an interval give max_time={need} or make the work smaller.",
                    f"一次调用就差不多用完了 {self.max_time:g} 秒的预算：这里只有一个样本。"
                    f"想得到区间，请设 max_time={need}，或减小工作量。",
                )
            )
        relative = self._relative()
        cpu = self.watch is not None and bool(self.cpu) and self.watch.says_cpu()
        if cpu and self.watch:
            samples = self.cpu
            self.notes.append(self.watch.note())
        interval = stats.interval_or_none(samples)
        quality = stats.quality(samples)
        drift = stats.drift(samples)
        if drift and drift.also_of(self.ratios or samples):  # beside a reference_op a slow minute is no drift
            quality = "drifting"
        if self.busy > PARALLEL and self.clock.device == "cpu" and quality in ("noisy", "bimodal"):
            self.notes.append(crowded_note(self.busy))
        overhead = overhead_ns(self.clock, self.calls)
        if overhead * 1e-9 > TINY * stats.median(samples):
            self.notes.append(
                t(
                    f"Calling a function that does nothing takes {overhead:.0f} ns in this timer, much of what was measured. "
                    "To time so little work, repeat it inside the function.",
                    f"在这个计时器里，调用一个空函数就要 {overhead:.0f} ns，占了测得时间的一大部分。"
                    "要测这么小的工作量，请在函数内部多重复几次。",
                )
            )
        faults = stats.median(self.faults) if self.faults else None
        self.notes += filter(None, [fault_note(self.name, faults, stats.median(samples))])
        waiting, issuing = waits(self.timer, self.f), issue_s(self.timer, self.f)
        self.notes += [waits_note([self.name])] * waiting
        ratio = relative[1] if relative else None
        ms = [s * 1e3 for s in samples]
        return Measurement(
            name=self.name,
            median_ms=stats.median(ms),
            p10_ms=stats.quantile(ms, 0.1),
            low_ms=interval.low * 1e3 if interval else None,
            high_ms=interval.high * 1e3 if interval else None,
            confidence=interval.confidence if interval else 0.0,
            samples_ms=tuple(ms),
            first_call_ms=self.first * 1e3,
            relative=relative[0] if relative else None,
            relative_low=ratio.low if ratio else None,
            relative_high=ratio.high if ratio else None,
            calibration=self.calibration[0] if self.calibration and relative else None,
            quality=quality,
            calls_per_sample=self.calls,
            warmup_calls=self.warmup_calls,
            warm=self.warm,
            overhead_ns=overhead,
            faults_per_call=faults,
            device=self.clock.device,
            clock="cpu" if cpu else "wall" if waiting else self.clock.kind,
            issue_ms=None if issuing is None else issuing * 1e3,
            cache=self.clock.cache,
            threads=threads(self.clock),
            busy_threads=self.busy,
            seconds=self.clock.now() - self.began,
            complete=self.complete,
            notes=(*self.notes, *notes),
        )
