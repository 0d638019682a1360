"""`compare`: which of several functions is faster, decided on paired blocks in random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from course.i18n import t
from course.timing import guard, stats
from course.timing.clock import Clock, calls_for, end_progress, given_clock, progress
from course.timing.effort import PARALLEL, Effort, crowded_note, threads
from course.timing.graph import as_cuda_graph
from course.timing.results import Comparison, Paired

WARMUP_SHARE = 0.15
"""Largest part of the budget that goes into warming up after the first calls."""
PATIENCE = 10
"""First calls that take longer than this many budgets are not repeated."""


def compare(
    candidates: Mapping[str, Callable[[], Any]],
    baseline: str | None = None,
    ci: float = 0.005,
    max_time: float = 5.0,
    gate: float = 0.02,
    *,
    device: Any = None,
    clock: str | Clock = "auto",
    cache: str = "hot",
    cuda_graph: bool = False,
    fresh_process: bool = False,
    seed: int | None = None,
) -> Comparison:
    """Compare functions that take no arguments; ratio = time(candidate) / time(baseline), < 1 is faster.

    Each round times one block (>= 0.3 ms, or one call) of every function in random order; neighbours in
    time share the machine's mood, so the median of their ratios is steady where single times are not.
    Stops when the interval is within +/- ci, or clears the gate, or after max_time seconds (warm-up
    included, the first call of each not). faster or slower: the interval excludes 1 and the ratio is
    further than ci from it; same: the interval lies within 1 +/- gate. Looks at the data after 12, 24,
    48, ... rounds with stricter intervals, so that stopping early keeps false alarms at 5 % in all.

    baseline: a key of `candidates` (default: the first). device, clock, cache: see `clock_for`.
    cuda_graph: capture each function in a CUDA graph first. fresh_process: candidates are
    "module:function" strings or functions of a file that can be imported (no lambda, nothing defined in a
    notebook: write it to a file with %%writefile), each run in a process of its own, taking turns;
    needed where a process remembers (cuDNN keeps a plan per shape); differences below the gate are then
    never called faster or slower, for processes differ among themselves. seed: of the random order.
    An interrupt returns what was measured so far (none: Interrupted). Raises TimingError, in words, for odd
    input.
    """
    base = guard.require_candidates(candidates, baseline)
    guard.require_positive(ci=ci, max_time=max_time, gate=gate)
    run = _Run(base, ci, max_time, gate, random.Random(seed))
    if fresh_process:
        from course.timing.fresh import Setting, Workers

        setting = Setting(device, guard.require_clock_name(clock), cache, cuda_graph)
        with guard.interrupts_in_words(), Workers(candidates, setting) as workers:
            run.resolution = max(ci, gate)  # equal code differs by about 1 % from process to process
            return run.go(workers.functions, workers.clock, fresh=True)
    for name, f in candidates.items():
        guard.require_callable(name, f)
    chosen = given_clock(device, clock, cache)
    functions = {n: as_cuda_graph(f) if cuda_graph else f for n, f in candidates.items()}
    with guard.interrupts_in_words(), guard.hidden_prints() as sink:
        return run.go(functions, chosen, fresh=False, sink=sink)


class _Run:
    """The state of one comparison while it is being measured."""

    def __init__(self, baseline: str, ci: float, max_time: float, gate: float, order: random.Random) -> None:
        self.baseline, self.ci, self.max_time, self.gate, self.order = baseline, ci, max_time, gate, order
        self.resolution = ci
        self.first: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self.times: dict[str, list[float]] = {}
        self.notes: list[str] = []
        self.effort: Effort | None = None
        self.complete, self.final = True, True

    def go(self, functions: Mapping[str, Callable[[], Any]], clock: Clock, fresh: bool,
           sink: Any = None) -> Comparison:
        self.clock, self.functions, self.began = clock, functions, clock.now()
        self.times = {name: [] for name in functions}
        bar = progress(self.max_time, t("comparing", "比较中"))
        try:
            self._first_calls()
            self.started = clock.now()
            if self._fits():
                self._warm_up()
                self.effort = Effort()
                self._rounds(bar)
        except KeyboardInterrupt:
            if not guard.swallow_interrupt(self._whole_rounds() > 0):
                raise
            self.complete = False
            self.notes.append(guard.interrupted_note())
        finally:
            end_progress(bar)
        if sink is not None:
            self.notes += guard.print_note(sink)
        return self._result(fresh)

    def _spent(self) -> float:
        """Seconds since the first calls: what happens only once is not taken from the budget."""
        return self.clock.now() - self.started

    def _whole_rounds(self) -> int:
        return min(len(v) for v in self.times.values())

    def _first_calls(self) -> None:
        for name, f in self.functions.items():
            with guard.named_errors(name, 1):
                self.first[name] = self.clock.block(guard.checked(name, f), 1)

    def _fits(self) -> bool:
        """Whether a round fits into the budget; if not, one round (or the first calls) is all there is."""
        slow = sum(self.first.values())
        if slow < self.max_time / 2:
            return True
        self.calls = dict.fromkeys(self.functions, 1)
        only = self.first if slow > PATIENCE * self.max_time else self._one_round()
        if sum(only.values()) < self.max_time:
            return True
        self.times = {name: [seconds] for name, seconds in only.items()}
        need = f"{12 * sum(only.values()):.0f}"
        self.notes.append(t(
            f"One round takes longer than the budget of {self.max_time:g} s. For a verdict give "
            f"max_time={need} or make the work smaller.",
            f"一轮就超过了 {self.max_time:g} 秒的预算。想得到结论，请设 max_time={need}，或减小工作量。",
        ))
        return False

    def _warm_up(self) -> None:
        limit = self._spent() + WARMUP_SHARE * self.max_time
        for name, f in self.functions.items():
            with guard.named_errors(name, 2):
                self.calls[name] = calls_for(self.clock, f)
        seen: dict[str, list[float]] = {name: [] for name in self.functions}
        while self._spent() < limit and not all(stats.steady(v) for v in seen.values()):
            for name, seconds in self._one_round().items():
                seen[name].append(seconds)

    def _one_round(self) -> dict[str, float]:
        """One block of every function in random order; seconds for one call each."""
        names = list(self.functions)
        self.order.shuffle(names)
        seconds = {}
        for name in names:
            with guard.named_errors(name, 2):
                seconds[name] = self.clock.block(self.functions[name], self.calls[name]) / self.calls[name]
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
        return stats.settled(interval, stats.median(ratios), self.ci, self.gate, error)

    def _result(self, fresh: bool) -> Comparison:
        rounds = self._whole_rounds()
        busy = self.effort.busy() if self.effort and not fresh and self.clock.device == "cpu" else 1.0
        pairs = {name: self._paired(name) for name in self._candidates()}
        if busy > PARALLEL and any(pair.verdict == "undecided" for pair in pairs.values()):
            self.notes.append(crowded_note(busy))
        return Comparison(
            baseline=self.baseline, pairs=pairs,
            medians_ms={n: stats.median(v) * 1e3 for n, v in self.times.items()},
            first_call_ms={n: s * 1e3 for n, s in self.first.items()}, calls=dict(self.calls), rounds=rounds,
            seconds=self.clock.now() - self.began, ci=self.ci, gate=self.gate, max_time=self.max_time,
            device=self.clock.device, clock=self.clock.kind, cache=self.clock.cache,
            threads=threads(self.clock),
            fresh_process=fresh, complete=self.complete, notes=tuple(self.notes),
        )

    def _paired(self, name: str) -> Paired:
        ratios, error = self._ratios(name), self._error()
        interval, ratio = stats.median_interval(ratios, error), stats.median(ratios)
        return Paired(
            name=name, baseline=self.baseline, ratio=ratio, low=interval.low, high=interval.high,
            confidence=interval.confidence, ratios=tuple(ratios), gate=self.gate,
            verdict=stats.decide(interval, ratio, self.resolution, self.gate, error),
        )
