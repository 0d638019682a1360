"""The hunt as a game of the course: what ``case("typo")`` gives, where a learner stands, what is wrong with a case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from course.core.i18n import Text, both, pick, t
from course.core.markup import plain
from course.core.units import format_points
from course.game import board, moves, score
from course.game.cases import Case
from course.game.sharing import Bar, Shared
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.lessons.l11_bug_hunt.bug import GRADES, Bug, bug
from course.lessons.l11_bug_hunt.bug import faults as faults
from course.lessons.l11_bug_hunt.hunt import Hunt, Trail, is_closed

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
    attempts = _attempts(one, entries)
    ends = [moves.closed_at(done, lambda part: is_closed(one, part)) for done in attempts]
    closed = [Trail(one, done) for done, end in zip(attempts, ends, strict=True) if end]
    scores = tuple(done.score() for done in closed)
    words = _words(Trail(one, attempts[-1]), closed)
    return board.Standing(case, words, scores, (GRADES[one.grade],), tuple(filter(None, ends)))


def shared(case: Case, entries: Iterable[Entry]) -> Shared | None:
    """The first closed attempt, to be sent to a friend: a bar for each part of the points. None before the case is closed."""
    one = bug(case)
    trail = Trail(one, _attempts(one, entries)[0])
    if trail.step != "closed":
        return None
    points = trail.score()
    bars = [
        Bar(pick(part.name), part.points / part.most, f"{format_points(part.points)} / {part.most:g}")
        for part in points.parts
    ]
    hints = t(f"hints used: {trail.hints} of 3", f"用了 {trail.hints} 条提示（共 3 条）")
    return Shared(case, hook(trail), points, bars, hints)


def hook(trail: Trail) -> str:
    """How many lines were tried, out of how many; which it was is the bet."""
    lines, tries = len(trail.bug.numbered()), len(trail.pointed)
    title = plain(pick(trail.bug.case.title))
    guesses = t(f"{tries} guess{'es' * (tries != 1)}", f"猜了 {tries} 次")
    said = t(f"{title}. {lines} lines of code, {guesses}.", f"{title}。{lines} 行代码，我们{guesses}。")
    return said + t(" Which line is to blame, or none? Your bet?", "错在哪一行，还是都没错？你押哪行？")


def _attempts(one: Bug, entries: Iterable[Entry]) -> list[list[moves.Move]]:
    return moves.attempts(one.case.id, entries, lambda done: is_closed(one, done))


def _words(now: Trail, closed: Sequence[Trail]) -> Text:
    if closed:
        points, hints = closed[0].score().points, closed[0].hints
        return both(f"closed: {points:.2g} of 10, hints: {hints}", f"已结案：{points:.2g} / 10，用了 {hints} 条提示")
    if not now.done:
        return board.OPEN
    return {
        "line": both("on the trail", "追查中"),
        "cause": both("line found", "找到行了"),
        "repair": both("cause found", "原因清楚了"),
    }[now.step]
