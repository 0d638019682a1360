"""Settings compared in this process: on a GPU first, on a CPU where new processes cannot compare everything."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from course.experiment.rows import kind_of
from course.tryout import verdicts
from course.tryout.bench import BLOCK_S, SHORT_S
from course.tryout.trial import TOGETHER, Trial

ROUNDS = 18
"""Rounds that a verdict needs, with those that warm up."""
SHARE = 0.25
"""Of the time that is left, for one comparison that does not need more: what is clear leaves the next."""
HERE = 0.5
"""Share of the budget until which comparisons in this process come first."""
SLOW = 1.5
"""Where single calls took so many times as long as the step as it is, a setting is timed last, and alone."""
SURE = 1.1
"""A likely range that lies beyond this ratio needs no second comparison."""


class Here:
    """Comparisons in this process."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial

    def look(self, name: str) -> None:
        """What a setting does to the result and the memory, and about what a call takes."""
        with self.trial.errors_of([name]):
            self.trial.row(name).update(self.trial.bench.digits([self.trial.known[name]]))

    def needs_s(self, names: Sequence[str]) -> float:
        """Seconds for a verdict on these settings, compared at once."""
        calls = [self.trial.bench.base["rough_s"], *map(self.trial.call_s, names)]
        return ROUNDS * sum(2 * max(BLOCK_S, one) if one < SHORT_S else one for one in calls)

    def compare(self, names: Sequence[str]) -> None:
        """Compare these; what is slow comes last, and alone."""
        trial = self.trial
        timed, last = trial.looked_at(names), []
        while timed and trial.call_s(timed[-1]) > SLOW * trial.bench.base["rough_s"]:
            last.append(timed.pop())
        alone = [*reversed(last), *(name for name in names if name not in trial.out.found)]
        spared = min(sum(self.needs_s([name]) for name in alone), trial.left(HERE)) / 2
        self._race_fitting(timed, trial.left(HERE) - spared)
        for name in alone:
            self._alone(name)
        if trial.out.device != "cpu":
            self.settle(HERE)

    def settle(self, end: float, spared: float = 0.0) -> None:
        """Compare what is still open, while there is time. spared: seconds left for others."""
        while self._race_fitting(self._open(), self.trial.left(end) - spared):
            pass

    def together(self, best: Sequence[str]) -> None:
        """Compare the winners at once, if there is time."""
        if self.needs_s(best) < self.trial.left():
            self._race({TOGETHER: best}, self.trial.left())

    def _open(self) -> list[str]:
        """The settings that were timed here and have no verdict yet; also those that had too few rounds."""
        open_ = [row for row in self.trial.out.rows() if row["verdict"] in ("unsure", "late") and row["ratio"]]
        return [row["setting"] for row in open_ if not (row["processes"] or verdicts.unjudged(row))]

    def _race_fitting(self, names: Sequence[str], seconds: float) -> bool:
        """Compare those of them that fit into this time; whether any did."""
        if names := self._fitting(names, seconds):
            self._race({name: [name] for name in names}, max(self.needs_s(names), SHARE * seconds))
        return bool(names)

    def _fitting(self, names: Sequence[str], seconds: float) -> list[str]:
        """Those that can be compared in this time: of too many those with the largest effect."""
        found = sorted(names, key=lambda name: -abs(math.log(self.trial.row(name).get("ratio") or 1)))
        while found and self.needs_s(found) > seconds:
            found.pop()
        return found

    def _alone(self, name: str) -> None:
        """Time one setting against the step as it is, as long as half the rounds of a verdict fit: they are a beginning."""
        row = self.trial.row(name)
        if "rough_s" not in row and self.needs_s([name]) / 2 < self.trial.left(HERE):
            self.look(name)
        if "rough_s" in row and self.needs_s([name]) / 2 < self.trial.left(HERE):
            self._race({name: [name]}, self.trial.left(HERE) / 2)

    def _race(self, sides: Mapping[str, Sequence[str]], seconds: float) -> None:
        """Time what has these names, as long as none raises; then the others. Of what was timed before the later time counts (of two
        that decide nothing both), and whether both say the same."""
        until = time.monotonic() + seconds
        while sides := {name: ids for name, ids in sides.items() if "why" not in self.trial.row(name)}:
            if self._compared(sides, until - time.monotonic()):
                break

    def _compared(self, sides: Mapping[str, Sequence[str]], seconds: float) -> bool:
        """Whether nothing raised."""
        trial, bench = self.trial, self.trial.bench
        with trial.errors_of([*sides]):
            some = {name: [trial.known[one] for one in ids] for name, ids in sides.items()}
            if TOGETHER in sides and trial.out.together.get("of") != sides[TOGETHER]:
                trial.joined(sides[TOGETHER], bench.digits(some[TOGETHER]))
            found = bench.race(some, max(seconds, 0.5))
            trial.look_at_others()
            for name, row in found.items():
                bench.base["rough_s"] = row["base_ms"] / 1e3  # to plan the next with
                trial.row(name)["rough_s"] = bench.base["rough_s"] * (row["ratio"] or 1)
                row["busy"], before, said = trial.busy, trial.row(name), kind_of(row)
                if before.get("said") == said == "undecided":
                    row = verdicts.pooled(before, row)
                    said = kind_of(row)  # a difference that shows in both alone is still to be confirmed
                sure = name == TOGETHER or bool(row["low"]) and not (row["low"] < SURE and row["high"] > 1 / SURE)
                before.update(row, said=said, agreed=sure or before.get("said") == said)
            if not all(row["complete"] for row in found.values()):
                raise KeyboardInterrupt
            return True
        return False
