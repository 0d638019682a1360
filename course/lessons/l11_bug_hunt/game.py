"""The hunt as a game of the course: what ``case("typo")`` gives, where a learner stands, what is wrong with a case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from course.game import board, moves, score
from course.game.cases import Case
from course.i18n import Text, both
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt.bug import bug
from course.lessons.l11_bug_hunt.bug import faults as faults
from course.lessons.l11_bug_hunt.hunt import Hunt, hints_used, scored, step_of

if TYPE_CHECKING:
    from course.lessons.l11_bug_hunt.desk import Desk

RANKS: score.Ranks = (
    (0.0, 0, "🍀", both("Changes three lines and hopes", "改三行，然后祈祷")),
    (3.0, 1, "🖨️", both("Prints everywhere", "到处打印")),
    (5.5, 3, "🔎", both("Asks the right witness", "会找证人")),
    (8.0, 5, "🕵️", both("One guess, one test", "一猜一测，当场破案")),
)


def player(case: Case, log: AnswerLog) -> Desk:
    """One learner at one case: ``show()``, the moves as methods, the state as text."""
    from course.lessons.l11_bug_hunt.desk import Desk

    return Desk(Hunt(case, log))


def standing(case: Case, entries: Iterable[Entry]) -> board.Standing:
    """The state of a case in words, and the score of each closed attempt."""
    one = bug(case)
    attempts = moves.attempts(case.id, entries)
    closed = [done for done in attempts if step_of(one, done) == "closed"]
    return board.Standing(case, _words(one, attempts[-1], closed), tuple(scored(one, done) for done in closed))


def _words(one: object, now: list[moves.Move], closed: list[list[moves.Move]]) -> Text:
    if closed:
        points, hints = scored(one, closed[0]).points, hints_used(closed[0])
        return both(f"closed: {points:.2g} of 10, hints: {hints}", f"已结案：{points:.2g} / 10，用了 {hints} 条提示")
    if not now:
        return board.OPEN
    return {
        "line": both("on the trail", "追查中"),
        "cause": both("line found", "找到行了"),
        "repair": both("cause found", "原因清楚了"),
    }[step_of(one, now)]
