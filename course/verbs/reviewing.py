"""The daily review: a greeting and the cards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from course.cards.cards import Card
from course.core.i18n import t
from course.game.board import mean_line, played, standings
from course.learning.bets import returns
from course.learning.progress import Games
from course.learning.review import greeting, plan
from course.learning.schedule import due
from course.verbs import state
from course.verbs.say import say


def _now() -> datetime:
    """This moment in the learner's own time zone, so that days are the learner's days."""
    return datetime.now().astimezone()


def of_games() -> Games:
    """What the learner's games add to the progress."""
    entries = state.now.log.entries()
    lessons = dict.fromkeys(one.case.lesson for one in played(entries))
    found = {lesson: standings(lesson, entries) for lesson in lessons}
    told = [
        f"🗂️ `{lesson}`{t(': ', '：')}{mean_line(every)}"
        for lesson, every in found.items()
        if any(one.first for one in every)
    ]
    return Games([bet for every in found.values() for one in every for bet in one.bets], told)


def daily(make: Callable[[str], Card]) -> None:
    """The cards due today, whatever lesson is being read."""
    found = plan(state.now.log.entries(), state.now.bank, _now())
    say(*greeting(found, _now()))
    _show_in_turn(found.items, make)


def warm(at_most: int, make: Callable[[str], Card]) -> None:
    """At most so many cards to start a lesson with: lost bets that have come back, then concepts that are due."""
    entries, bank, lesson = state.now.log.entries(), state.now.bank, state.now.lesson
    bets = [one.item for one in returns(entries, bank, lesson) if one.due <= _now()]
    items = list(dict.fromkeys([*bets, *due(entries, bank, _now(), lesson)]))[:at_most]
    if not items:
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
