"""Compare in several new processes; the interval is computed from one value of each process.

Equal code differs from process to process (hash seed, where code and memory lie: T. Mytkowicz et al., "Producing wrong
data without doing anything obviously wrong!", ASPLOS 2009) by more than the interval within one pair of processes.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from course.i18n import t
from course.new_process import NewProcess, NewProcessError, function_of
from course.timing import sameness, stats, validation, verdicts
from course.timing.bars import end_progress, progress
from course.timing.clock import Clock
from course.timing.deadline import out_of_time
from course.timing.results import Comparison, Paired
from course.timing.rounds import Plan, Run
from course.timing.validation import TimingError

SLICE_S = 0.2
"""Fewest seconds for the rounds of one set of processes. More rounds of quick functions would not help, because processes differ by
more; see `slice_s`."""

Open = Callable[[Sequence[str]], AbstractContextManager[Any]]


def compare_in_processes(candidates: Mapping[str, Any], plan: Plan, device: Any, clock: Any, setup: Any) -> Comparison:
    """`compare` with fresh_process=True."""
    if not isinstance(clock, str):
        raise TimingError(
            t(
                'With fresh_process=True clock must be "auto", "wall" or "events".',
                'fresh_process=True 时，clock 只能是 "auto"、"wall" 或 "events"。',
            )
        )
    before = None if setup is None else target_of("setup", setup)
    specs = {name: spec_of(target_of(name, one), device, clock, before) for name, one in candidates.items()}
    with validation.interrupts_in_words():
        sets = Replicates(plan, lambda names: Workers({n: specs[n] for n in names}), time.perf_counter)
        return sets.go([name for name in candidates if name != plan.baseline], plan.max_time)


def spec_of(target: str, device: Any = None, clock: str = "auto", setup: str | None = None) -> dict[str, Any]:
    """Plain data for a new process that is to time "module:function"; the rest as the arguments of `compare`."""
    if device is not None:
        device = [str(d) for d in device] if isinstance(device, (list, tuple)) else str(device)
    return {"target": target, "device": device, "clock": clock, "setup": setup}


def target_of(name: str, candidate: Any) -> str:
    """`candidate` as "module:function". Raises TimingError when a new process could not import it."""
    if isinstance(candidate, str):
        if all(candidate.partition(":")):
            return candidate
        raise TimingError(
            t(
                f'{name} is {candidate!r}; a new process needs "module:function", such as "mylab:run".',
                f'{name} 是 {candidate!r}；新进程需要 "模块:函数" 的写法，例如 "mylab:run"。',
            )
        )
    module, path = getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", "")
    if module and module != "__main__":
        with contextlib.suppress(ImportError, AttributeError):
            if function_of(f"{module}:{path}") is candidate:
                return f"{module}:{path}"
    raise TimingError(
        t(
            f"{name} is no function of a file, so a new process cannot import it (a lambda, or defined in a notebook or inside another "
            "function). Put it, with what it needs, into a file mylab.py (`%%writefile mylab.py` as the first line of a cell) and pass "
            '"mylab:function".',
            f"{name} 不是文件里的函数，新进程无法导入它（lambda，或者在 notebook、另一个函数内部定义）。请把它连同"
            "所需的内容写进文件 mylab.py"
            '（在单元格第一行写 `%%writefile mylab.py`），再传入 "mylab:函数名"。',
        )
    )


class Worker:
    """Stands for a function in another process. After the first block, `result` is the digest of what it returned."""

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        self.name, self.first = str(name), dict[str, Any]()
        self._process = NewProcess(warm="torch" in sys.modules)
        self._process.ask("course.timing.there:load", self.name, dict(spec))

    @property
    def result(self) -> Any:
        return self.first["result"]

    def __call__(self) -> None:
        raise TypeError("this function runs in another process")

    def answer(self) -> Any:
        """The answer to the last request. Raises TimingError for an error over there or a process that ended."""
        try:
            return self._process.answer()
        except NewProcessError as error:
            if error.kind == "TimingError":
                raise TimingError(str(error)) from None
            raise TimingError(
                t(
                    f"The process of {self.name} ended early ({error}). Call the function in a fresh kernel by itself, make that work, "
                    "then compare.",
                    f"{self.name} 的进程提前结束（{error}）。请先在新内核里单独调用这个函数并修好，再来比较。",
                )
            ) from None

    def seconds(self, calls: int) -> float:
        """Seconds that `calls` calls take over there."""
        if self.first:
            self._process.ask("course.timing.there:block", calls)
            return float(self.answer())
        self._process.ask("course.timing.there:first_block")
        self.first = self.answer()
        return float(self.first["seconds"])

    def end(self) -> None:
        """End the process."""
        self._process.close()


class WorkerClock(Clock):
    """Times blocks in the processes themselves."""

    threads = 0

    def block(self, f: Any, calls: int) -> float:
        """Seconds that `calls` calls of the remote function take."""
        seconds = f.seconds(calls)
        self.device, self.kind, self.threads, self.alone = (
            f.first[one] for one in ("device", "kind", "threads", "alone")
        )
        return seconds


class Workers:
    """One process a candidate, alive together and taking turns; `functions` and `clock` feed a comparison.

    specs: name -> plain data for the other end (`spec_of`), in the order of starting. All of one set get the same processor, drawn at
    random, to run on where one thread is enough: two virtual ones were seen to differ by a factor of 2 for a second.
    """

    def __init__(self, specs: Mapping[str, Mapping[str, Any]]) -> None:
        allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [None]
        processor = random.Random().choice(allowed)  # the user's own random numbers stay as they are
        self._specs = {name: {**spec, "processor": processor} for name, spec in specs.items()}
        self.functions: dict[str, Worker] = {}
        self.clock = WorkerClock()

    def __enter__(self) -> Workers:
        try:
            for name, spec in self._specs.items():
                self.functions[name] = Worker(name, spec)
            for worker in self.functions.values():
                worker.answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.functions.values():
            worker.end()


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
                return Run(replace(plan, max_time=seconds), functions, workers.clock, remote=True).go()

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
        """The ratio of this candidate, and where it lies but for this chance (None: too few processes)."""
        ratios = self._ratios(name)
        return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)), stats.process_interval(ratios, error)

    def _paired(self, name: str) -> Paired:
        error = self._error(name, name not in self.settled)
        ratio, interval = self.estimate(name, error)
        ratios, least = self._ratios(name), max(self.plan.ci, self.plan.gate)
        first = next(each.pairs[name] for each in self.found if name in each.pairs)
        return replace(
            first,
            ratio=ratio,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            confidence=interval.confidence if interval else 0.0,
            verdict=verdicts.decide(interval, ratio, least, self.plan.gate, error),
            ratios=tuple(ratios),
            gate=self.plan.gate,
            processes=len(ratios),
            drift="",
        )

    def _result(self, seconds: float, max_time: float) -> Comparison:
        pairs = {name: self._paired(name) for name in self._names()}
        medians, first = (
            {
                name: stats.median([values[name] for each in self.found if name in (values := getattr(each, what))])
                for name in [self.plan.baseline, *pairs]
            }
            for what in ("medians_ms", "first_call_ms")
        )
        notes = sameness.notes(pairs) + [validation.interrupted_note()] * (not self.complete)
        return replace(
            self.found[-1],
            pairs=pairs,
            medians_ms=medians,
            first_call_ms=first,
            rounds=len(self.found),
            seconds=seconds,
            ci=self.plan.ci,
            gate=self.plan.gate,
            max_time=max_time,
            processes=len(self.found),
            complete=self.complete,
            notes=tuple(notes),
        )
