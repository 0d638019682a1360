"""The block of a result as plain text: the headline is the first line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from course.i18n import t
from course.markup import plain

if TYPE_CHECKING:
    from course.experiment.result import Betted, Block


def text_of(block: Block) -> str:
    """Headline, the picture's words, the bet, the small line, the next step, the numbers; one to a line."""
    said = {line for fold in block.folds for line in fold.said}
    words = block.picture.alt if block.picture and block.picture.alt not in said else ""
    bets = [line for bet in block.bets for line in _bet(bet)]
    folds = [f"{fold.title}{t(': ', '：')}" + "\n  ".join(map(plain, fold.said)) for fold in block.folds if fold.said]
    return "\n".join(filter(None, [plain(block.headline), words, *bets, plain(block.small), plain(block.step), *folds]))


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
