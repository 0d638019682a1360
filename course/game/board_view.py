"""How the board of a game looks: rank, a tile for each case. HTML, and the same as text."""

from __future__ import annotations

import html
from pathlib import Path

from course.cards.render import in_language
from course.cards.style import SHEET
from course.core.i18n import pick, t
from course.core.markup import inline, plain
from course.core.units import format_points
from course.game.board import Board, Standing, career_line
from course.game.view import colon

STYLE = f"{SHEET}<style>{(Path(__file__).parent / 'board.css').read_text('utf-8')}</style>"
GOOD, BEST = 5.5, 8.0
"""Points from which a tile is washed, and framed."""


# --- tiles --------------------------------------------------------------------------------------------------


def tile_look(one: Standing) -> str:
    """The class of a tile: open, or how many points."""
    if one.first is None:
        return "tbb-open"
    return "tbb-best" if one.first.points >= BEST else "tbb-good" if one.first.points >= GOOD else ""


def tile_words(one: Standing) -> str:
    """A tile in words: what its button is called."""
    return colon(plain(pick(one.case.title)), pick(one.words) + practice(one))


def practice(one: Standing) -> str:
    """The last attempt, where there was more than one: practice."""
    if len(one.scores) < 2:
        return ""
    points = format_points(one.scores[-1].points)
    return t(f" · practice: {points}", f" · 练习：{points}")


def face_html(one: Standing) -> str:
    """The visible side of a tile."""
    signs = "".join(pick(sign).split(" ")[0] for sign in one.signs)
    if one.first:
        points = format_points(one.first.points)
        said = (
            f'<b>{points}</b><i><u style="width:{round(10 * one.first.points)}%"></u></i>'
            f"<span>{signs}{html.escape(practice(one))}</span>"
        )
    else:
        said = f"<span>{signs} {html.escape(pick(one.words))}</span>"
    return in_language(
        f'<p>{one.case.icon} {html.escape(plain(pick(one.case.title)))}</p><div class="tbb-score">{said}</div>',
        "tbb-face",
        ' aria-hidden="true"',
    )


# --- the whole board ----------------------------------------------------------------------------------------


def head_html(board: Board) -> str:
    """Title and rank."""
    return in_language(
        f'<div class="tbq-head"><h3>🗂️ {html.escape(plain(pick(board.title)))}</h3><code>board("{board.lesson}")</code></div>'
        f'<p class="tbb-rank">{inline(career_line(board.career))}</p>'
    )


def twins_html(board: Board) -> str:
    """What joined tiles mean; empty where there are none."""
    if all(len(group) == 1 for group in board.groups):
        return ""
    words = t(
        "**⇄ Twins:** the same code in another situation. What helps one may hurt the other.",
        "**⇄ 双胞胎：**同样的代码，换一种场合。帮了这个，可能害了那个。",
    )
    return in_language(f'<p class="tbb-small">{inline(words)}</p>')


def key_html(board: Board) -> str:
    """What the signs on the tiles mean."""
    signs = dict.fromkeys(pick(sign) for one in board.standings for sign in one.signs)
    words = [*signs, t("number: your first attempt, of 10", "数字：首次尝试得分，满分 10")]
    return in_language(f'<p class="tbb-key">{"".join(f"<span>{html.escape(one)}</span>" for one in words)}</p>')


def board_html(board: Board) -> str:
    """The board as it stays in a saved notebook."""
    tiles = "".join(
        f'<div class="{"tbb-pair" if len(group) > 1 else "tbb-alone"}">'
        + "".join(f'<div class="tbb-tile {tile_look(one)}">{face_html(one)}</div>' for one in group)
        + "</div>"
        for group in board.groups
    )
    body = f'{head_html(board)}{twins_html(board)}<div class="tbb-grid">{tiles}</div>{key_html(board)}'
    return f'{STYLE}<div class="tbq tbg tbb">{body}</div>'


def board_text(board: Board) -> str:
    """The board for a terminal: every case with its call."""
    rows = [
        f"  {'⇄ ' if len(group) > 1 else ''}{one.case.icon} {one.case.id:16} {tile_words(one)}"
        for group in board.groups
        for one in group
    ]
    lines = [pick(board.title), plain(career_line(board.career)), *rows]
    return "\n".join(filter(None, lines))
