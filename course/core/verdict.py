"""The answer of every check in the course: one of six states, with points and reasons.

Messages speak about the reasoning, never about the person. Pure data: no torch, no widgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from course.core.i18n import Text

STATES = ("correct", "partly", "incorrect", "not attempted", "inconclusive", "not marked")


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    state: one of STATES. points, max_points: floats, 0 <= points <= max_points.
    messages: reasons, each a text in both languages. evidence: plain data the verdict rests on
    (chosen options, an interval, the inputs that failed). reason: a short code for what decided, for programs and
    tests; empty where the state says enough.
    Raises ValueError for an unknown state or points out of range.
    """

    state: str
    points: float = 0.0
    max_points: float = 1.0
    messages: tuple[Text, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    reason: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(f"unknown verdict {self.state!r}; the states are {', '.join(STATES)}")
        if not 0 <= self.points <= self.max_points:
            raise ValueError(f"points {self.points} are not within 0 and {self.max_points}")


def correct(*messages: Text, points: float = 1.0, **evidence: Any) -> Verdict:
    """Full marks: ``points`` out of ``points``."""
    return Verdict("correct", points, points, messages, evidence)


def partly(points: float, max_points: float, *messages: Text, reason: str = "", **evidence: Any) -> Verdict:
    """Some of the marks, with the reasons."""
    return Verdict("partly", points, max_points, messages, evidence, reason)


def incorrect(*messages: Text, max_points: float = 1.0, reason: str = "", **evidence: Any) -> Verdict:
    """No marks, with the reason."""
    return Verdict("incorrect", 0.0, max_points, messages, evidence, reason)


def not_attempted(*messages: Text, max_points: float = 1.0, reason: str = "", **evidence: Any) -> Verdict:
    """Nothing was handed in yet: never counted as a mistake."""
    return Verdict("not attempted", 0.0, max_points, messages, evidence, reason)


def inconclusive(*messages: Text, max_points: float = 1.0, reason: str = "", **evidence: Any) -> Verdict:
    """The evidence decides neither way; the message says what would settle it."""
    return Verdict("inconclusive", 0.0, max_points, messages, evidence, reason)


def not_marked(*messages: Text, max_points: float = 1.0, **evidence: Any) -> Verdict:
    """The form is fine; whether it is right is found out when the checkpoint is marked."""
    return Verdict("not marked", 0.0, max_points, messages, evidence)
