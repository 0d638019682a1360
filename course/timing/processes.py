"""Compare in several new processes; the interval is computed from one value of each process.

Equal code differs from process to process (hash seed, where code and memory lie: T. Mytkowicz et al., "Producing wrong
data without doing anything obviously wrong!", ASPLOS 2009) by more than the interval within one pair of processes.
"""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from course.core.bars import end_progress, progress, reach
from course.core.i18n import t
from course.core.new_process import NewProcess, NewProcessError, function_of, taking_turns
from course.timing import sameness, stats, validation, verdicts
from course.timing.clock import Clock
from course.timing.deadline import out_of_time
from course.timing.race import Plan, Race
from course.timing.results import Comparison, Paired
from course.timing.validation import TimingError, refuse

SLICE_S = 0.3
"""Seconds for the rounds of one set of processes. More rounds of quick functions would not help, because processes differ by more."""

Open = Callable[[Sequence[str]], AbstractContextManager[Any]]


def compare_in_processes(candidates: Mapping[str, Any], plan: Plan, device: Any, clock: Any) -> Comparison:
    """`compare` with fresh_process=True."""
    if not isinstance(clock, str):
        raise refuse(
            'With fresh_process=True clock must be "auto" or "wall".',
            'fresh_process=True 时，clock 只能是 "auto" 或 "wall"。',
        )
    where = None if device is None else str(device)
    tasks = {name: (str(name), target_of(name, one), where, clock) for name, one in candidates.items()}
    sets = Replicates(plan, lambda names: workers({name: tasks[name] for name in names}), time.perf_counter)
    return sets.go([*candidates])


def target_of(name: str, candidate: Any) -> str:
    """`candidate` as "module:function". Raises TimingError when a new process could not import it."""
    if isinstance(candidate, str) and all(candidate.partition(":")):
        return candidate
    module, path = getattr(candidate, "__module__", None), getattr(candidate, "__qualname__", "")
    if module and module != "__main__":
        with contextlib.suppress(ImportError, AttributeError):
            if function_of(f"{module}:{path}") is candidate:
                return f"{module}:{path}"
    raise refuse(
        f"{name} is no function of a file, so a new process cannot import it (a lambda, or defined in a notebook or inside another "
        "function). Put it, with what it needs, into a file mylab.py (`%%writefile mylab.py` as the first line of a cell) and pass "
        '"mylab:function".',
        f"{name} 不是文件里的函数，新进程无法导入它（lambda，或者在 notebook、另一个函数内部定义）。请把它连同"
        "所需的内容写进文件 mylab.py（在单元格第一行写 `%%writefile mylab.py`），"
        '再传入 "mylab:函数名"。',
    )


@dataclass
class Worker:
    """Stands for a function in another process. After the first block, `result` is the digest of what it returned."""

    name: str
    process: NewProcess
    first: dict[str, Any] = field(default_factory=dict)

    @property
    def result(self) -> Any:
        return self.first["result"]

    def __call__(self) -> None:
        raise TypeError("this function runs in another process")

    def seconds(self, calls: int) -> float:
        """Seconds that `calls` calls take over there."""
        with _in_words(self.name):
            if self.first:
                return float(self.process.call("course.timing.there:block", calls))
            self.first = self.process.call("course.timing.there:first_block")
        return float(self.first["seconds"])


@contextlib.contextmanager
def workers(tasks: Mapping[str, Sequence[Any]]) -> Iterator[tuple[dict[str, Worker], Clock]]:
    """A function in a process of its own for each name, alive together and taking turns, and the clock that times them. tasks: the
    arguments of `there.load`. Raises TimingError."""
    with contextlib.ExitStack() as stack:
        with _in_words():
            processes = stack.enter_context(taking_turns("course.timing.there:load", tasks, "torch" in sys.modules))
        yield {name: Worker(str(name), process) for name, process in processes.items()}, WorkerClock()


@contextlib.contextmanager
def _in_words(name: str = "") -> Iterator[None]:
    """A TimingError for an error over there, or a process that ended."""
    try:
        yield
    except NewProcessError as error:
        if error.kind == "TimingError":
            raise TimingError(str(error)) from None
        name = name or error.name
        raise refuse(
            f"The process of {name} ended early ({error}). Call the function in a fresh kernel by itself, make that work, then compare.",
            f"{name} 的进程提前结束（{error}）。请先在新内核里单独调用这个函数并修好，再来比较。",
        ) from None


class WorkerClock(Clock):
    """Times blocks in the processes themselves."""

    threads = 0

    def block(self, f: Any, calls: int) -> float:
        """Seconds that `calls` calls of the remote function take."""
        seconds = f.seconds(calls)
        self.device, self.kind, self.threads = (f.first[one] for one in ("device", "kind", "threads"))
        return seconds


class Replicates:
    """A comparison with one value of each process, in which sets of processes follow each other. open_workers: starts a process for
    each of the names given; now: a clock in seconds.
    """

    def __init__(self, plan: Plan, open_workers: Open, now: Callable[[], float]) -> None:
        self.plan, self.open_workers, self.now = plan, open_workers, now
        self.found: list[Comparison] = []
        self.settled, self.complete = False, True

    def go(self, names: Sequence[str]) -> Comparison:
        """Start sets of processes, one for each name, until all intervals are narrow enough, or the next set would exceed the time."""
        began, max_time = self.now(), self.plan.max_time
        bar = progress(max_time, t("comparing in new processes", "正在新进程中比较"))
        try:
            while not self.settled:
                spent, count = self.now() - began, len(self.found)
                if count and (out_of_time() or spent + spent / count > max_time):
                    break  # a set takes as long as those so far, on average
                self._one_set([*names])
                reach(bar, self.now() - began, max_time)
                count = len(self.found)
                self.settled = verdicts.is_look(count, verdicts.FIRST_PROCESS_LOOK) and all(
                    map(self._clear, self._others())
                )
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(bool(self.found)):
                raise
            self.complete = False
        finally:
            end_progress(bar)
        return self._result(self.now() - began)

    def _one_set(self, names: list[str]) -> None:
        """Start a new process for each of them, in random order, and add one ratio for each."""
        plan = replace(self.plan, ci=self.plan.ci / 2, gate=self.plan.ci, max_time=SLICE_S)
        self.plan.order.shuffle(names)
        with self.open_workers(names) as (functions, clock), validation.interrupts_propagate():
            first = sorted(names, key=lambda name: name != plan.baseline)
            self.found.append(Race(plan, {name: functions[name] for name in first}, clock, remote=True).run())

    def _others(self) -> list[str]:
        return [*self.found[0].pairs]

    def _estimate(self, name: str, final: bool) -> tuple[list[float], float, stats.Interval | None, float]:
        """Its ratios, their geometric mean, where the true ratio lies (None: too few processes), but for this chance."""
        ratios = [each.pairs[name].ratio for each in self.found]
        error = verdicts.error_at(len(ratios), final, len(self._others()), verdicts.FIRST_PROCESS_LOOK)
        return ratios, math.exp(fmean(map(math.log, ratios))), stats.process_interval(ratios, error), error

    def _clear(self, name: str) -> bool:
        _, ratio, interval, error = self._estimate(name, False)
        return verdicts.settled(interval, ratio, self.plan.ci, self.plan.gate, error, verdicts.PROCESS_EFFECT_WIDTH)

    def _paired(self, name: str) -> Paired:
        ratios, ratio, interval, error = self._estimate(name, not self.settled)
        least = max(self.plan.ci, self.plan.gate)
        return replace(
            self.found[0].pairs[name],
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

    def _result(self, seconds: float) -> Comparison:
        pairs = {name: self._paired(name) for name in self._others()}
        medians = {
            name: stats.median([each.medians_ms[name] for each in self.found]) for name in self.found[0].medians_ms
        }
        return replace(
            self.found[-1],
            pairs=pairs,
            medians_ms=medians,
            rounds=len(self.found),
            seconds=seconds,
            processes=len(self.found),
            complete=self.complete,
            notes=(*sameness.notes(pairs), *[validation.interrupted_note()] * (not self.complete)),
        )
