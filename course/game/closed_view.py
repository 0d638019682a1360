"""The closed cases of a game: as lines at the end of its lesson, and as a page to keep."""

from __future__ import annotations

import html
from collections.abc import Iterable
from datetime import datetime

from course.cards.page import listing, page, table
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.core.units import format_points
from course.game.board import Board, Standing, career_line
from course.game.board_view import tile_words
from course.game.returning import Return, coming_back
from course.learning.review import day_words

LATEST = 5
"""How many closed cases are named at the end of a lesson."""


def _closed(board: Board) -> list[Standing]:
    """The closed cases, in the order in which they were first closed."""
    return sorted((one for one in board.standings if one.closed), key=lambda one: one.closed[0])


def closed_lines(board: Board, now: datetime) -> list[str]:
    """Rank, the cases closed last, those that come back; with marks."""
    done = _closed(board)
    if not done:
        return [t("🗂️ No case is closed yet: `board()` shows them all.", "🗂️ 还没有做完的题：`board()` 看全部。")]
    back = [back_words(one, now) for one in coming_back(board.standings)]
    return [career_line(board.career), *(f"• {one.case.icon} {tile_words(one)}" for one in done[-LATEST:]), *back]


def back_words(one: Return, now: datetime) -> str:
    """When a lost case comes back, and as which."""
    day = day_words(max(now.date(), one.due.astimezone(now.tzinfo).date()), now.date())
    lost, asked = (f"{case.icon} {plain(pick(case.title))}" for case in (one.lost.case, one.asked))
    twin = t(f", as its twin {asked}", f"，来的是它的双胞胎 {asked}") if asked != lost else ""
    return t(f"🔁 Comes back with `review()`, {day}: {lost}{twin}.", f"🔁 {day}会在 `review()` 里再来：{lost}{twin}。")


def closed_html(boards: Iterable[Board], now: datetime) -> str:
    """A page: each game with its rank, what each closed case gave, its trap, and where the advice holds."""
    return "".join(_of_game(board, now) for board in boards)


def _of_game(board: Board, now: datetime) -> str:
    done, title = _closed(board), plain(pick(board.title))
    if not done:
        return page(title, f"<p>{inline(closed_lines(board, now)[0])}</p>")
    heads = [t("Case", "题目"), t("First try", "首次得分"), t("The trap", "坑"), t("In another situation", "换个场合")]
    rows = (
        (
            f"{one.case.icon} {html.escape(plain(pick(one.case.title)))}<small>{one.closed[0].astimezone():%Y-%m-%d}</small>",
            f'<span class="nowrap">{format_points(one.first.points)} / 10</span>',
            inline(pick(one.case.debrief.trap)),
            inline(pick(one.case.debrief.holds)),
        )
        for one in done
    )
    return page(
        title,
        f"<p>{inline(career_line(board.career))}</p>",
        table(heads, rows, title),
        listing(
            t("Lost cases that come back", "会再来的题"),
            [inline(back_words(one, now)) for one in coming_back(board.standings)],
        ),
    )
