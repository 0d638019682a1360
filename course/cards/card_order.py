"""The part of a question card with lines to put in order (a Parsons problem), some of which may not belong.

A wrong line that looks like a right one is shown next to it, marked as one of two.
"""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.card_choice import OptionRow
from course.cards.widgets import focus, light
from course.core.i18n import pick, t
from course.core.markup import NO_BREAK, inline
from course.learning.marking import Response
from course.questions.items import Item
from course.questions.wording import PAIR, pairs


class Place:
    """One numbered place of the learner's order with its buttons: up, down, remove."""

    def __init__(self, order: OrderList, number: int) -> None:
        self.number = number
        self.text = light(w.HTML)
        self.buttons = []
        for step in (-1, +1, 0):
            button = light(w.Button, layout={"width": "auto", "height": "auto"})
            button.add_class("tbq-move")
            button.on_click(lambda _, step=step: order.move(number, step))
            self.buttons.append(button)
        self.box = light(w.Box, [self.text, *self.buttons])
        self.box.add_class("tbq-line")
        self._full: bool | None = None

    def show(self, text: str | None, last: bool, locked: bool) -> None:
        """Show a line in this place. text: None for a free place."""
        here = self.number + 1
        words = (t("move up", "上移"), t("move down", "下移"), t("take out", "移除"))
        for button, sign, word, possible in zip(
            self.buttons, "↑↓✕", words, (self.number > 0, not last, True), strict=True
        ):
            label = t(f"{word}, line {here}", f"{word}第 {here} 行")
            button.description = f"{sign}{NO_BREAK}{label}"
            button.tooltip = label
            button.disabled = locked or text is None or not possible
        free = t("free", "空位")
        body = inline(text) if text is not None else f"<em>{free}</em>"
        self.text.value = f'<p class="tbq-slot"><b>{here}</b><span>{body}</span></p>'
        if (text is not None) is not self._full:
            self._full = text is not None
            (self.box.remove_class if self._full else self.box.add_class)("tbq-free")


class OrderList:
    """Lines to use, and the learner's order beside them; below them on a narrow card.

    Places are fixed widgets, so the focus survives every move and nothing on the card jumps.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        self.item, self.chosen, self.locked, self.on_change = item, [], False, on_change
        widest = t("does not belong", "不该出现")
        self.rows = {one.id: OptionRow(item, one.id, self.toggle, True, widest) for one in item.options}
        self.places = [Place(self, number) for number in range(len(item.options))]
        note = t("Your order (press a line to add it):", "你的顺序（点一行就添加）：")
        lines = light(w.VBox, [*map(self._group, pairs(item))])
        order = light(w.VBox, [light(w.HTML, f'<p class="tbq-note">{note}</p>'), *(one.box for one in self.places)])
        self.widget = light(w.Box, [lines, order])
        self.widget.add_class("tbq-order")
        self._draw()

    def _group(self, ids: tuple[str, ...]) -> w.Box:
        if len(ids) == 1:
            return self.rows[ids[0]].box
        note = light(w.HTML, f'<p class="tbq-note">{pick(PAIR)}</p>')
        box = light(w.VBox, [note, *(self.rows[one].box for one in ids)])
        box.add_class("tbq-pair")
        return box

    def toggle(self, option_id: str) -> None:
        """Append a line to the order, or take it out."""
        if option_id in self.chosen:
            self.chosen.remove(option_id)
        else:
            self.chosen.append(option_id)
        self._draw()
        self.on_change()

    def choose(self, option_ids: list[str]) -> None:
        """Make this the whole order."""
        self.chosen = list(option_ids)
        self._draw()
        self.on_change()

    def move(self, number: int, step: int) -> None:
        """Move the line at a place up (-1) or down (+1), or take it out (0); the focus goes with the line."""
        other = number + step
        if self.locked or number >= len(self.chosen) or not 0 <= other < len(self.chosen):
            return
        if step:
            self.chosen[number], self.chosen[other] = self.chosen[other], self.chosen[number]
        else:
            del self.chosen[number]
        self._draw()
        self._focus(other if step else min(number, len(self.chosen) - 1), step)
        self.on_change()

    def _focus(self, number: int, step: int) -> None:
        """Put the focus on the same button of the line's new place, or on one there that can be pressed."""
        if number < 0:
            focus(next(iter(self.rows.values())).button)
            return
        buttons = self.places[number].buttons
        wanted = buttons[{-1: 0, 1: 1, 0: 2}[step]]
        focus(buttons[2] if wanted.disabled else wanted)

    def _draw(self) -> None:
        for option_id, row in self.rows.items():
            used = option_id in self.chosen
            place = self.chosen.index(option_id) + 1 if used else 0
            row.set(t(f"place {place}", f"第 {place} 行") if used else t("add", "添加"), "chosen" if used else "")
        for number, place in enumerate(self.places):
            used = number < len(self.chosen)
            text = pick(self.item.option(self.chosen[number]).text) if used else None
            place.show(text, number == len(self.chosen) - 1, self.locked)

    def response(self) -> Response:
        """The learner's present order."""
        return Response(tuple(self.chosen))

    def restore(self, response: Response) -> None:
        """Show an earlier order."""
        self.chosen = [one for one in response.options if one in self.rows]
        self._draw()

    def lock(self, locked: bool) -> None:
        """Forbid or allow moving lines."""
        self.locked = locked
        for row in self.rows.values():
            row.button.disabled = locked
        self._draw()

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Mark the lines that do not belong; the feedback shows the right order."""
        for option_id, (chosen, right) in states.items():
            place = self.chosen.index(option_id) + 1 if chosen else 0
            words = t(f"place {place}", f"第 {place} 行") if chosen else t("not used", "未用")
            if right is False:
                words = t("does not belong", "不该出现")
            self.rows[option_id].set(words, "wrong" if chosen and right is False else "chosen" if chosen else "")
