"""Rounds of a comparison: one block of every function in random order, until the result is clear or the budget is
used up."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from course.i18n import t
from course.timing import captured, leftovers, pairs, sameness, stats, validation, verdicts
from course.timing.clock import (
    Clock,
    calls_for,
    end_progress,
    for_first_calls,
    issue_s,
    launch_bound,
    progress,
    settled,
    waits,
    waits_note,
)
from course.timing.deadline import out_of_time, too_late
from course.timing.effort import PARALLEL, SEVERAL, Effort, crowded_note, starved, threads, waiting_note
from course.timing.faults import fault_note, minor_faults
from course.timing.preemption import Watch, watch_for
from course.timing.results import Comparison, Paired
from course.timing.workers import Worker
from course.units import format_ms

DROPPED = 3
"""Rounds that warm up and do not count."""
DROPPED_SHARE = 0.1
"""Largest part of the budget that goes into them."""
ALIKE = 4
"""If the numbers of calls that the functions need for a block differ by no more than this factor, all get the same
number."""
SETTLED_CALLS, SETTLED_SHARE = 64, 0.2
"""No conclusion before so many calls of each function, or so much of the budget: a function may warm up late."""
MOST_ROUNDS = 20_000
LAST_ERROR = 0.01
"""Chance that the interval of the last look misses the truth: less than the 5 % promised, because the verdict depends
on it."""


@dataclass(frozen=True)
class Plan:
    """The arguments of `compare` that a comparison needs while it is measured.

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


@dataclass(frozen=True)
class Block:
    """One block: seconds of one call, when it began and ended on the clock, CPU seconds of one call (None: not watched)."""

    seconds: float
    began: float
    ended: float
    cpu: float | None = None


class Prepared:
    """A candidate that needs something to hold around each of its blocks, outside the time: the context `around()`. Called outside
    of it, it sees to that itself.
    """

    def around(self) -> AbstractContextManager[None]:
        """A context for one block."""
        raise NotImplementedError

    def __call__(self) -> Any:
        raise NotImplementedError


class Run:
    """The state of one comparison while it is being measured: functions of this process, or workers."""

    def __init__(self, plan: Plan, functions: Mapping[str, Callable[..., Any]], clock: Clock) -> None:
        self.plan, self.functions, self.clock = plan, functions, clock
        self.max_time, self.baseline = plan.max_time, plan.baseline
        self.remote = any(isinstance(f, Worker) for f in functions.values())
        self.first: dict[str, float] = {}
        self.results: dict[str, Any] = {}
        self.changed: dict[str, list[str]] = {}
        self.switches = leftovers.Switches()
        self.left: dict[str, list[str]] = {}
        self.kept: dict[str, list[str]] = {}
        self.calls: dict[str, int] = {}
        self.blocks: dict[str, list[Block]] = {name: [] for name in functions}
        self.faults: dict[str, list[float]] = {name: [] for name in functions}
        self.notes: list[str] = []
        self.running = self.baseline
        self.watch: Watch | None = None
        self.effort: Effort | None = None
        self.complete, self.final, self.next_look = True, True, verdicts.FIRST_LOOK

    def go(self, sink: Any = None) -> Comparison:
        """Measure and conclude. sink: what the functions printed, for a note."""
        self.began = self.clock.now()
        bar = progress(self.max_time, t("comparing", "比较中"))
        try:
            self._first_calls()
            self.started = self.clock.now()
            if self._fits():
                self._find_calls()
                self.started = self.clock.now()
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
            if any(self.left.values()):  # an interrupt may have come in the middle of a block
                self.switches.put_back()
        if sink is not None:
            self.notes += validation.print_note(sink)
        return self._result()

    def _spent(self) -> float:
        """Seconds since the first calls and the search for the number of calls: what happens once is not in the budget."""
        return self.clock.now() - self.started

    def _whole_rounds(self) -> int:
        return min(len(v) for v in self.blocks.values())

    def _first_calls(self) -> None:
        """Each function once: its first time, a digest of what it returns, and whether it changes what it captured."""
        first = for_first_calls(self.clock)
        for name, f in self.functions.items():
            kept: list[Any] = []
            with validation.named_errors(name, 1), captured.changes(f, self.changed.setdefault(name, [])):
                self.first[name] = first.block(validation.checked(name, f, kept), 1)
            self.left[name] = self.switches.put_back()
            if self.plan.same is False:
                continue
            self.results[name] = f.first["result"] if isinstance(f, Worker) else sameness.digest(kept.pop())
        self.clock = settled(self.clock)

    def _fits(self) -> bool:
        """Whether a round fits into the budget, and as many as a result needs before the deadline; if not, one round (or the first
        calls) is all there is."""
        slow = sum(self.first.values())
        if slow < self.max_time / 2 and not too_late(slow):
            return True
        self.calls = dict.fromkeys(self.functions, 1)
        only = self.first
        if slow <= self.plan.patience_s and not out_of_time(slow):
            only = {name: block.seconds for name, block in self._one_round().items()}
        needed = sum(only.values())
        if needed < self.max_time and not too_late(needed):
            return True
        now = self.clock.now()
        self.blocks = {name: [Block(seconds, now, now)] for name, seconds in only.items()}
        if needed >= self.max_time:
            need = f"{stats.FEWEST_ROUNDS * needed:.0f}"
            self.notes.append(
                t(
                    f"One round takes longer than the budget of {self.max_time:g} s. "
                    f"For a verdict give max_time={need} or make the work smaller.",
                    f"一轮就超过了 {self.max_time:g} 秒的预算。想得到结论，请设 max_time={need}，或减小工作量。",
                )
            )
        return False

    def _find_calls(self) -> None:
        """How many calls a block has: the same number for all, but for functions that take far longer than the quickest."""
        for name, f in self.functions.items():
            with (
                validation.named_errors(name, 2),
                captured.changes(f, self.changed[name], again=True),
                leftovers.kept_results(f, self.kept.setdefault(name, [])),
            ):
                self.calls[name] = calls_for(self.clock, f)
            if self.left[name]:
                self.switches.put_back()
        if waiting := [name for name, f in self.functions.items() if waits(self.clock, f)]:
            self.notes.append(waits_note(waiting))
            self.clock = for_first_calls(self.clock)  # one clock for all
            self.calls = {name: calls_for(self.clock, f) for name, f in self.functions.items()}
        most = max(self.calls.values())
        self.calls = {name: most if ALIKE * calls >= most else calls for name, calls in self.calls.items()}

    def _warm_up(self) -> None:
        shortest = float("inf")
        for _ in range(DROPPED):
            if self._spent() >= DROPPED_SHARE * self.max_time or out_of_time():
                break
            for name, block in self._one_round().items():
                shortest = min(shortest, block.seconds * self.calls[name])
        if shortest == float("inf"):  # too slow to warm up
            shortest = min(self.first.values())
        self.watch = watch_for(self.clock, shortest)

    def _one_round(self) -> dict[str, Block]:
        """One block of every function in random order."""
        names = list(self.functions)
        self.plan.order.shuffle(names)
        found = {}
        with validation.named_errors(lambda: self.running, 2):
            for name in names:
                self.running = name
                found[name] = self._one_block(name, self.functions[name], self.calls[name])
        if self.watch:
            self.watch.round_ends()
        return found

    def _one_block(self, name: str, f: Callable[..., Any], calls: int) -> Block:
        faults_so_far = getattr(f, "minor_faults", minor_faults)
        with f.around() if isinstance(f, Prepared) else nullcontext():
            before, cpu, began = faults_so_far(), None, self.clock.now()
            if self.watch:
                seconds, cpu = self.watch.block(partial(self.clock.block, f, calls))
                cpu /= calls
            else:
                seconds = self.clock.block(f, calls)
            ended = self.clock.now()
        if any(self.left.values()):  # after every block alike: it leaves cold caches to the next
            self.switches.restore()
        if before is not None:
            self.faults[name].append((faults_so_far() - before) / calls)
        return Block(seconds / calls, began, ended, cpu)

    def _rounds(self, bar: Any) -> None:
        shown = spent = self._spent()
        while True:
            began = spent
            for name, block in self._one_round().items():
                self.blocks[name].append(block)
            spent = self._spent()
            if spent - shown > 0.2:
                bar.update(min(spent, self.max_time) - min(shown, self.max_time))
                shown = spent
            rounds = self._whole_rounds()
            late = out_of_time(spent - began) or (spent >= self.max_time and not self._held_up(spent))
            if rounds >= MOST_ROUNDS or late:
                return
            if rounds >= self.next_look and self._long_enough(spent, rounds):
                self.next_look = 2 * rounds
                if all(self._settled(name) for name in self._candidates()):
                    self.final = False
                    return

    def _long_enough(self, spent: float, rounds: int) -> bool:
        """Whether a function that warms up late has had the time to show it."""
        return rounds * min(self.calls.values()) >= SETTLED_CALLS or spent >= SETTLED_SHARE * self.max_time

    def _held_up(self, spent: float) -> bool:
        """Whether the machine stalled: 12 rounds should have fitted into the budget."""
        if self._whole_rounds() >= verdicts.FIRST_LOOK or spent >= 2 * self.max_time:
            return False
        usual = sum(stats.median(self._times(name)) * self.calls[name] for name in self.functions)
        return usual * verdicts.FIRST_LOOK < self.max_time

    def _candidates(self) -> list[str]:
        return [name for name in self.functions if name != self.baseline]

    def _by_cpu(self) -> bool:
        """Whether CPU time is the clock that counts."""
        return self.watch is not None and self._whole_rounds() > 0 and self.watch.says_cpu()

    def _times(self, name: str, cpu: bool = False) -> list[float]:
        """Seconds of one call, one a round."""
        return [block.cpu or 1e-9 if cpu else block.seconds for block in self.blocks[name][: self._whole_rounds()]]

    def _pairs(self, name: str, cpu: bool = False) -> pairs.Pairs:
        """The blocks of a candidate beside those of the baseline. cpu: their CPU time."""
        whole = self._whole_rounds()
        both = list(zip(self.blocks[name][:whole], self.blocks[self.baseline][:whole], strict=True))
        spans = [(min(c.began, b.began), max(c.ended, b.ended)) for c, b in both]
        near = [after[0] - before[1] < pairs.NEAR_S for before, after in zip(spans, spans[1:], strict=False)]
        return pairs.Pairs(
            self._times(name, cpu),
            self._times(self.baseline, cpu),
            [c.began < b.began for c, b in both],
            [False, *near],
        )

    def _estimate(self, name: str, error: float) -> tuple[float, stats.Interval]:
        if self.remote:  # the process is the unit, the interval is one over processes
            return pairs.ordered(self._pairs(name).ratios(), error)
        cpu = self._by_cpu()
        return pairs.estimate(self._pairs(name, cpu), error, cpu)

    def _settled(self, name: str) -> bool:
        error = verdicts.error_at(self._whole_rounds(), False, len(self._candidates()))
        ratio, interval = self._estimate(name, error)
        return verdicts.settled(interval, ratio, self.plan.ci, self.plan.gate, error, place=verdicts.PLACE)

    def _result(self) -> Comparison:
        cpu = self._by_cpu()
        busy = self.effort.busy() if self.effort and not self.remote and self.clock.device == "cpu" else 1.0
        waiting = [name for name in self.functions if starved(self._times(name))] if busy > SEVERAL and not cpu else []
        found = {name: self._paired(name, cpu, {name, self.baseline} & {*waiting}) for name in self._candidates()}
        if waiting:
            self.notes.append(waiting_note(waiting))
        elif busy > PARALLEL and any(pair.verdict == "undecided" for pair in found.values()):
            self.notes.append(crowded_note(busy))
        usual_faults = {n: stats.median(v) if v else None for n, v in self.faults.items()}
        medians = {n: stats.median(self._times(n, cpu)) for n in self.functions}
        if cpu and self.watch:
            self.notes.append(self.watch.note())
        self.notes += captured.notes(self.changed)
        self.notes += leftovers.notes(self.left, self.kept)
        self.notes += sameness.notes(found)
        self.notes += filter(None, (fault_note(n, usual_faults[n], medians[n]) for n in self.functions))
        issuing = {n: s for n, f in self.functions.items() if (s := issue_s(self.clock, f)) is not None}
        if slow := [n for n, s in issuing.items() if launch_bound(s, medians[n])]:
            self.notes.append(launch_note(slow))
        return Comparison(
            issue_ms={n: s * 1e3 for n, s in issuing.items()},
            baseline=self.baseline,
            pairs=found,
            medians_ms={n: s * 1e3 for n, s in medians.items()},
            first_call_ms={n: s * 1e3 for n, s in self.first.items()},
            calls=dict(self.calls),
            rounds=self._whole_rounds(),
            seconds=self.clock.now() - self.began,
            ci=self.plan.ci,
            gate=self.plan.gate,
            max_time=self.max_time,
            device=self.clock.device,
            clock="cpu" if cpu else self.clock.kind,
            cache=self.clock.cache,
            threads=threads(self.clock),
            faults_per_call=usual_faults,
            complete=self.complete,
            notes=tuple(self.notes),
        )

    def _paired(self, name: str, cpu: bool, waiting: Collection[str]) -> Paired:
        """The verdict on a candidate. waiting: the two functions' names, where their threads wait for a core: then nothing is decided,
        and the interval holds what most rounds said.
        """
        ratios = self._pairs(name, cpu).ratios()
        error = (LAST_ERROR if self.final else verdicts.INTERIM_ERROR) / len(self._candidates())
        ratio, whole = self._estimate(name, error)
        interval = stats.shown(verdicts.widened(whole), len(ratios))
        if waiting and interval:
            interval = stats.spanning(interval, ratios)
        drift, (difference, not_compared) = self._drift(name, ratios, cpu), self._compared(name)
        verdict = verdicts.decide(interval, ratio, self.plan.ci, self.plan.gate, error, verdicts.PLACE)
        return Paired(
            name=name,
            baseline=self.baseline,
            ratio=ratio,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            confidence=interval.confidence if interval else 0.0,
            ratios=tuple(ratios),
            gate=self.plan.gate,
            verdict="undecided" if drift or waiting else verdict,
            difference=difference,
            not_compared=not_compared,
            drift=drift,
        )

    def _drift(self, name: str, ratios: list[float], cpu: bool) -> str:
        """What changed while it was measured, from what to what, in words; empty where the ratio kept still.

        One of the two functions, where its time moved at least twice as far as the other's; else the ratio.
        """
        found = stats.drift(ratios, self.plan.gate)
        if found is None:
            return ""
        ends = {}
        for one in (name, self.baseline):
            times = self._times(one, cpu)
            ends[one] = stats.median(times[: found.count]), stats.median(times[-found.count :])
        moved = {one: abs(math.log(last / first)) for one, (first, last) in ends.items()}
        far, near = sorted(moved, key=lambda one: -moved[one])
        if moved[far] >= 2 * moved[near]:
            what, climbs = far, ends[far][1] > ends[far][0]
            first, last = (format_ms(1e3 * end) for end in ends[far])
        else:
            what, climbs = t("the ratio", "比值"), found.climbs
            first, last = f"{found.first:.3g}", f"{found.last:.3g}"
        if climbs:
            return t(f"{what} climbed from {first} to {last}", f"{what} 从 {first} 涨到了 {last}")
        return t(f"{what} fell from {first} to {last}", f"{what} 从 {first} 降到了 {last}")

    def _compared(self, name: str) -> tuple[str | None, str]:
        """How the first result differs from the baseline's, in words (empty: it does not; None: not compared), and the type
        of what could not be compared (empty: nothing)."""
        if self.plan.same is False:
            return None, ""
        one, two = self.results[self.baseline], self.results[name]
        found, unread = sameness.difference(one, two, self.plan.tolerance()), sameness.unread(one)
        return (found, "") if found else (None, unread) if unread else ("", "")


def launch_note(names: Collection[str]) -> str:
    """The remark on candidates that are launch-bound."""
    said = ", ".join(map(str, names))
    return t(
        f"Launch-bound, the GPU waits for Python: {said}. Compared is the GPU's own time; a program that only calls them one after "
        "another takes the time Python needs to issue the calls (.issue_ms).",
        f"受限于 kernel 启动（launch-bound，GPU 在等 Python）：{said}。这里比的是 GPU 自己的时间；如果程序只是一次接一次地调用它们，"
        "耗时取决于 Python 发出调用的时间（.issue_ms）。",
    )
