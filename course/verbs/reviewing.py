"""The daily review: a greeting and the cards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from course.cards.cards import Card
from course.cards.text import text_mode
from course.core.i18n import t
from course.game.board import Board, career_line, game, played
from course.game.returning import Return, coming_back, return_words
from course.learning.bets import returns
from course.learning.progress import Games
from course.learning.review import Plan, greeting, plan
from course.learning.schedule import Due, due
from course.verbs import state
from course.verbs.say import say


def _now() -> datetime:
    """This moment in the learner's own time zone, so that days are the learner's days."""
    return datetime.now().astimezone()


def _plan() -> Plan:
    found = plan(state.now.log.entries(), state.now.bank, _now())
    return replace(found, table=tuple(sorted([*found.table, *of_games().back], key=lambda one: (one.due, one.concept))))


def _lost() -> list[Return]:
    """The lost cases of games that are due."""
    return [one for one in coming_back(played(state.now.log.entries())) if one.due <= _now()]


def of_games() -> Games:
    """What the learner's games add to progress and review."""
    entries = state.now.log.entries()
    found = played(entries)
    back = [Due(one.asked.id, one.asked.id, one.asked.lesson, one.due, case=True) for one in coming_back(found)]
    boards = [Board(lesson, entries) for lesson in dict.fromkeys(one.case.lesson for one in found)]
    told = [f"🗂️ `{one.lesson}`{t(': ', '：')}{career_line(one.career)}" for one in boards if one.career.closed]
    return Games([bet for one in found for bet in one.bets], back, told)


def daily(make: Callable[[str], Card]) -> None:
    """The cards due today, whatever lesson is being read, and the lost cases of games that are due."""
    found = _plan()
    lost = _lost()
    if not found.table and any(one.closed for one in played(state.now.log.entries())):
        say(
            t(
                "Nothing to review: none of your closed cases has to come back. Cards that you answer come back when it helps most.",
                "没有要复习的：你做完的题里，没有需要再来一遍的。答过的卡片会在最合适的时候回来。",
            )
        )
    elif found.due or found.waiting or not lost:
        say(*greeting(found, _now()))
    _show_in_turn(found.items, make)
    for one in lost:
        say(return_words(one) + f" `{one.asked.call}`")
        if not text_mode():
            game(one.asked.lesson).player(one.asked, state.now.log).show()


def warm(at_most: int, make: Callable[[str], Card]) -> None:
    """At most so many cards to start a lesson with: lost bets that have come back, then concepts that are due."""
    entries, bank, lesson = state.now.log.entries(), state.now.bank, state.now.lesson
    bets = [one.item for one in returns(entries, bank, lesson) if one.due <= _now()]
    items, lost = list(dict.fromkeys([*bets, *due(entries, bank, _now(), lesson)]))[:at_most], len(_lost())
    if lost:
        say(
            t(
                f"🔁 {lost} lost {'case has' if lost == 1 else 'cases have'} come back; `review()` opens "
                f"{'it' if lost == 1 else 'them'}, when you have ten minutes.",
                f"🔁 有 {lost} 道没做好的题回来了；有十分钟时，用 `review()` 打开。",
            )
        )
    elif not items:
        say(
            t(
                "Nothing from earlier lessons is due. Go on; the cards you answer will come back here.",
                "没有到期的复习卡。继续往下学吧，你答过的卡片会按时回到这里。",
            )
        )
    _show_in_turn(items, make)


def _show_in_turn(item_ids: tuple[str, ...] | list[str], make: Callable[[str], Card]) -> None:
    """The cards, each asking anew; on a page one is open, and the next opens when it is answered (see ``course.cards.deck``)."""
    for item_id in item_ids:
        card = make(item_id)
        card.reopen()
        card.show()
