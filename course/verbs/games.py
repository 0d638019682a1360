"""The verbs of games: ``case`` to play one, ``board`` to see all, ``share`` to send one to a friend."""

from __future__ import annotations

from typing import Any

from course.core.i18n import t
from course.game import board as boards
from course.game import cases
from course.game.board_page import BoardPage
from course.game.sharing import share_text, shared
from course.game.view import as_it_is
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def case(name: str) -> Any:
    """A case of a game: ``case("voice")`` shows it; ``case("voice").run(...)`` and the like play it by typing."""
    found = cases.find(name)
    return boards.game(found.lesson).player(found, state.now.log)


@in_words
def share(name: str) -> None:
    """A case you closed as text, to send to a friend: what you tried, bet and got, not why."""
    found = cases.find(name)
    sent = shared(found, state.now.log.entries())
    if sent is None:
        say(
            t(
                f"First close the case: `{found.call}`. Then it can be shared.",
                f"先做完这一个：`{found.call}`，然后才能分享。",
            )
        )
        return
    text = share_text(sent)
    put(as_it_is(text), text)


@in_words
def board(lesson: str | None = None) -> None:
    """The cases of a game to play from, with their state, and your rank. lesson: its id (default: the lesson at work, else every game)."""
    games = boards.games()
    lesson = lesson or (state.now.lesson if state.now.lesson in games else None)
    if lesson is not None and lesson not in games:
        names = ", ".join(f"`{one}`" for one in games)
        say(t(f"`{lesson}` is no game; the games are {names}.", f"`{lesson}` 不是游戏课；游戏课有 {names}。"))
        return
    for one in [lesson] if lesson else games:
        BoardPage(one, state.now.log).show()
    for notice in state.now.log.take_notices():
        say(notice)
