"""The answering part of a card: lines to put in order (a Parsons problem), some of which may not belong."""

from __future__ import annotations

import ipywidgets as w

from course.i18n import pick, t
from course.quiz.card_choice import OptionRow
from course.quiz.items import Item
from course.quiz.marking import Response
from course.quiz.rich import inline


class Place:
    """One numbered place of the learner's order with its buttons Up, Down, Remove."""

    def __init__(self, order: OrderList, number: int) -> None:
        self.text = w.HTML()
        moves = [(t("↑ Up", "↑ 上移"), -1), (t("↓ Down", "↓ 下移"), +1), (t("✕ Remove", "✕ 移除"), 0)]
        self.buttons = []
        for words, step in moves:
            button = w.Button(description=words, layout=w.Layout(width="auto", height="auto"))
            button.add_class("tbq-sub")
            button.add_class("tbq-small")
            button.on_click(lambda _, step=step: order.move(number, step))
            self.buttons.append(button)
        self.box = w.Box([self.text, *self.buttons], layout=w.Layout(display="none"))
        self.box.add_class("tbq-line")


class OrderList:
    """Lines to use above, the learner's order below.

    Places are fixed widgets, so the focus survives every move.
    """

    def __init__(self, item: Item) -> None:
        self.item, self.chosen, self.locked = item, [], False
        self.rows = {one.id: OptionRow(item, one.id, self.toggle, True) for one in item.options}
        self.places = [Place(self, number) for number in range(len(item.options))]
        self.title = w.HTML()
        self.widget = w.VBox(
            [*(row.box for row in self.rows.values()), self.title, *(one.box for one in self.places)]
        )
        self._draw()

    def toggle(self, option_id: str) -> None:
        """Append a line to the order, or take it out."""
        if option_id in self.chosen:
            self.chosen.remove(option_id)
        else:
            self.chosen.append(option_id)
        self._draw()

    def move(self, number: int, step: int) -> None:
        """Move the line at a place up (-1) or down (+1), or remove it (0); the focus goes with the line."""
        other = number + step
        if self.locked or number >= len(self.chosen) or not 0 <= other < len(self.chosen):
            return
        if step:
            self.chosen[number], self.chosen[other] = self.chosen[other], self.chosen[number]
            self.places[other].buttons[0 if step < 0 else 1].focus()
        else:
            del self.chosen[number]
            if self.chosen:
                self.places[min(number, len(self.chosen) - 1)].buttons[2].focus()
        self._draw()

    def _draw(self) -> None:
        for option_id, row in self.rows.items():
            used = option_id in self.chosen
            place = self.chosen.index(option_id) + 1 if used else 0
            row.set(
                t(f"place {place}", f"第 {place} 行") if used else t("add", "添加"), "chosen" if used else ""
            )
        empty = t(
            "Your order is empty: press the lines above in the order they should run.",
            "还没有排序：请按执行的先后依次点击上面的行。",
        )
        self.title.value = (
            f'<p class="tbq-note">{t("Your order:", "你的顺序：") if self.chosen else empty}</p>'
        )
        for number, place in enumerate(self.places):
            if number >= len(self.chosen):
                place.box.layout.display = "none"
                continue
            place.box.layout.display = None
            text = inline(pick(self.item.option(self.chosen[number]).text))
            place.text.value = f"<strong>{number + 1}</strong>&ensp;{text}"

    def response(self) -> Response:
        """The order as it stands."""
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
        for place in self.places:
            for button in place.buttons:
                button.disabled = locked
        if not locked:
            self._draw()

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Mark the lines that do not belong; the feedback shows the right order."""
        for option_id, (chosen, right) in states.items():
            place = (
                t(f"place {self.chosen.index(option_id) + 1}", f"第 {self.chosen.index(option_id) + 1} 行")
                if chosen
                else t("not used", "未用")
            )
            alien = t(", does not belong", "，不该出现") if right is False else ""
            self.rows[option_id].set(
                place + alien, "wrong" if chosen and right is False else "chosen" if chosen else ""
            )
