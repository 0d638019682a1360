"""`measure`: how long a call takes, with its first call apart and an interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.bars import end_progress, progress, reach
from course.i18n import t
from course.timing import stats, validation
from course.timing.clock import Clock, calls_for, given_clock
from course.timing.deadline import out_of_time
from course.timing.effort import Effort, overhead_ns, threads
from course.timing.leftovers import Kept, Left, left_notes, within_reach
from course.timing.results import Measurement
from course.timing.sentences import waits_note

WARMUP_SHARE = 0.3
"""Largest part of the budget that goes into warming up after the first call."""
PATIENCE = 10
"""A first call that takes longer than this many budgets is not repeated."""
TINY = 0.2
"""A larger part of the median than this in the timer's own overhead gets a remark."""
MAX_SAMPLES = 10_000
"""Most samples of one measurement: blocks are made so long that no more fit into the budget."""


def measure(
    f: Callable[..., Any],
    *given: Any,
    max_time: float = 1.0,
    device: Any = None,
    clock: str | Clock = "auto",
    setup: Any = None,
    name: str | None = None,
) -> Measurement:
    """Time `f()` for at most `max_time` seconds after its first call: median, interval, samples.

    Warms up until two successive block medians agree within 2 % (at most 30 % of the budget), then times blocks (on a CPU of at
    least 25 us, elsewhere of 0.3 ms; or a ten-thousandth of the budget). setup: runs before every call, outside the time; what it
    returns (unless None) is handed to `f`. device: default, where the tensors of the first call are. clock: "auto", "wall" or
    "events" (see `clock_for`), or a `Clock`. On an accelerator there are two numbers: the device's own time of a call, and
    `issue_ms`, which Python takes to issue one.

    The interval is that of the median within this run. Switches, default dtype and gradients that `f` leaves with another value are
    put back and named in the notes. After an interrupt, returns what was measured so far (raises Interrupted if that is nothing).
    Raises TimingError, with a sentence, for arguments that cannot be measured.
    """
    label = name or str(getattr(f, "__name__", type(f).__name__)).strip("<>")  # "<lambda>" is told as lambda
    validation.require_no_arguments(label, given)
    validation.require_positive(max_time=max_time)
    validation.require_setup(setup)
    validation.require_callable(label, f, setup is not None)
    chosen = given_clock(device, clock, setup)
    with validation.interrupts_in_words(), validation.hidden_prints() as sink:
        run = _Run(label, f, chosen, max_time)
        run.go()
    return run.result(validation.print_note(sink))


class _Run:
    """The state of one measurement while it is under way."""

    def __init__(self, name: str, f: Callable[..., Any], clock: Clock, max_time: float) -> None:
        self.name, self.f, self.clock, self.max_time = name, f, clock, max_time
        self.samples: list[float] = []
        self.calls, self.complete = 1, True
        self.notes: list[str] = []

    def go(self) -> None:
        """First call, warm-up, samples."""
        self.began = self.started = self.clock.now()
        bar = progress(self.max_time, t("measuring", "测量中"))
        self.kept = Kept(within_reach(self.f))
        left = Left(self.kept.objects.values())
        try:
            with validation.named_errors(self.name, 1):
                self.first = self.clock.for_first_calls().block(validation.checked(self.name, self.f), 1)
            self.kept.first_call_done()
            self.clock = self.clock.settled()
            self.started, self.effort = self.clock.now(), Effort()
            if self._fits():
                self._warm_up()
                while len(self.samples) < MAX_SAMPLES:
                    self.samples.append(self._block())
                    reach(bar, self._spent(), self.max_time)
                    if self._spent() >= self.max_time or out_of_time():
                        break
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(hasattr(self, "first")):
                raise
            self.complete = False
            self.notes.append(validation.interrupted_note())
        finally:
            end_progress(bar)
            self.left = left.put_back()

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
            return self.clock.block(self.f, self.calls) / self.calls

    def _warm_up(self) -> None:
        limit = self._spent() + WARMUP_SHARE * self.max_time
        with validation.named_errors(self.name, 2):
            self.calls = calls_for(self.clock, self.f, max(self.clock.block_s, self.max_time / MAX_SAMPLES))
        seen: list[float] = []
        while self._spent() < limit and not stats.steady(seen) and not out_of_time():
            seen.append(self._block())

    def result(self, notes: list[str]) -> Measurement:
        """The samples so far as a Measurement."""
        samples = self.samples or [self.first]
        median, quality = stats.median(samples), stats.quality(samples)
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
        if self.clock.device == "cpu" and quality == "noisy":
            self.notes += self.effort.note()
        overhead = overhead_ns(self.clock.bare(), self.calls)
        if overhead * 1e-9 > TINY * median:
            self.notes.append(
                t(
                    f"Calling a function that does nothing takes {overhead:.0f} ns in this timer, much of what was measured. "
                    "To time so little work, repeat it inside the function.",
                    f"在这个计时器里，调用一个空函数就要 {overhead:.0f} ns，占了测得时间的一大部分。"
                    "要测这么小的工作量，请在函数内部多重复几次。",
                )
            )
        waiting, issuing = self.clock.waits(self.f), self.clock.issue_s(self.f)
        self.notes += [waits_note([self.name])] * waiting
        self.notes += self.kept.notes(self.name) + left_notes({self.name: self.left})
        interval = stats.interval_or_none(samples)
        return Measurement(
            name=self.name,
            median_ms=median * 1e3,
            low_ms=interval.low * 1e3 if interval else None,
            high_ms=interval.high * 1e3 if interval else None,
            confidence=interval.confidence if interval else 0.0,
            samples_ms=tuple(s * 1e3 for s in samples),
            first_call_ms=self.first * 1e3,
            quality=quality,
            calls_per_sample=self.calls,
            overhead_ns=overhead,
            device=self.clock.device,
            clock="wall" if waiting else self.clock.kind,
            issue_ms=None if issuing is None else issuing * 1e3,
            threads=threads(self.clock),
            seconds=self.clock.now() - self.began,
            complete=self.complete,
            notes=(*self.notes, *notes),
        )
