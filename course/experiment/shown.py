"""The block of a result: headline, picture with the bet, small line, bet, the numbers to unfold; as HTML and as plain text.

Without its style sheet (an untrusted notebook) the HTML still reads from top to bottom; the first line of the text is the headline.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from course.core.i18n import html_language, t
from course.core.look import css
from course.core.markup import code_block, inline, plain
from course.core.tables import as_text, clip, columns
from course.timing.stats import median

STYLE = f"<style>{css(Path(__file__).with_name('result.css'))}</style>"
LONGEST_TABLE, LAST_ROWS = 60, 20
"""Rows shown in the table of the numbers, and how many of them are the last ones; those between are counted."""
CELL_SAMPLES = 3
DIGITS, ALL_DIGITS = 5, 9
"""Digits of a number in the table; and of float32 that tell any two apart."""
WIDEST = 60
"""Signs of a cell in a table that is printed; HTML shows all of it."""
LONGEST = 300
"""Signs of a cell of such a table, where it is too wide for a terminal and printed row by row."""
TERMINAL = 180
"""Columns of the widest table that is printed as one."""
RANGE = re.compile(r"\(?[\d.,]+–[\d.,]+\)?")
"""Two numbers that a narrow column keeps together."""
MOST_ROWS = 12
"""Rows of the numbers that are printed; the rest is counted."""


@dataclass(frozen=True)
class Betted:
    """A bet in words. mine: what was bet, "" without a bet. lead: what is said before ``out``, such as "It came out".

    out: "" where nothing decided it; then ``mine`` stays open, for the reason ``still`` gives. why: the reason for what came out.
    others: (option, reason) of the others; lost: the first of them was bet on. Marks as in `course.core.markup`.
    """

    mine: str
    out: str = ""
    lead: str = ""
    still: str = ""
    why: str = ""
    others: tuple[tuple[str, str], ...] = ()
    lost: bool = False


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
        return text_of(self)

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def html_of(block: Block) -> str:
    """The whole block with its style."""
    code = html_language()
    name = html.escape(block.experiment, quote=True)
    return f'{STYLE}<section class="tbr" role="status" lang="{code}" data-experiment="{name}">{body(block)}</section>'


def body(block: Block) -> str:
    """The parts of a block, without frame and style."""
    head = f'<h3 class="tbr-head">{sentences(block.headline)}</h3>' if block.headline else ""
    step = f'<p class="tbr-next">{inline(block.step)}</p>' if block.step else ""
    small = f'<p class="tbr-small">{inline(block.small)}</p>' if block.small else ""
    folds = "".join(map(_fold, block.folds))
    folded = f'<div class="tbr-fold">{folds}</div>' if folds else ""
    so = f'<p class="tbr-so"><b>{t("So:", "所以：")}</b> {inline(block.so)}</p>' if block.so else ""
    rest = step + picture(block) + small + bets(block) + so + folded
    if not block.folded:
        return head + rest
    mine = f"<em>{t('🎲 your bet', '🎲 你押过')}</em>" if any(bet.mine for bet in block.bets) else ""
    return f'<details class="tbr-more"><summary>{head}{mine}</summary>{rest}</details>'


def picture(block: Block) -> str:
    """The picture, with the bets in it."""
    return f'<figure class="tbr-pic">{block.picture.html()}</figure>' if block.picture else ""


def bets(block: Block) -> str:
    """The bets in words, below the picture."""
    return "".join(map(bet_html, block.bets))


def sentences(text: str) -> str:
    """A headline; where it has two sentences, a line is broken between them first."""
    parts = [part for part in text.replace(". ", ".\0 ").replace("。", "。\0").split("\0") if part.strip()]
    return "".join(f"<span>{inline(part.strip())}</span> " for part in parts).strip()


def bet_html(bet: Betted) -> str:
    """A bet and what came out, side by side."""
    mine = f'<p class="yours"><b>{t("You bet", "你押的是")}</b>{inline(bet.mine)}</p>' if bet.mine else ""
    out = (
        f'<p class="{"told" if bet.still else "out"}"><b>{html.escape(bet.lead)}</b>{inline(bet.out)}</p>'
        if bet.out
        else ""
    )
    still = f"<p class=open><b>{t('It stays open', '这一注先留着')}</b>{inline(bet.still)}</p>" if bet.still else ""
    why = f'<p class="tbr-why">{inline(bet.why)}</p>' if bet.why else ""
    others = "".join(f"<p><strong>{inline(option)}</strong> {inline(reason)}</p>" for option, reason in bet.others)
    if others:
        others = f"<details><summary>{t('The other answers', '其他选项')}</summary>{others}</details>"
    return f'<div class="tbr-bet"><div class="tbr-pair">{mine}{out}{still}</div>{why}{others}</div>'


def _fold(fold: Fold) -> str:
    said = "".join(f"<p>{inline(line)}</p>" for line in fold.said)
    table = _table(fold.rows) if fold.rows else ""
    code = code_block(fold.code, fold.title) if fold.code else ""
    state = " open" if fold.open else ""
    return f"<details{state}><summary>{html.escape(fold.title)}</summary>{said}{table}{code}</details>"


def table_lines(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The rows as a header and lines of words; a column that some rows lack is empty there."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    digits = {key: _digits([row.get(key) for row in rows]) for key in keys}
    return [keys, *([_cell(row.get(key), digits[key]) for key in keys] for row in rows)]


def _digits(column: Sequence[Any]) -> int:
    """How many digits of the numbers of a column are shown: all, where fewer would make different numbers look alike."""
    numbers = {value for value in column if isinstance(value, float)}
    alike = len(numbers) > 1 and len({f"{value:.{DIGITS}g}" for value in numbers}) == 1
    return ALL_DIGITS if alike else DIGITS


def _whole(cell: str) -> str:
    """The cell as HTML; no line ends within a range."""
    return RANGE.sub(r'<span style="white-space:nowrap">\g<0></span>', html.escape(cell))


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """All rows; long lists shortened; of a long table the first and the last rows."""
    keys, *lines = table_lines(rows)
    head = "".join(f'<th scope="col">{html.escape(key)}</th>' for key in keys)
    cells = ["<tr>" + "".join(f"<td>{_whole(cell)}</td>" for cell in line) + "</tr>" for line in lines]
    if (left_out := len(rows) - LONGEST_TABLE) > 0:
        said = t(f"… {left_out} more rows …", f"……中间还有 {left_out} 行……")
        cells[LONGEST_TABLE - LAST_ROWS : -LAST_ROWS] = [f'<tr><td colspan="{len(keys)}">{said}</td></tr>']
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


def text_of(block: Block) -> str:
    """Headline, the picture's words, the bet, the advice, the small line, the next step, the numbers; one to a line."""
    said = {line for fold in block.folds for line in fold.said}
    words = block.picture.alt if block.picture and block.picture.alt not in said else ""
    bets = [line for bet in block.bets for line in bet_lines(bet)]
    so = t("So: ", "所以：") + plain(block.so) if block.so else ""
    folds = [line for fold in block.folds for line in _fold_lines(fold)]
    parts = [plain(block.headline), words, *bets, so, plain(block.small), plain(block.step), *folds]
    return "\n".join(filter(None, parts))


def _fold_lines(fold: Fold) -> Iterator[str]:
    if not fold.said and not fold.rows and not fold.code:
        return
    yield fold.title + t(":", "：") + "".join(f"\n  {plain(line)}" for line in fold.said)
    if fold.rows:
        yield from (f"  {line}" for line in _printed(table_lines(fold.rows[:MOST_ROWS])))
    yield from (f"  {line}" for line in fold.code.splitlines())
    if (more := len(fold.rows) - MOST_ROWS) > 0:
        yield "  " + t(f"and {more} more rows", f"另有 {more} 行")


def _printed(lines: Sequence[Sequence[str]]) -> list[str]:
    """A table as text; one that is too wide for a terminal a row a line, each cell after its heading."""
    table, (head, *rows) = as_text([[clip(cell, WIDEST) for cell in line] for line in lines]), lines
    if max(map(columns, table)) <= TERMINAL:
        return table
    colon, comma = t(": ", "："), t("; ", "；")
    return [
        row[0]
        + colon
        + comma.join(
            f"{name}{colon}{clip(cell, LONGEST)}"
            for name, cell in zip(head[1:], row[1:], strict=True)
            if cell.strip("–")
        )
        for row in rows
    ]


def bet_lines(bet: Betted) -> Iterator[str]:
    """The same as lines of text."""
    colon = t(": ", "：")
    parts = [
        t("You bet", "你押的是") + colon + bet.mine if bet.mine else "",
        bet.lead + colon + bet.out if bet.out else "",
        t("It stays open", "这一注先留着") + colon + bet.still if bet.still else "",
    ]
    yield plain(t(". ", "。").join(filter(None, parts)) + t(".", "。"))
    if bet.why:
        yield f"  {plain(bet.why)}"
    if bet.lost:
        option, reason = bet.others[0]
        yield f"  {plain(option)} {plain(reason)}"
