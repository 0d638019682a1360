"""Scores and ranks: pure functions on plain data. A score is the learner's own, held against the learner's last one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from course.core.i18n import Text, both

BET_POINTS = {1: (0.5, 0.5), 2: (1.5, 0.0), 3: (2.0, -3.0)}
"""sure -> points of a bet that came out right, and of one that did not. "Certain" pays above 86 %, "fairly sure" above 33 %."""
Ranks = tuple[tuple[float, int, str, Text], ...]
RANKS: Ranks = (
    (0.0, 0, "🧑‍🎓", both("Intern with the root password", "拿着 root 密码的实习生")),
    (3.0, 1, "🧽", both("Knob polisher", "祖传参数搬运工")),
    (5.5, 3, "🔎", both("Reader of logs", "会看日志的人")),
    (8.0, 5, "👑", both("Tuning master", "调参宗师")),
)
"""(from which mean on, from how many closed cases on, sign, name); humour on the trade, never on the person.
A game may bring ``RANKS`` of its own.
"""


@dataclass(frozen=True)
class Part:
    """A part of a score: what for, points, the most there is, and why in one sentence."""

    name: Text
    points: float
    most: float
    why: Text = ""


@dataclass(frozen=True)
class Score:
    """The score of one attempt."""

    parts: tuple[Part, ...]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)

    @property
    def most(self) -> float:
        return sum(part.most for part in self.parts)


def bet_points(bets: Iterable[tuple[int, bool | None]]) -> float:
    """Mean over the bets (confidence, came out so), not below 0; a bet that nothing decided (None) is not counted, none give 0."""
    points = [BET_POINTS[confidence][0 if right else 1] for confidence, right in bets if right is not None]
    return max(0.0, mean(points)) if points else 0.0


def tries_points(tries: Sequence[bool], most: float = 1.0) -> float:
    """All of it for a right first try, half for a right second, then nothing."""
    return most if tries[:1] == [True] else most / 2 if tries[1:2] == [True] else 0.0


def rank(points: float, closed: int, ranks: Ranks = RANKS) -> tuple[str, Text]:
    """(sign, name) of the rank of a mean score over so many closed cases."""
    return next((sign, name) for least, cases, sign, name in reversed(ranks) if points >= least and closed >= cases)


def standing(firsts: Sequence[Score]) -> float | None:
    """The mean of first attempts; None while there is none."""
    return mean(one.points for one in firsts) if firsts else None
