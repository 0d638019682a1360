"""The verb ``bets``: all bets with their results, how well the confidence fits, and which lost bets come back."""

from __future__ import annotations

from collections.abc import Sequence

from course.experiment.bets_view import bets_html, bets_text, level_words
from course.game.board import played
from course.i18n import t
from course.learning.calibration import ENOUGH, Bet, Level, answer_levels, bet_levels, placed_bets, returns
from course.learning.entry import Entry
from course.verbs import state
from course.verbs.say import in_words, put, say


@in_words
def bets() -> None:
    """Show every bet with its confidence and result, how well the two fit, and the lost bets that come back."""
    if state.running_shell() is None:
        entries = state.now.log.entries()
        put("", bets_text(every_bet(entries), returns(entries, state.now.bank)))
    else:
        put(*bets_words())
    for notice in state.now.log.take_notices():
        say(notice)


def every_bet(entries: Sequence[Entry]) -> list[Bet]:
    """The bets on experiments, and those in the first attempts at cases of the games, oldest first."""
    in_games = [bet for standing in played(entries) for bet in standing.bets]
    return sorted([*placed_bets(entries, state.now.bank), *in_games], key=lambda bet: bet.placed)


def bets_words() -> tuple[str, str]:
    """All bets as HTML, with its picture, and as text, in the language in use."""
    entries = state.now.log.entries()
    found, back = every_bet(entries), returns(entries, state.now.bank)
    return bets_html(found, back, _picture(found, entries)), bets_text(found, back)


def _picture(found: Sequence[Bet], entries: Sequence[Entry]) -> str:
    """HTML of the calibration plot; empty while the settled bets are too few for one."""
    mine = bet_levels(found)
    if sum(one.total for one in mine) < ENOUGH:
        return ""
    from course.figures.calibration import Point, calibration

    def points(levels: Sequence[Level]) -> list[Point]:
        return [Point(one.stated, one.right, one.total, *one.interval) for one in levels]

    series = {
        t("bets", "下注"): points(mine),
        t("questions, first answer", "练习题（首次作答）"): points(answer_levels(entries, state.now.bank)),
    }
    return calibration(series, " ".join(map(level_words, mine)))._repr_html_()
