"""The block of a result as plain text: the headline is the first line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from course.experiment.result_html import table_lines
from course.i18n import t
from course.markup import plain
from course.tables import as_text

if TYPE_CHECKING:
    from course.experiment.result import Betted, Block, Fold


MOST_ROWS = 12
"""Rows of the numbers that are printed; the rest is counted."""


def text_of(block: Block) -> str:
    """Headline, the picture's words, the bet, the advice, the small line, the next step, the numbers; one to a line."""
    said = {line for fold in block.folds for line in fold.said}
    words = block.picture.alt if block.picture and block.picture.alt not in said else ""
    bets = [line for bet in block.bets for line in _bet(bet)]
    so = t("So: ", "所以：") + plain(block.so) if block.so else ""
    folds = [line for fold in block.folds for line in _fold(fold)]
    parts = [plain(block.headline), words, *bets, so, plain(block.small), plain(block.step), *folds]
    return "\n".join(filter(None, parts))


def _fold(fold: Fold) -> Iterator[str]:
    if not fold.said and not fold.rows and not fold.code:
        return
    yield fold.title + t(":", "：") + "".join(f"\n  {plain(line)}" for line in fold.said)
    if fold.rows:
        lines = table_lines(fold.rows[:MOST_ROWS])
        yield from (f"  {line}" for line in as_text(lines))
    yield from (f"  {line}" for line in fold.code.splitlines())
    if (more := len(fold.rows) - MOST_ROWS) > 0:
        yield "  " + t(f"and {more} more rows", f"另有 {more} 行")


def _bet(bet: Betted) -> Iterator[str]:
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
