"""One call of ``try_switches``: what is known so far, how much time is left, and of whom an error is said."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from course.experiment.new_process import ProbeError
from course.i18n import both
from course.load import Since
from course.machine import one_line
from course.timing import TimingError
from course.tryout import verdicts
from course.tryout.bench import AS_IS, Bench, Row
from course.tryout.result import Tried
from course.tryout.settings import Setting

TOGETHER = "together"
"""Stands for the winners in a comparison in this process."""
BUSY = 0.15
"""Part of all processors used by other programs, from which small differences do not show."""


class StepFailed(Exception):
    """The step itself raised, and not because of a setting. kind: the type; said: all of it, in a line."""

    def __init__(self, error: BaseException) -> None:
        cause = error.__cause__ or error
        super().__init__(said_of(cause))
        self.kind, self.said = type(cause).__name__, said_of(cause)


class Trial:
    """State of one call. bench: once the step was looked at; bar: of progress; copied: whether new processes can take the step."""

    bench: Bench
    bar: Any

    def __init__(self, settings: Sequence[Setting], budget: float) -> None:
        self.began, self.budget = time.monotonic(), budget
        self.known, self.since, self.busy = {one.id: one for one in settings}, Since(), False
        self.raised, self.copied = set[str](), True
        self.out = Tried(settings, one_line())

    def left(self, share: float = 1.0) -> float:
        """Seconds until this share of the budget is used."""
        return self.began + share * self.budget - time.monotonic()

    def row(self, name: str) -> Row:
        """What is known of a setting, or of the winners together."""
        return self.out.together if name == TOGETHER else self.out.found.setdefault(name, {})

    def call_s(self, name: str) -> float:
        """About what a call takes under this setting."""
        return float(self.out.found.get(name, {}).get("rough_s", self.bench.base["rough_s"]))

    def looked_at(self, names: Sequence[str]) -> list[str]:
        """Those of which it is known about what a call takes, the quickest first."""
        return sorted((name for name in names if "rough_s" in self.out.found.get(name, {})), key=self.call_s)

    def best(self, said: Collection[str] = ()) -> list[str]:
        """The settings to take together; of what was compared once too, where that comparison said so."""
        rows = [row | {"agreed": row["agreed"] or row["said"] in said} for row in self.out.rows()]
        return sorted(row["setting"] for row in verdicts.winners(rows))

    def joined(self, of: Sequence[str], digits: Row) -> None:
        """Begin with the winners together. digits: what all of them change in the result."""
        self.out.together = {"of": [*of], "lossy": any(self.known[one].lossy for one in of)} | digits

    def look_at_others(self) -> None:
        """Remember where other programs keep the machine busy."""
        self.busy = self.busy or self.since.others() > BUSY

    def note(self, english: str, chinese: str) -> None:
        """One more sentence below the headline."""
        self.out.notes.append(both(english, chinese))

    @contextlib.contextmanager
    def errors_of(self, names: Sequence[str]) -> Iterator[None]:
        """What goes wrong in the block is said of these settings."""
        self.bar.update(max(0.0, min(time.monotonic() - self.began, self.budget) - self.bar.n))
        try:
            yield
        except Exception as error:  # noqa: BLE001  (what the user's step or torch says of a setting)
            culprit, cause = getattr(error, "candidate", None), repr(error.__cause__ or error)
            if culprit == AS_IS or (culprit and cause in self.raised) or not self.bench.works():
                raise StepFailed(error) from error
            if culprit:
                self.raised.add(cause)
            for name in [culprit] if culprit in names else names:
                self.row(name)["why"] = said_of(error)


def said_of(error: BaseException) -> str:
    """An exception in a line."""
    line = (str(error).strip().splitlines() or [""])[0][:300].rstrip(".")
    return line if isinstance(error, (TimingError, ProbeError)) else f"{type(error).__name__}: {line}".strip(": ")
