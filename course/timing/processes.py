"""Compare or measure in several new processes; the interval is computed from one value of each process.

Equal code differs from process to process (hash seed, where code and memory lie: T. Mytkowicz et al., "Producing wrong
data without doing anything obviously wrong!", ASPLOS 2009) by more than the interval within one pair of processes.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from course.i18n import t
from course.timing import sameness, stats, validation, verdicts
from course.timing.clock import end_progress, progress
from course.timing.deadline import out_of_time
from course.timing.faults import fault_note
from course.timing.moderated import reined
from course.timing.results import Comparison, Measurement, Paired
from course.timing.rounds import Plan, Run
from course.timing.workers import Setting, Worker, Workers, target_of

SLICE_S = 0.2
"""Fewest seconds for the rounds of one set of processes. More rounds of quick functions would not help, because processes differ by
more; see `slice_s`."""

Open = Callable[[Sequence[str]], AbstractContextManager[Any]]


def compare_in_processes(
    candidates: Mapping[str, Any], plan: Plan, device: Any, clock: str, cache: str, setup: Any
) -> Comparison:
    """`compare` with fresh_process=True."""
    common = Setting(device, clock, cache, setup).as_plain()
    specs = {name: {"target": target_of(name, candidate), **common} for name, candidate in candidates.items()}
    names = [name for name in candidates if name != plan.baseline]
    with validation.interrupts_in_words():
        sets = Replicates(plan, lambda names: Workers({n: specs[n] for n in names}), time.perf_counter)
        return sets.go(names, plan.max_time)


def slice_s(set_s: float, round_s: float, most_s: float) -> float:
    """Seconds for the rounds of one set, at most `most_s`: where single calls differ twice as much as processes do, an hour of sets
    tells most when each spends 2 * sqrt(start * round) on its rounds. set_s: what one takes to start; round_s: one round.
    """
    return max(SLICE_S, min(2 * math.sqrt(set_s * round_s), most_s - set_s))


class Replicates:
    """A comparison with one value of each process. open_workers: starts a process for each of the names given; now: a clock in
    seconds.
    """

    def __init__(self, plan: Plan, open_workers: Open, now: Callable[[], float]) -> None:
        self.plan, self.open_workers, self.now = plan, open_workers, now
        self.found: list[Comparison] = []
        self.settled: set[str] = set()
        self.complete, self.set_s, self.most_s = True, 0.0, 0.0

    def go(self, candidates: Sequence[str], max_time: float, sets: int | None = None) -> Comparison:
        """Start sets of processes, of the baseline and each candidate, until the next set would exceed the time in seconds, or there are
        so many more. A candidate whose interval is narrow enough takes no more part. Can be called again, also with others: what was
        found before counts too.
        """
        began, before = self.now(), len(self.found)
        self.most_s = self.most_s or max_time / verdicts.FIRST_PROCESS_LOOK
        bar = progress(max_time, t("comparing in new processes", "正在新进程中比较"))
        try:
            while open_ := [name for name in candidates if name not in self.settled]:
                spent, count = self.now() - began, len(self.found) - before
                if count and (out_of_time() or spent + spent / count > max_time):
                    break  # a set takes as long as those so far, on average
                if count == sets:
                    break
                self._one_set(open_, max_time)
                self._look()
                bar.update(min(self.now() - began, max_time) - bar.n)
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(bool(self.found)):
                raise
            self.complete = False
        finally:
            end_progress(bar)
        return self._result(self.now() - began, max_time)

    def _one_set(self, candidates: Sequence[str], max_time: float) -> None:
        """Start a new process for each of them, in random order, and add one ratio for each."""
        began, names = self.now(), [self.plan.baseline, *candidates]
        plan = replace(self.plan, ci=self.plan.ci / 2, gate=self.plan.ci, patience_s=max_time)
        order = [*names]
        self.plan.order.shuffle(order)
        with self.open_workers(order) as workers, validation.interrupts_propagate():
            functions = {name: workers.functions[name] for name in names}

            def run(seconds: float) -> Comparison:
                return Run(replace(plan, max_time=seconds), functions, workers.clock).go()

            if self.found:
                found = run(self._slice_s(self.found[-1], names))
            else:
                found = run(SLICE_S)  # says what starting takes, and a round
                self.set_s = self.now() - began
                seconds = self._slice_s(found, names)
                if seconds > SLICE_S:
                    found = replace(run(seconds), first_call_ms=found.first_call_ms)
        self.found.append(found)

    def _slice_s(self, last: Comparison, names: Sequence[str]) -> float:
        """Seconds for the rounds of a set of these. last: the set before."""
        known = last.medians_ms
        round_s = sum(known.get(name, known[self.plan.baseline]) for name in names) / 1e3
        return slice_s(self.set_s, round_s, self.most_s)

    def _look(self) -> None:
        """Settle those that have just had a look, where their intervals are narrow enough."""
        for name in self._names():
            count = len(self._ratios(name))
            if name not in self.settled and verdicts.is_look(count, verdicts.FIRST_PROCESS_LOOK):
                error, plan = self._error(name, False), self.plan
                ratio, interval = self.estimate(name, error)
                if verdicts.settled(interval, ratio, plan.ci, plan.gate, error, verdicts.PROCESS_EFFECT_WIDTH):
                    self.settled.add(name)

    def _names(self) -> list[str]:
        """The candidates so far."""
        return list(dict.fromkeys(name for each in self.found for name in each.pairs))

    def _ratios(self, name: str) -> list[float]:
        return [each.pairs[name].ratio for each in self.found if name in each.pairs]

    def _error(self, name: str, final: bool) -> float:
        """The chance of a false alarm that is allowed."""
        return verdicts.error_at(len(self._ratios(name)), final, len(self._names()), verdicts.FIRST_PROCESS_LOOK)

    def estimate(self, name: str, error: float) -> tuple[float, stats.Interval | None]:
        """The ratio of this candidate, and where it lies but for this chance (None: too few processes). A single value that lies far off
        is taken as less far off."""
        names = self._names()
        ratios = dict(zip(names, reined([self._ratios(one) for one in names]), strict=True))
        own = ratios.pop(name)
        return stats.geometric_mean(own), stats.process_interval(own, error, [*ratios.values()])

    def _paired(self, name: str) -> Paired:
        error = self._error(name, name not in self.settled)
        ratio, interval = self.estimate(name, error)
        ratios, least = self._ratios(name), max(self.plan.ci, self.plan.gate)
        first = next(each.pairs[name] for each in self.found if name in each.pairs)
        return Paired(
            name=name,
            baseline=self.plan.baseline,
            ratio=ratio,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            confidence=interval.confidence if interval else 0.0,
            verdict=verdicts.decide(interval, ratio, least, self.plan.gate, error),
            ratios=tuple(ratios),
            gate=self.plan.gate,
            processes=len(ratios),
            difference=first.difference,
            not_compared=first.not_compared,
        )

    def _result(self, seconds: float, max_time: float) -> Comparison:
        last, pairs = self.found[-1], {name: self._paired(name) for name in self._names()}
        medians, first, faults = (
            {
                name: _middle([values[name] for each in self.found if name in (values := getattr(each, what))])
                for name in [self.plan.baseline, *pairs]
            }
            for what in ("medians_ms", "first_call_ms", "faults_per_call")
        )
        notes = sameness.notes(pairs)
        notes += filter(None, (fault_note(n, faults[n], medians[n] / 1e3) for n in medians))
        if not self.complete:
            notes.append(validation.interrupted_note())
        return replace(
            last,
            pairs=pairs,
            medians_ms=medians,
            first_call_ms=first,
            faults_per_call=faults,
            rounds=len(self.found),
            seconds=seconds,
            ci=self.plan.ci,
            gate=self.plan.gate,
            max_time=max_time,
            processes=len(self.found),
            complete=self.complete,
            notes=tuple(notes),
        )


def _middle(values: Sequence[float | None]) -> Any:
    known = [v for v in values if v is not None]
    return stats.median(known) if known else None


def measure_in_processes(
    f: Any, name: str, processes: int, each: Mapping[str, Any], device: Any, clock: str, cache: str, setup: Any
) -> Measurement:
    """`measure` with processes > 1; each: max_time, calibrate and seed of the measuring in one process."""
    if callable(each["calibrate"]):
        raise validation.TimingError(
            t(
                "With processes > 1 leave calibrate out, or give None: a function cannot be sent to the new processes.",
                "processes 大于 1 时，请不要传 calibrate，或写 None：函数没法传给新进程。",
            )
        )
    spec = {"target": target_of(name, f), **Setting(device, clock, cache, setup).as_plain(), "measure": dict(each)}

    def one() -> Measurement:
        worker = Worker(name, spec)
        try:
            return Measurement.from_plain(worker.receive()["measurement"])
        finally:
            worker.hang_up()
            worker.end()

    with validation.interrupts_in_words():
        return repeated(one, processes)


def repeated(one: Callable[[], Measurement], processes: int) -> Measurement:
    """Call `one`, which measures in a new process, `processes` times; returns all of it as one Measurement."""
    found: list[Measurement] = []
    complete = True
    bar = progress(3.0 * processes, t("measuring in new processes", "正在新进程中测量"))
    try:
        while len(found) < processes:
            found.append(one())
            bar.update(bar.total / processes)
    except KeyboardInterrupt:
        if not validation.swallow_interrupt(bool(found)):
            raise
        complete = False
    finally:
        end_progress(bar)
    return _merged(found, complete)


def _merged(found: Sequence[Measurement], complete: bool) -> Measurement:
    """Medians over the processes, and intervals in which one more process lands."""
    medians = [each.median_ms for each in found]
    relatives = [each.relative for each in found if each.relative is not None]
    reach = stats.repetition_interval(medians)
    relative_reach = stats.repetition_interval(relatives) if relatives else None
    notes = [note for each in found for note in each.notes]
    if not complete:
        notes.append(validation.interrupted_note())
    return replace(
        found[-1],
        median_ms=stats.median(medians),
        p10_ms=_middle([each.p10_ms for each in found]),
        low_ms=reach.low if reach else None,
        high_ms=reach.high if reach else None,
        confidence=reach.confidence if reach else 0.0,
        samples_ms=tuple(ms for each in found for ms in each.samples_ms),
        first_call_ms=_middle([each.first_call_ms for each in found]),
        relative=stats.median(relatives) if relatives else None,
        relative_low=relative_reach.low if relative_reach else None,
        relative_high=relative_reach.high if relative_reach else None,
        quality=Counter(each.quality for each in found).most_common(1)[0][0],
        warm=all(each.warm for each in found),
        faults_per_call=_middle([each.faults_per_call for each in found]),
        busy_threads=_middle([each.busy_threads for each in found]),
        seconds=sum(each.seconds for each in found),
        processes=len(found),
        process_medians_ms=tuple(medians),
        process_relatives=tuple(relatives),
        complete=complete,
        notes=tuple(dict.fromkeys(notes)),
    )
