"""The daily review as a deck: one question card at a time, with back and next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.cards.cards import Card
from course.cards.render import notice_html, say_html
from course.cards.style import SHEET
from course.cards.widgets import light, sheet, show, view_of
from course.core.i18n import t
from course.learning.entry import Entry, now, stamp
from course.learning.log import AnswerLog


class ReviewDeck:
    """The question cards of one review. Every card asks anew, also if it was answered before.

    closing: given (answered, right), the words after the last card. ``back`` and ``next`` are what the
    buttons do; no button is ever disabled, because a disabled one loses the keyboard focus.
    """

    def __init__(self, cards: Sequence[Card], log: AnswerLog, closing: Callable[[int, int], str]) -> None:
        self.cards, self.log, self.closing = list(cards), log, closing
        self.at = 0
        self.began = stamp(now())
        for card in self.cards:
            card.reopen()
        self.widget = self._build()

    def _build(self) -> Any:
        import ipywidgets as w

        self.say = light(w.HTML)
        moves = ((t("← Back", "← 上一张"), self.back), (t("Next →", "下一张 →"), self.next))
        self.buttons = [self._button(w, words, action) for words, action in moves]
        bar = light(w.Box, self.buttons)
        bar.add_class("tbq-bar")
        foot = light(w.VBox, [bar, self.say])
        foot.add_class("tbq")
        foot.add_class("tbq-deck")
        box = light(w.VBox, [sheet(SHEET), *(card.widget for card in self.cards), foot])
        self._draw()
        return box

    def _button(self, w: Any, words: str, action: Callable[[], None]) -> Any:
        button = light(w.Button, description=words, layout={"width": "auto", "height": "auto"})
        button.add_class("tbq-sub")
        button.on_click(lambda _: action())
        return button

    def answers(self) -> dict[str, Entry]:
        """For each card the last answer of this review."""
        ids = {card.item.id for card in self.cards}
        return {
            entry.item: entry
            for entry in self.log.entries()
            if entry.event == "answer" and entry.item in ids and entry.time >= self.began
        }

    def back(self) -> None:
        """Show the card before."""
        self.at = max(0, self.at - 1)
        self._draw()

    def next(self) -> None:
        """Show the next card, or after the last one the closing words."""
        self.at = min(len(self.cards), self.at + 1)
        self._draw()

    def _draw(self) -> None:
        for place, card in enumerate(self.cards):
            show(card.widget, place == self.at)
        given = self.answers()
        if self.at < len(self.cards):
            card = self.cards[self.at]
            words = t(
                f"Card {self.at + 1} of {len(self.cards)} · {card.item.lesson} · {len(given)} answered",
                f"第 {self.at + 1} 张，共 {len(self.cards)} 张 · {card.item.lesson} · 已答 {len(given)} 张",
            )
        else:
            words = self.closing(len(given), sum(entry.verdict == "correct" for entry in given.values()))
        self.say.value = say_html(notice_html(words, *self.log.take_notices()))

    def show(self) -> ReviewDeck:
        """Display the deck, and under it the copies that stay readable in a saved notebook."""
        from IPython.display import display

        name = t("Review: its cards follow as text", "复习：卡片的文字版在下面")
        display(view_of(self.widget, name), raw=True)
        for card in self.cards:
            card.show_copy()
        return self
