"""Compare in several new processes; the interval is computed from one value of each process.

Equal code differs from process to process (hash seed, where code and memory lie: T. Mytkowicz et al., "Producing wrong
data without doing anything obviously wrong!", ASPLOS 2009) by more than the interval within one pair of processes.
"""

from __future__ import annotations

import contextlib
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from statistics import fmean
from typing import Any

from course.core.bars import end_progress, progress, reach
from course.core.i18n import t
from course.core.new_process import NewProcessError, function_of, taking_turns
from course.timing import sameness, stats
from course.timing.clock import alike
from course.timing.results import Comparison, Paired
from course.timing.rounds import out_of_time
from course.timing.stats import Plan
from course.timing.validation import TimingError, refuse

SLICE_S = 0.2
"""Seconds for the rounds of one set of processes. More rounds of quick functions would not help, because processes differ by more."""
ERROR = 0.03
"""Chance that an interval of a run misses the truth: less than the 5 % promised, because the verdict depends on it."""
WARM_UPS = 3
"""Rounds that warm up and do not count, where there are four times as many in all."""

Block = Callable[[str], float]
"""Times one block of calls of the function of that name: seconds a call."""
Facts = Mapping[str, Mapping[str, Any]]
"""Of each name what its process said of the first call, and how many calls a block has."""


def compare_in_processes(candidates: Mapping[str, Any], plan: Plan, device: Any, clock: Any) -> Comparison:
    """`compare` with fresh_process=True."""
    if not isinstance(clock, str):
        raise refuse(
            'With fresh_process=True clock must be "auto" or "wall".',
            'fresh_process=True 时，clock 只能是 "auto" 或 "wall"。',
        )
    where = None if device is None else str(device)
    tasks = {name: (str(name), target_of(name, one), where, clock) for name, one in candidates.items()}
    return Sets(plan, lambda names: opened({name: tasks[name] for name in names}), time.perf_counter).go([*candidates])


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


@contextlib.contextmanager
def opened(tasks: Mapping[str, Sequence[Any]]) -> Iterator[tuple[Block, Facts]]:
    """A function in a process of its own for each name, alive together, each called once: what times a block, and what is known. tasks:
    the arguments of `worker.load`. Raises TimingError."""
    with contextlib.ExitStack() as stack:
        with _in_words():
            processes = stack.enter_context(taking_turns("course.timing.worker:load", tasks, "torch" in sys.modules))

        def ask(name: str, what: str, *given: Any) -> Any:
            with _in_words(name):
                return processes[name].call(f"course.timing.worker:{what}", *given)

        facts = {name: ask(name, "first_call") for name in tasks}
        calls = alike({name: ask(name, "calls_of_a_block") for name in tasks})
        yield (
            lambda name: ask(name, "block", calls[name]) / calls[name],
            {n: facts[n] | {"calls": calls[n]} for n in tasks},
        )


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


def in_turns(
    block: Block,
    names: Sequence[str],
    seconds: float,
    least: int = 1,
    now: Callable[[], float] = time.perf_counter,
    draws: random.Random | None = None,
) -> dict[str, list[float]]:
    """Seconds a call of each name, round by round: one block of each in random order, for so many seconds and at least `least` rounds. A
    machine that slows down slows all of a round. draws: what draws the order; the user's own random numbers stay as they are.
    """
    order, rounds, began, draws = [*names], list[dict[str, float]](), now(), draws or random.Random()
    while len(rounds) < least or now() - began < seconds:
        draws.shuffle(order)
        rounds.append({name: block(name) for name in order})
    counted = rounds[min(WARM_UPS, len(rounds) // 4) :]
    return {name: [one[name] for one in counted] for name in names}


class Sets:
    """A comparison with one value of each process, in which sets of processes follow each other. open_set: starts a process for each of
    the names given; now: a clock in seconds.

    ratios: of each candidate, one a set. medians_ms: of each name, one a set. facts: of the last set.
    """

    facts: Facts

    def __init__(
        self,
        plan: Plan,
        open_set: Callable[[Sequence[str]], AbstractContextManager[tuple[Block, Facts]]],
        now: Callable[[], float],
    ) -> None:
        self.plan, self.open_set, self.now = plan, open_set, now
        self.ratios: dict[str, list[float]] = {}
        self.medians_ms: dict[str, list[float]] = {}

    def go(self, names: Sequence[str]) -> Comparison:
        """Start sets of processes, one for each name, until the next set would exceed the time."""
        began, max_time, count, spent = self.now(), self.plan.max_time, 0, 0.0
        bar = progress(max_time, t("comparing in new processes", "正在新进程中比较"))
        try:
            while not count or not (
                out_of_time() or spent + spent / count > max_time
            ):  # it takes as long as those so far
                self._one_set([*names])
                count, spent = count + 1, self.now() - began
                reach(bar, spent, max_time)
        finally:
            end_progress(bar)
        pairs, where = {name: self._paired(name) for name in names if name != self.plan.baseline}, self.facts[names[0]]
        return Comparison(
            baseline=self.plan.baseline,
            pairs=pairs,
            medians_ms={name: stats.median(self.medians_ms[name]) for name in names},
            calls={name: self.facts[name]["calls"] for name in names},
            rounds=count,
            seconds=spent,
            device=where["device"],
            clock=where["clock"],
            threads=where["threads"],
            processes=count,
            notes=tuple(sameness.notes(pairs)),
        )

    def _one_set(self, names: list[str]) -> None:
        """Start a new process for each of them, in random order, and add one ratio for each."""
        base = self.plan.baseline
        self.plan.order.shuffle(names)
        with self.open_set(names) as (block, self.facts):
            found = in_turns(block, names, SLICE_S, now=self.now, draws=self.plan.order)
        for name, seconds in found.items():
            self.medians_ms.setdefault(name, []).append(1e3 * stats.median(seconds))
            pairs = zip(seconds, found[base], strict=True)
            self.ratios.setdefault(name, []).append(stats.median([one / other for one, other in pairs]))

    def _paired(self, name: str) -> Paired:
        """The verdict on a candidate from one ratio a set: their geometric mean, and where the true one lies."""
        plan, ratios = self.plan, self.ratios[name]
        ratio = math.exp(fmean(map(math.log, ratios)))
        interval = stats.process_interval(ratios, ERROR / (len(self.facts) - 1))
        verdict = stats.decide(interval, ratio, max(plan.ci, plan.gate), plan.gate)
        results = self.facts[plan.baseline]["result"], self.facts[name]["result"]
        return sameness.paired(name, plan, ratios, ratio, interval, verdict, results, processes=len(ratios))
