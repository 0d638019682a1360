"""The hunt as a game of the course: what ``case("typo")`` gives, where a learner stands, what is wrong with a case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from course.core.i18n import Text, both, pick, t
from course.core.markup import plain
from course.game.board import OPEN
from course.game.cases import Case
from course.game.play import Read
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt.hunt import Hunt, Trail, bug

if TYPE_CHECKING:
    from course.lessons.l11_bug_hunt.desk import Desk


def player(case: Case, log: AnswerLog) -> Desk:
    """One learner at one case: ``show()``, the moves as methods, the state as text."""
    from course.lessons.l11_bug_hunt.desk import Desk

    return Desk(Hunt(case, log))


def reader(case: Case) -> Read:
    """How the moves of an attempt are read."""
    one = bug(case)
    return lambda done: Trail(one, done)


def hook(trail: Trail) -> str:
    """How many lines were tried, out of how many; which it was is the bet."""
    lines, tries = len(trail.bug.numbered()), len(trail.pointed)
    title = plain(pick(trail.bug.case.title))
    guesses = t(f"{tries} guess{'es' * (tries != 1)}", f"猜了 {tries} 次")
    said = t(f"{title}. {lines} lines of code, {guesses}.", f"{title}。{lines} 行代码，我们{guesses}。")
    return said + t(" Which line is to blame, or none? Your bet?", "错在哪一行，还是都没错？你押哪行？")


def words(found: Sequence[Trail]) -> Text:
    """The state of a case that is open: its step."""
    if not found[0].done:
        return OPEN
    return {
        "line": both("on the trail", "追查中"),
        "cause": both("line found", "找到行了"),
        "repair": both("cause found", "原因清楚了"),
    }[found[0].step]
