"""Rounds of a comparison: one block of every function in random order, until the result is clear or the budget is
used up."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from course.bars import end_progress, progress, reach
from course.i18n import t
from course.timing import sameness, stats, validation, verdicts
from course.timing.clock import Clock, calls_for
from course.timing.deadline import out_of_time, too_late
from course.timing.effort import PARALLEL, Effort, starved, threads
from course.timing.leftovers import Kept, Left, left_notes, within_reach
from course.timing.results import Comparison, Paired
from course.timing.sentences import launch_note, waits_note
from course.units import format_ms

DROPPED, DROPPED_SHARE = 3, 0.1
"""Rounds that warm up and do not count, and the largest part of the budget that goes into them."""
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


class Run:
    """The state of one comparison while it is being measured. remote: its functions run in other processes."""

    def __init__(
        self, plan: Plan, functions: Mapping[str, Callable[..., Any]], clock: Clock, remote: bool = False
    ) -> None:
        self.plan, self.functions, self.clock, self.remote = plan, functions, clock, remote
        self.names = [name for name in functions if name != plan.baseline]
        own = {} if remote else functions
        self.kept = {name: Kept(within_reach(f)) for name, f in own.items()}
        self.left_over = Left([] if remote else [one for kept in self.kept.values() for one in kept.objects.values()])
        self.left: dict[str, list[str]] = {}
        self.first: dict[str, float] = {}
        self.results: dict[str, Any] = {}
        self.calls = dict.fromkeys(functions, 1)
        self.seconds: dict[str, list[float]] = {name: [] for name in functions}
        self.notes: list[str] = []
        self.running = plan.baseline
        self.effort: Effort | None = None
        self.complete, self.final, self.next_look = True, True, verdicts.FIRST_LOOK

    def go(self, sink: Any = None) -> Comparison:
        """Measure and conclude. sink: what the functions printed, for a note."""
        self.began = self.clock.now()
        bar = progress(self.plan.max_time, t("comparing", "比较中"))
        try:
            self._first_calls()
            self.started = self.clock.now()
            if self._fits():
                self._find_calls()
                self.started = self.clock.now()
                for _ in range(DROPPED):
                    if self._spent() < DROPPED_SHARE * self.plan.max_time and not out_of_time():
                        self._one_round()
                self.effort = Effort()
                self._rounds(bar)
        except KeyboardInterrupt:
            if not validation.swallow_interrupt(self._whole_rounds() > 0):
                raise
            self.complete = False
            self.notes.append(validation.interrupted_note())
        finally:
            end_progress(bar)
            if not self.remote:  # an interrupt or an error may have come in the middle of a block
                self.left_over.put_back()
        return self._result(validation.print_note(sink) if sink else [])

    def _spent(self) -> float:
        """Seconds since the first calls and the search for the number of calls: what happens once is not in the budget."""
        return self.clock.now() - self.started

    def _whole_rounds(self) -> int:
        return min(map(len, self.seconds.values()))

    def _first_calls(self) -> None:
        """Each function once: its first time, a digest of what it returns, what it changes."""
        for name, f in self.functions.items():
            kept: list[Any] = []
            with validation.named_errors(name, 1):
                first = f if self.remote else validation.checked(name, f, kept)
                self.first[name] = self.clock.for_first_calls().block(first, 1)
            if name in self.kept:
                self.kept[name].first_call_done()
            self.left[name] = [] if self.remote else self.left_over.put_back()
            if self.plan.same is not False:
                self.results[name] = f.result if self.remote else sameness.digest(kept.pop())  # type: ignore[attr-defined]
        self.clock = self.clock.settled()

    def _fits(self) -> bool:
        """Whether a round fits into the budget, and as many as a result needs before the deadline; if not, one round (or the first
        calls) is all there is."""
        slow, budget = sum(self.first.values()), self.plan.max_time
        if slow < budget / 2 and not too_late(slow):
            return True
        only = self.first
        if slow <= self.plan.patience_s and not out_of_time(slow):
            only = self._one_round()
        needed = sum(only.values())
        if needed < budget and not too_late(needed):
            return True
        self.seconds = {name: [seconds] for name, seconds in only.items()}
        if needed >= budget:
            need = f"{stats.FEWEST_ROUNDS * needed:.0f}"
            self.notes.append(
                t(
                    f"One round takes longer than the budget of {budget:g} s. "
                    f"For a verdict give max_time={need} or make the work smaller.",
                    f"一轮就超过了 {budget:g} 秒的预算。想得到结论，请设 max_time={need}，或减小工作量。",
                )
            )
        return False

    def _find_calls(self) -> None:
        """How many calls a block has: the same number for all, but for functions that take far longer than the quickest."""
        self._search()
        if waiting := [name for name, f in self.functions.items() if self.clock.waits(f)]:
            self.notes.append(waits_note(waiting))
            self.clock = self.clock.for_first_calls()  # one clock for all
            self._search()
        most = max(self.calls.values())
        self.calls = {name: most if ALIKE * calls >= most else calls for name, calls in self.calls.items()}

    def _search(self) -> None:
        for name, f in self.functions.items():
            with validation.named_errors(name, 2):
                self.calls[name] = calls_for(self.clock, f)
            if self.left[name]:
                self.left_over.put_back()

    def _one_round(self) -> dict[str, float]:
        """One block of every function in random order: seconds of a call."""
        names = list(self.functions)
        self.plan.order.shuffle(names)
        found = {}
        with validation.named_errors(lambda: self.running, 2):
            for name in names:
                self.running, f, calls = name, self.functions[name], self.calls[name]
                found[name] = self.clock.block(f, calls) / calls
                if any(self.left.values()):  # after every block alike: it leaves cold caches to the next
                    self.left_over.restore()
        return found

    def _rounds(self, bar: Any) -> None:
        spent = self._spent()
        while True:
            began = spent
            for name, seconds in self._one_round().items():
                self.seconds[name].append(seconds)
            spent, rounds = self._spent(), self._whole_rounds()
            reach(bar, spent, self.plan.max_time)
            if rounds >= MOST_ROUNDS or spent >= self.plan.max_time or out_of_time(spent - began):
                return
            if rounds >= self.next_look and self._long_enough(spent, rounds):
                self.next_look = 2 * rounds
                if all(map(self._settled, self.names)):
                    self.final = False
                    return

    def _long_enough(self, spent: float, rounds: int) -> bool:
        """Whether a function that warms up late has had the time to show it."""
        return rounds * min(self.calls.values()) >= SETTLED_CALLS or spent >= SETTLED_SHARE * self.plan.max_time

    def _times(self, name: str) -> list[float]:
        """Seconds of one call, one a round."""
        return self.seconds[name][: self._whole_rounds()]

    def _ratios(self, name: str) -> list[float]:
        return [a / b for a, b in zip(self._times(name), self._times(self.plan.baseline), strict=True)]

    def _error(self, final: bool) -> float:
        return (LAST_ERROR if final else verdicts.INTERIM_ERROR) / len(self.names)

    def _settled(self, name: str) -> bool:
        """Whether more rounds would change nothing."""
        error = self._error(False)
        ratio, interval = stats.ratio_interval(self._ratios(name), error)
        return verdicts.settled(interval, ratio, self.plan.ci, self.plan.gate, error, place=verdicts.PLACE)

    def _starved(self, name: str) -> bool:
        """Whether threads of this function, or of the baseline, mostly waited for a core."""
        if not self.effort or self.clock.device != "cpu" or self.effort.busy() <= PARALLEL:
            return False
        return starved(self._times(name)) or starved(self._times(self.plan.baseline))

    def _result(self, notes: list[str]) -> Comparison:
        pairs = {name: self._paired(name) for name in self.names}
        medians = {name: stats.median(self._times(name)) for name in self.functions}
        if self.effort and self.clock.device == "cpu" and any(p.verdict == "undecided" for p in pairs.values()):
            self.notes += self.effort.note(any(map(self._starved, self.names)))
        for name, kept in self.kept.items():
            self.notes += kept.notes(name)
        self.notes += left_notes(self.left) + sameness.notes(pairs)
        issuing = {name: s for name, f in self.functions.items() if (s := self.clock.issue_s(f)) is not None}
        if slow := [name for name, seconds in issuing.items() if seconds > medians[name]]:
            self.notes.append(launch_note(slow))
        return Comparison(
            issue_ms={name: s * 1e3 for name, s in issuing.items()},
            baseline=self.plan.baseline,
            pairs=pairs,
            medians_ms={name: s * 1e3 for name, s in medians.items()},
            first_call_ms={name: s * 1e3 for name, s in self.first.items()},
            calls=dict(self.calls),
            rounds=self._whole_rounds(),
            seconds=self.clock.now() - self.began,
            ci=self.plan.ci,
            gate=self.plan.gate,
            max_time=self.plan.max_time,
            device=self.clock.device,
            clock=self.clock.kind,
            threads=threads(self.clock),
            complete=self.complete,
            notes=(*self.notes, *notes),
        )

    def _paired(self, name: str) -> Paired:
        """The verdict on a candidate. Where threads wait for a core nothing is decided, and the interval holds what most rounds said."""
        plan, ratios, error = self.plan, self._ratios(name), self._error(self.final)
        ratio, interval = stats.median(ratios), None
        if stats.enough(len(ratios)):
            ratio, whole = stats.ratio_interval(ratios, error)
            interval = stats.shown(verdicts.widened(whole), len(ratios))
        starving = self._starved(name)
        if starving and interval:
            low, high = stats.quantile(ratios, 0.1), stats.quantile(ratios, 0.9)
            interval = stats.Interval(min(interval.low, low), max(interval.high, high), interval.confidence)
        drift, (difference, not_compared) = self._drift(name, ratios), self._compared(name)
        verdict = verdicts.decide(interval, ratio, plan.ci, plan.gate, error, verdicts.PLACE)
        return Paired(
            name=name,
            baseline=plan.baseline,
            ratio=ratio,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            confidence=interval.confidence if interval else 0.0,
            ratios=tuple(ratios),
            gate=plan.gate,
            verdict="undecided" if drift or starving else verdict,
            difference=difference,
            not_compared=not_compared,
            drift=drift,
        )

    def _drift(self, name: str, ratios: list[float]) -> str:
        """What changed while it was measured, from what to what, in words; empty where the ratio kept still.

        One of the two functions, where its time moved at least twice as far as the other's; else the ratio.
        """
        found = stats.drift(ratios, self.plan.gate)
        if found is None:
            return ""
        ends, moved = {}, {}
        for one in (name, self.plan.baseline):
            times = self._times(one)
            ends[one] = stats.median(times[: stats.LATE]), stats.median(times[-len(times) // 4 :])
            moved[one] = abs(math.log(ends[one][1] / ends[one][0]))
        far, near = sorted(moved, key=lambda one: -moved[one])
        what, (first, last) = t("the ratio", "比值"), found
        words = f"{first:.3g}", f"{last:.3g}"
        if moved[far] >= 2 * moved[near]:
            what, (first, last) = far, ends[far]
            words = format_ms(1e3 * first), format_ms(1e3 * last)
        if last > first:
            return t(f"{what} climbed from {words[0]} to {words[1]}", f"{what} 从 {words[0]} 涨到了 {words[1]}")
        return t(f"{what} fell from {words[0]} to {words[1]}", f"{what} 从 {words[0]} 降到了 {words[1]}")

    def _compared(self, name: str) -> tuple[str | None, str]:
        """How the first result differs from the baseline's, in words (empty: it does not; None: not compared), and the type
        of what could not be compared (empty: nothing)."""
        if self.plan.same is False:
            return None, ""
        one, two = self.results[self.plan.baseline], self.results[name]
        found = sameness.difference(one, two, None if self.plan.same is True else self.plan.same)
        unread = sameness.unread(one)
        return (found, "") if found else (None, unread) if unread else ("", "")
