"""Rounds of a comparison: one block of every function in random order, again and again, until that says enough."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from course.i18n import t
from course.timing import sameness, stats, validation
from course.timing.clock import Clock, calls_for, end_progress, progress
from course.timing.effort import PARALLEL, Effort, crowded_note, threads
from course.timing.faults import fault_note, minor_faults
from course.timing.results import Comparison, Paired
from course.timing.workers import Worker

WARMUP_SHARE = 0.15
"""Largest part of the budget that goes into warming up after the first calls."""


@dataclass(frozen=True)
class Plan:
    """What is asked of a comparison, as the arguments of `compare`.

    patience_s: first calls that take longer, all together, are not repeated. order: draws the random order.
    """

    baseline: str
    ci: float
    max_time: float
    gate: float
    same: bool | float
    patience_s: float
    order: random.Random

    def tolerance(self) -> float | None:
        """Largest difference of results that counts as none; None: by type."""
        return None if isinstance(self.same, bool) else self.same


class Run:
    """The state of one comparison while it is being measured: functions of this process, or workers."""

    def __init__(self, plan: Plan, functions: Mapping[str, Callable[..., Any]], clock: Clock) -> None:
        self.plan, self.functions, self.clock = plan, functions, clock
        self.max_time, self.baseline = plan.max_time, plan.baseline
        self.first: dict[str, float] = {}
        self.results: dict[str, Any] = {}
        self.calls: dict[str, int] = {}
        self.times: dict[str, list[float]] = {name: [] for name in functions}
        self.faults: dict[str, list[float]] = {name: [] for name in functions}
        self.notes: list[str] = []
        self.effort: Effort | None = None
        self.complete, self.final = True, True

    def go(self, sink: Any = None) -> Comparison:
        """Measure and conclude. sink: what the functions printed, for a note."""
        self.began = self.clock.now()
        bar = progress(self.max_time, t("comparing", "比较中"))
        try:
            self._first_calls()
            self.started = self.clock.now()
            if self._fits():
                self._warm_up()
                self.effort = Effort()
                self._rounds(bar)
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(self._whole_rounds() > 0):
                raise
            self.complete = False
            self.notes.append(validation.interrupted_note())
        finally:
            end_progress(bar)
        if sink is not None:
            self.notes += validation.print_note(sink)
        return self._result()

    def _spent(self) -> float:
        """Seconds since the first calls: what happens only once is not taken from the budget."""
        return self.clock.now() - self.started

    def _whole_rounds(self) -> int:
        return min(len(v) for v in self.times.values())

    def _first_calls(self) -> None:
        """Each function once: its first time, and a digest of what it returns."""
        for name, f in self.functions.items():
            kept: list[Any] = []
            with validation.named_errors(name, 1):
                self.first[name] = self.clock.block(validation.checked(name, f, kept), 1)
            if self.plan.same is False:
                continue
            self.results[name] = f.first["result"] if isinstance(f, Worker) else sameness.digest(kept.pop())

    def _fits(self) -> bool:
        """Whether a round fits into the budget; if not, one round (or the first calls) is all there is."""
        slow = sum(self.first.values())
        if slow < self.max_time / 2:
            return True
        self.calls = dict.fromkeys(self.functions, 1)
        only = self.first if slow > self.plan.patience_s else self._one_round()
        if sum(only.values()) < self.max_time:
            return True
        self.times = {name: [seconds] for name, seconds in only.items()}
        need = f"{12 * sum(only.values()):.0f}"
        self.notes.append(
            t(
                f"One round takes longer than the budget of {self.max_time:g} s. "
                f"For a verdict give max_time={need} or make the work smaller.",
                f"一轮就超过了 {self.max_time:g} 秒的预算。想得到结论，请设 max_time={need}，或减小工作量。",
            )
        )
        return False

    def _warm_up(self) -> None:
        limit = self._spent() + WARMUP_SHARE * self.max_time
        for name, f in self.functions.items():
            with validation.named_errors(name, 2):
                self.calls[name] = calls_for(self.clock, f)
        seen: dict[str, list[float]] = {name: [] for name in self.functions}
        while self._spent() < limit and not all(stats.steady(v) for v in seen.values()):
            for name, seconds in self._one_round().items():
                seen[name].append(seconds)

    def _one_round(self) -> dict[str, float]:
        """One block of every function in random order; seconds for one call each."""
        names = list(self.functions)
        self.plan.order.shuffle(names)
        seconds = {}
        for name in names:
            f, calls = self.functions[name], self.calls[name]
            faults_so_far = getattr(f, "minor_faults", minor_faults)
            before = faults_so_far()
            with validation.named_errors(name, 2):
                seconds[name] = self.clock.block(f, calls) / calls
            if before is not None:
                self.faults[name].append((faults_so_far() - before) / calls)
        return seconds

    def _rounds(self, bar: Any) -> None:
        shown = self._spent()
        while True:
            for name, seconds in self._one_round().items():
                self.times[name].append(seconds)
            spent = self._spent()
            if spent - shown > 0.2:
                bar.update(min(spent, self.max_time) - min(shown, self.max_time))
                shown = spent
            rounds = self._whole_rounds()
            if spent >= self.max_time and not self._held_up(spent):
                return
            if stats.is_look(rounds) and all(self._settled(name) for name in self._candidates()):
                self.final = False
                return

    def _held_up(self, spent: float) -> bool:
        """Whether the machine stalled: 12 rounds should have fitted into half the budget."""
        if self._whole_rounds() >= stats.FIRST_LOOK or spent >= 2 * self.max_time:
            return False
        usual = sum(stats.median(seconds) * self.calls[name] for name, seconds in self.times.items())
        return usual * stats.FIRST_LOOK < self.max_time / 2

    def _candidates(self) -> list[str]:
        return [name for name in self.functions if name != self.baseline]

    def _ratios(self, name: str) -> list[float]:
        return [c / b for c, b in zip(self.times[name], self.times[self.baseline], strict=False)]

    def _error(self) -> float:
        return stats.error_at(self._whole_rounds(), self.final, len(self._candidates()))

    def _settled(self, name: str) -> bool:
        ratios = self._ratios(name)
        error = stats.error_at(len(ratios), False, len(self._candidates()))
        interval = stats.median_interval(ratios, error)
        return stats.settled(interval, stats.median(ratios), self.plan.ci, self.plan.gate, error)

    def _result(self) -> Comparison:
        remote = any(isinstance(f, Worker) for f in self.functions.values())
        busy = self.effort.busy() if self.effort and not remote and self.clock.device == "cpu" else 1.0
        pairs = {name: self._paired(name) for name in self._candidates()}
        if busy > PARALLEL and any(pair.verdict == "undecided" for pair in pairs.values()):
            self.notes.append(crowded_note(busy))
        usual_faults = {n: stats.median(v) if v else None for n, v in self.faults.items()}
        medians = {n: stats.median(v) for n, v in self.times.items()}
        self.notes += sameness.notes(pairs)
        self.notes += filter(None, (fault_note(n, usual_faults[n], medians[n]) for n in self.functions))
        return Comparison(
            baseline=self.baseline,
            pairs=pairs,
            medians_ms={n: s * 1e3 for n, s in medians.items()},
            first_call_ms={n: s * 1e3 for n, s in self.first.items()},
            calls=dict(self.calls),
            rounds=self._whole_rounds(),
            seconds=self.clock.now() - self.began,
            ci=self.plan.ci,
            gate=self.plan.gate,
            max_time=self.max_time,
            device=self.clock.device,
            clock=self.clock.kind,
            cache=self.clock.cache,
            threads=threads(self.clock),
            faults_per_call=usual_faults,
            complete=self.complete,
            notes=tuple(self.notes),
        )

    def _paired(self, name: str) -> Paired:
        ratios, error = self._ratios(name), self._error()
        interval, ratio = stats.median_interval(ratios, error), stats.median(ratios)
        return Paired(
            name=name,
            baseline=self.baseline,
            ratio=ratio,
            low=interval.low,
            high=interval.high,
            confidence=interval.confidence,
            ratios=tuple(ratios),
            gate=self.plan.gate,
            verdict=stats.decide(interval, ratio, self.plan.ci, self.plan.gate, error),
            difference=self._difference(name),
        )

    def _difference(self, name: str) -> str | None:
        """How the first result differs from the baseline's: in words, empty, or None where that was not asked."""
        if self.plan.same is False:
            return None
        return sameness.difference(self.results[self.baseline], self.results[name], self.plan.tolerance()) or ""
