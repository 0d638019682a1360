"""Settings compared in new processes. What they say counts: a script is a new process, too, and this one keeps memory that a new one gets
from the system in every call.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from course.experiment.new_process import ProbeError
from course.experiment.rows import kind_of
from course.i18n import both
from course.timing import TimingError
from course.timing.verdicts import FIRST_PROCESS_LOOK
from course.tryout import processes, verdicts
from course.tryout.bench import Row
from course.tryout.trial import Trial, said_of

JOINT = "+"
"""Stands between the names of what is compared together."""
SHARE = 0.6
"""Of the time, for the first comparison: it may find faster ones, which are then compared together."""
LEAST_S = 5.0
"""For a new process that looks at what a setting does to the result."""


class Elsewhere:
    """Comparisons in new processes."""

    def __init__(self, trial: Trial, stack: contextlib.ExitStack) -> None:
        self.trial, self.stack = trial, stack

    def all(self, kept: Sequence[str], others: Sequence[str]) -> bool:
        """Compare everything, if each of the others was looked at and there is the time; whether that told anything."""
        names, late = [*kept, *self.trial.looked_at(others)], {*others} - {*self.trial.out.found}
        return not late and bool(names) and self._fitting(names) == names and self._compare(kept, names)

    def after_here(self, kept: Sequence[str]) -> None:
        """Compare what a process keeps, what came out faster here, and on a CPU what is open or seems equal."""
        best, cpu = self.trial.best(("faster",)), self.trial.out.device == "cpu"
        rows = [row for row in self.trial.out.rows() if row["low"] and not verdicts.unjudged(row)]
        rest = [row["setting"] for row in rows if cpu and row["verdict"] != "slower" and row["setting"] not in best]
        if names := self._fitting([*kept, *best, *rest]):
            self._compare(kept, names)

    def least_s(self, names: Iterable[str], sets: int = FIRST_PROCESS_LOOK) -> float:
        """Seconds that so many sets of new processes of these sides take at least."""
        return processes.least_s([self.trial.bench.base["rough_s"], *map(self.trial.call_s, names)], sets)

    def _fitting(self, names: Sequence[str]) -> list[str]:
        """The first of these that new processes can compare in the time for it."""
        found = [*names]
        while found and self.least_s(found) > SHARE * self.trial.left():
            found.pop()
        return found

    def _copied(self, kept: Sequence[str]) -> Path | None:
        """The folder from which new processes take the step, where it can be copied."""
        trial = self.trial
        try:
            return self.stack.enter_context(processes.saved(trial.bench.step)) if trial.copied else None
        except Exception as error:  # noqa: BLE001  (pickling fails in many types)
            trial.copied, said = False, said_of(error)
            trial.note(
                f"New processes could not take the step ({said}), so it ran in this one only; move it to a file of its own.",
                f"新进程拿不到这一步（{said}），所以只在本进程里测过；把它写进单独的文件就可以了。",
            )
            trial.out.refused |= dict.fromkeys(kept, both("needs a process of its own", "需要单独的进程"))
        return None

    def _compare(self, kept: Sequence[str], names: Sequence[str]) -> bool:
        """Compare these, then what is faster, together, beside what is still open; whether that told anything."""
        trial, folder = self.trial, self._copied(kept)
        if folder is None:
            return False
        for name in [name for name in names if trial.known[name].kept]:
            with trial.errors_of([name]):
                trial.row(name).update(processes.digits(folder, [name], max(LEAST_S, trial.left())))
        there, seconds, sets = processes.There(folder, trial.bench), trial.left(), FIRST_PROCESS_LOOK
        spared = (1 - SHARE) * seconds
        sides = {name: [name] for name in names if "why" not in trial.row(name)}
        while sides:
            try:
                for ids in (ids for ids in sides.values() if len(ids) > 1 and trial.out.together.get("of") != ids):
                    trial.joined(ids, processes.digits(folder, ids, max(LEAST_S, trial.left())))
                found = there.race(sides, seconds, sets)
            except (ProbeError, TimingError) as error:
                said = said_of(error)
                trial.note(f"In new processes the step raised: {said}", f"在新进程里，这一步出错了：{said}")
                trial.copied = False
                break
            trial.look_at_others()
            trial.out.as_is_ms = there.as_is_ms()
            for name, row in found.items():
                self._told(name, row)
            if not all(row["complete"] for row in found.values()):
                raise KeyboardInterrupt
            sides, seconds, sets = self._next(there, spared)
        return any(row["processes"] for row in trial.out.rows())

    def _told(self, name: str, row: Row) -> None:
        """What new processes have told of a setting, or of several together, if there are enough of them; few say nothing against what
        was compared here."""
        trial = self.trial
        known = trial.row(name) if name in trial.known else trial.out.together
        asked = name in trial.known or name == JOINT.join(known.get("of", ()))
        if asked and row["low"] and (row["processes"] >= FIRST_PROCESS_LOOK or not known.get("ratio")):
            trial.bench.base["rough_s"] = row["base_ms"] / 1e3  # to plan the next with
            known["rough_s"] = trial.bench.base["rough_s"] * row["ratio"]
            known.update(row, said=kind_of(row), agreed=True, busy=trial.busy)

    def _next(self, there: processes.There, spared: float) -> tuple[dict[str, list[str]], float, int | None]:
        """What new processes are to compare next, in how many seconds, and how many sets: what may make a difference and is not clear
        yet, a few sets at a time, or else what is open; in the last seconds, spared for it, all that is faster together, too."""
        best, left = self.trial.best(), self.trial.left()
        told = {row["setting"]: row["verdict"] for row in self.trial.out.rows() if row["processes"]}
        unclear = [name for name, verdict in told.items() if verdict not in ("slower", "same")]
        unclear = [name for name in unclear if not there.settled(name)]
        open_ = {name: [name] for name in unclear if there.may_differ(name, verdicts.SMALL)}
        open_ = open_ or {name: [name] for name in unclear if told[name] == "unsure"}
        if open_ and left - self.least_s(open_) > spared:
            return open_, left, FIRST_PROCESS_LOOK
        name = JOINT.join(best)
        least = 1 if there.knows(name) else FIRST_PROCESS_LOOK
        joint = {name: best} if len(best) > 1 and not there.settled(name) else {}
        if self.least_s(joint, least) > left:
            joint = {}
        later = 0.0 if joint else self.least_s(["all"])  # others may turn out to be faster
        for seconds in (left - later, left):
            sides = joint | open_
            while sides and self.least_s(sides, least if joint else 1) > seconds:
                sides.popitem()
            if sides:
                return sides, seconds, None
        return {}, 0.0, None
