"""The verb ``bets``: all bets with their results, how often each confidence was right, and which lost bets come back."""

from __future__ import annotations

from collections.abc import Sequence

from course.experiment.bets_view import bets_html
from course.game.board import played
from course.learning.bets import Bet, placed_bets, returns
from course.learning.entry import Entry
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def bets() -> None:
    """Show every bet with its confidence and result, how often each confidence was right, and the lost bets that come back."""
    put(bets_words())
    for notice in state.now.log.take_notices():
        say(notice)


def every_bet(entries: Sequence[Entry]) -> list[Bet]:
    """The bets on experiments, and those in the first attempts at cases of the games, oldest first."""
    in_games = [bet for standing in played(entries) for bet in standing.bets]
    return sorted([*placed_bets(entries, state.now.bank), *in_games], key=lambda bet: bet.placed)


def bets_words() -> str:
    """All bets as HTML, in the language in use."""
    entries = state.now.log.entries()
    found, back = every_bet(entries), returns(entries, state.now.bank)
    return bets_html(found, back)
