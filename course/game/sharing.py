"""What a learner would send to a friend: one attempt as text. It asks, and does not give the cause away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.core.i18n import pick, t
from course.core.markup import plain
from course.core.units import format_points
from course.core.version import address
from course.game.board import game
from course.game.cases import Case
from course.game.play import attempts
from course.game.score import Score
from course.learning.entry import Entry


@dataclass(frozen=True)
class Bar:
    """One thing that was tried, without the setting's name. length: 1 is as long as today. said: what came out. bet: what was bet
    on it, how sure: what was said of that. broken: drawn hollow.
    """

    name: str
    length: float
    said: str
    bet: str = ""
    sure: str = ""
    broken: bool = False


@dataclass(frozen=True)
class Shared:
    """One closed attempt. hook: what makes a friend want to bet. bars: in the order in which they were made. origin: where the
    numbers come from.
    """

    case: Case
    hook: str
    score: Score
    bars: Sequence[Bar]
    origin: str

    @property
    def points(self) -> str:
        return f"{format_points(self.score.points)} / 10"

    @property
    def where(self) -> str:
        """How the case is opened."""
        number = self.case.lesson[:2]
        return t(
            f"torch-backends-course, lesson {number}: {self.case.call}",
            f"torch-backends-course 第 {number} 课：{self.case.call}",
        )


def shared(case: Case, entries: Sequence[Entry]) -> Shared | None:
    """The first attempt at a case, to be sent to a friend; None before it is closed."""
    its = game(case.lesson)
    first = attempts(case, entries, its.reader(case))[0]
    return its.shared(first) if first.closed else None


def share_text(one: Shared) -> str:
    """The attempt as text, to paste anywhere."""
    longest = max(bar.length for bar in one.bars)
    lines = [f"🎲 {one.hook}", f"{one.case.icon} {plain(pick(one.case.title))} · {one.points}"]
    for bar in one.bars:
        drawn = ("░" if bar.broken else "▇") * round(12 * bar.length / (longest or 1)) or "▏"
        bet = t(f"  🎲 bet: {bar.bet}, {bar.sure}", f"  🎲 押的是：{bar.bet}，{bar.sure}") if bar.bet else ""
        lines.append(f"{bar.name}  {drawn} {bar.said}{bet}")
    return "\n".join(filter(None, [*lines, one.origin, one.where, address()]))
