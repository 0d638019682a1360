"""The block of a result: headline, picture with the bet, small line, bet, the numbers to unfold; its text is made from the HTML.

Without its style sheet (an untrusted notebook) the HTML still reads from top to bottom; the first line of the text is the headline.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from course.core.i18n import html_language, t
from course.core.look import css
from course.core.markup import code_block, inline
from course.core.plain_text import text_of

STYLE = f"<style>{css(Path(__file__).with_name('result.css'))}</style>"
LONGEST_TABLE, MOST_ROWS = 60, 12
"""Rows shown in the table of the numbers, and printed of it: a third of them are the last ones, those between are counted."""
CELL_SAMPLES = 3
DIGITS, ALL_DIGITS = 5, 9
"""Digits of a number in the table; and of float32 that tell any two apart."""
SENTENCE = re.compile(r"(?<=\.)(?= )|(?<=。)")
RANGE = re.compile(r"\(?[\d.,]+–[\d.,]+\)?")
"""Two numbers that a narrow column keeps together."""


@dataclass(frozen=True)
class Betted:
    """A bet in words. mine: what was bet, "" without a bet. lead: what is said before ``out``, such as "It came out".

    out: "" where nothing decided it; then ``mine`` stays open, for the reason ``still`` gives. why: the reason for what came out.
    others: (option, reason) of the others, that which was bet on first. Marks as in `course.core.markup`.
    """

    mine: str
    out: str = ""
    lead: str = ""
    still: str = ""
    why: str = ""
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Fold:
    """Something to unfold: paragraphs (with marks), then a table and lines of code, where there are any."""

    title: str
    said: tuple[str, ...] = ()
    rows: Sequence[dict[str, Any]] = ()
    code: str = ""
    open: bool = False


class Drawn(Protocol):
    """Any picture of a result: it can be painted, and says in words what it shows."""

    alt: str

    def html(self) -> str: ...


@dataclass(frozen=True)
class Block:
    """One block, in the language in which it was made. A notebook shows it as HTML, anything else as text.

    experiment: the name of what it is about, for whoever reads the HTML. folded: whether a notebook shows the headline alone, to unfold.
    so: one line of advice, "" where there is none.
    """

    headline: str
    step: str
    picture: Drawn | None
    small: str
    bets: tuple[Betted, ...] = ()
    folds: tuple[Fold, ...] = ()
    experiment: str = ""
    folded: bool = False
    so: str = ""

    def _repr_html_(self) -> str:
        return html_of(self)

    def __str__(self) -> str:
        return text_of(body(replace(self, folded=False), MOST_ROWS))

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def html_of(block: Block) -> str:
    """The whole block with its style."""
    code = html_language()
    name = html.escape(block.experiment, quote=True)
    return f'{STYLE}<section class="tbr" role="status" lang="{code}" data-experiment="{name}">{body(block)}</section>'


def body(block: Block, most: int = LONGEST_TABLE) -> str:
    """The parts of a block, without frame and style. most: rows of a table of numbers."""
    said = [one.strip() for one in SENTENCE.split(block.headline) if one.strip()]
    head = " ".join(f"<span>{inline(one)}</span>" for one in said)  # a line is broken between sentences first
    head = head and f'<h3 class="tbr-head">{head}</h3>'
    step = f'<p class="tbr-next">{inline(block.step)}</p>' if block.step else ""
    small = f'<p class="tbr-small">{inline(block.small)}</p>' if block.small else ""
    folds = "".join(_fold(fold, most) for fold in block.folds)
    folded = f'<div class="tbr-fold">{folds}</div>' if folds else ""
    drawn = f'<figure class="tbr-pic">{block.picture.html()}</figure>' if block.picture else ""
    bets = "".join(map(bet_html, block.bets))
    so = f'<p class="tbr-so"><b>{t("So:", "所以：")}</b> {inline(block.so)}</p>' if block.so else ""
    rest = step + drawn + small + bets + so + folded
    if not block.folded:
        return head + rest
    mine = f"<em>{t('🎲 your bet', '🎲 你押过')}</em>" if any(bet.mine for bet in block.bets) else ""
    return f'<details class="tbr-more"><summary>{head}{mine}</summary>{rest}</details>'


def bet_html(bet: Betted) -> str:
    """A bet and what came out, side by side."""
    parts = (
        ("yours", t("You bet", "你押的是"), bet.mine),
        ("told" if bet.still else "out", bet.lead, bet.out),
        ("open", t("It stays open", "这一注先留着"), bet.still),
    )
    pair = "".join(
        f'<p class="{name}"><b>{html.escape(head)}{t(":", "：")}</b>{t(" ", "")}{inline(words)}</p>'
        for name, head, words in parts
        if words
    )
    why = f'<p class="tbr-why">{inline(bet.why)}</p>' if bet.why else ""
    others = "".join(f"<p><strong>{inline(option)}</strong> {inline(reason)}</p>" for option, reason in bet.others)
    if others:
        others = f"<details><summary>{t('The other answers', '其他选项')}</summary>{others}</details>"
    return f'<div class="tbr-bet"><div class="tbr-pair">{pair}</div>{why}{others}</div>'


def _fold(fold: Fold, most: int) -> str:
    said = "".join(f"<p>{inline(line)}</p>" for line in fold.said)
    table = _table(fold.rows, most) if fold.rows else ""
    code = code_block(fold.code, fold.title) if fold.code else ""
    state = " open" if fold.open else ""
    return f"<details{state}><summary>{html.escape(fold.title)}</summary>{said}{table}{code}</details>"


def _digits(column: Sequence[Any]) -> int:
    """How many digits of the numbers of a column are shown: all, where fewer would make different numbers look alike."""
    numbers = {value for value in column if isinstance(value, float)}
    alike = len(numbers) > 1 and len({f"{value:.{DIGITS}g}" for value in numbers}) == 1
    return ALL_DIGITS if alike else DIGITS


def _table(rows: Sequence[dict[str, Any]], most: int) -> str:
    """All rows; long lists shortened; of a long table the first and the last rows. A column that some rows lack is empty there."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    digits = {key: _digits([row.get(key) for row in rows]) for key in keys}
    lines = [[_cell(row.get(key), digits[key]) for key in keys] for row in rows]
    head = "".join(f'<th scope="col">{html.escape(key)}</th>' for key in keys)
    cells = ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines]
    cells = [RANGE.sub(r'<span style="white-space:nowrap">\g<0></span>', line) for line in cells]
    if (left_out := len(rows) - most) > 0:
        said = t(f"… {left_out} more rows …", f"……中间还有 {left_out} 行……")
        cells[most - most // 3 : -(most // 3)] = [f'<tr><td colspan="{len(keys)}">{said}</td></tr>']
    return (
        f'<div class="tbr-table" tabindex="0" role="region" aria-label="{t("Table of the numbers", "数据表")}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table></div>"
    )


def _cell(value: Any, digits: int = DIGITS) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return t("yes", "是") if value else t("no", "否")
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        shown = ", ".join(_cell(v) for v in value[:CELL_SAMPLES])
        if (more := len(value) - CELL_SAMPLES) <= 0:
            return shown
        shown += t(f", … {more} more", f"，……另有 {more} 个")
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
            return shown
        middle = _cell(float(median(value)))
        return shown + t(f"; median {middle}", f"；中位数 {middle}")
    return str(value)
