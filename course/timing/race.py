"""One comparison while it is measured: what its rounds say of every candidate against the baseline."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.core.i18n import t
from course.timing import sameness, stats, verdicts
from course.timing.clock import Clock
from course.timing.effort import PARALLEL, starved
from course.timing.results import Comparison, Paired
from course.timing.rounds import Rounds

DROPPED = 3
"""Rounds that warm up and do not count."""
SETTLED_CALLS, SETTLED_SHARE = 64, 0.2
"""No conclusion before so many calls of each function, or so much of the budget: a function may warm up late."""
LAST_ERROR = 0.01
"""Chance that the interval of the last look misses the truth: less than the 5 % promised, because the verdict depends
on it."""


@dataclass(frozen=True)
class Plan:
    """The arguments of `compare`; order: draws the random order."""

    baseline: str
    ci: float
    max_time: float
    gate: float
    same: bool | float
    order: random.Random


class Race(Rounds):
    """The state of one comparison while it is being measured."""

    def __init__(self, plan: Plan, functions: Mapping[str, Callable[..., Any]], clock: Clock) -> None:
        super().__init__(functions, clock, plan.max_time, plan.order)
        self.plan, self.names = plan, [name for name in functions if name != plan.baseline]
        self.compares, self.final, self.next_look = plan.same is not False, True, verdicts.FIRST_LOOK

    def run(self, sink: Any = None) -> Comparison:
        """Measure and conclude. sink: what the functions printed, for a note."""
        self.go(t("comparing", "比较中"), sink)
        return self._result()

    def is_warm(self, seen: list[dict[str, float]]) -> bool:
        return len(seen) >= DROPPED

    def is_clear(self, spent: float, rounds: int) -> bool:
        """Looks after 12, 24, 48, ... rounds."""
        late = rounds * min(self.calls.values()) < SETTLED_CALLS and spent < SETTLED_SHARE * self.max_time
        if rounds < self.next_look or late:
            return False
        self.next_look = 2 * rounds
        self.final = not all(map(self._settled, self.names))
        return not self.final

    def _ratios(self, name: str) -> list[float]:
        return [a / b for a, b in zip(self.seconds[name], self.seconds[self.plan.baseline], strict=True)]

    def _error(self, final: bool) -> float:
        return (LAST_ERROR if final else verdicts.INTERIM_ERROR) / len(self.names)

    def _settled(self, name: str) -> bool:
        """Whether more rounds would change nothing."""
        ratio, interval = stats.ratio_interval(self._ratios(name), self._error(False))
        return verdicts.settled(interval, ratio, self.plan.ci, self.plan.gate, place=verdicts.PLACE)

    def _starved(self, name: str) -> bool:
        """Whether threads of this function, or of the baseline, mostly waited for a core."""
        if not self.effort or self.clock.device != "cpu" or self.effort.busy() <= PARALLEL:
            return False
        return starved(self.seconds[name]) or starved(self.seconds[self.plan.baseline])

    def _result(self) -> Comparison:
        pairs = {name: self._paired(name) for name in self.names}
        medians = {name: stats.median(seconds) for name, seconds in self.seconds.items()}
        if self.effort and self.clock.device == "cpu" and any(p.verdict == "undecided" for p in pairs.values()):
            self.notes += self.effort.note(any(map(self._starved, self.names)))
        self.notes += sameness.notes(pairs)
        issuing = {name: s for name, f in self.functions.items() if (s := self.clock.issue_s(f)) is not None}
        if slow := [name for name, seconds in issuing.items() if seconds > medians[name]]:
            self.notes.append(_launch_note(slow))
        return Comparison(
            issue_ms={name: s * 1e3 for name, s in issuing.items()},
            baseline=self.plan.baseline,
            pairs=pairs,
            medians_ms={name: s * 1e3 for name, s in medians.items()},
            calls=dict(self.calls),
            rounds=len(self.seconds[self.plan.baseline]),
            **self.facts(),
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
        one, two = self.results.get(plan.baseline, []), self.results.get(name, [])
        drift, (difference, not_compared) = _drift(ratios, plan.gate), sameness.compared(one, two, plan.same)
        verdict = verdicts.decide(interval, ratio, plan.ci, plan.gate, verdicts.PLACE)
        return Paired(
            name=name,
            baseline=plan.baseline,
            ratio=ratio,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            ratios=tuple(ratios),
            gate=plan.gate,
            verdict="undecided" if drift or starving else verdict,
            difference=difference,
            not_compared=not_compared,
            drift=drift,
        )


def _drift(ratios: Sequence[float], gate: float) -> str:
    """From what to what the ratio climbed or fell while it was measured, in words; empty where it kept still."""
    found = stats.drift(ratios, gate)
    if found is None:
        return ""
    first, last = (f"{one:.3g}" for one in found)
    up = found[1] > found[0]
    return t(
        f"the ratio {'climbed' if up else 'fell'} from {first} to {last}",
        f"比值从 {first} {'涨' if up else '降'}到了 {last}",
    )


def _launch_note(names: Collection[str]) -> str:
    """The remark on candidates that are launch-bound."""
    said = ", ".join(map(str, names))
    return t(
        f"Launch-bound, the GPU waits for Python: {said}. Compared is the GPU's own time; a program that only calls them one after "
        "another takes the time Python needs to issue the calls (.issue_ms).",
        f"受限于 kernel 启动（launch-bound，GPU 在等 Python）：{said}。这里比的是 GPU 自己的时间；如果程序只是一次接一次地调用它们，"
        "耗时取决于 Python 发出调用的时间（.issue_ms）。",
    )
