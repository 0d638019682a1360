"""Games as verbs: a case to play, and the board of all cases."""

from __future__ import annotations

from typing import Any

from course.catalog import BY_ID
from course.game import board as boards
from course.game import cases, moves, score, view
from course.i18n import pick, t
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def case(name: str) -> Any:
    """A case of a game: ``case("voice")`` shows it; ``case("voice").run(...)`` and the like play it by typing."""
    found = cases.find(name)
    return boards.game(found.lesson).player(found, state.now.log)


@in_words
def board(lesson: str | None = None) -> None:
    """The cases of a game with their state, and your rank. lesson: its id (default: the lesson at work, else every game)."""
    games = boards.games()
    lesson = lesson or (state.now.lesson if state.now.lesson in games else None)
    if lesson is not None and lesson not in games:
        names = ", ".join(f"`{one}`" for one in games)
        say(t(f"`{lesson}` is no game; the games are {names}.", f"`{lesson}` 不是游戏课；游戏课有 {names}。"))
        return
    entries = state.now.log.entries()
    order = [one.item for one in entries if one.event == "move" and one.options[:1] not in ((), (moves.AGAIN,))]
    order = list(dict.fromkeys(reversed(order)))[::-1]  # by the last move on each case
    for one in [lesson] if lesson else games:
        found = boards.standings(one, entries)
        ranks = getattr(boards.game(one), "RANKS", score.RANKS)
        title, career = f"🗂️ {pick(BY_ID[one].question)}", boards.career(found, order, ranks)
        put(view.board_html(title, found, career), view.board_text(title, found, career))
    for notice in state.now.log.take_notices():
        say(notice)
