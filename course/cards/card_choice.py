"""The part of a question card with the options to choose: one button for each, its state in words."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.render import face_html
from course.cards.widgets import light
from course.core.i18n import pick, t
from course.core.markup import plain
from course.learning.marking import Response
from course.learning.reporting import state_words, widest_state
from course.questions.items import Item


class OptionRow:
    """One option: a button with its words for keyboard and screen reader, and on top of it the HTML that is seen."""

    def __init__(
        self, item: Item, option_id: str, on_click: Callable[[str], None], square: bool, widest: str = ""
    ) -> None:
        self.option, self.square, self.widest = item.option(option_id), square, widest
        self.button = light(w.Button, layout={"width": "100%", "height": "auto"})
        self.button.add_class("tbq-opt")
        self.button.on_click(lambda _: on_click(option_id))
        self.face = light(w.HTML)
        self.box = light(w.Box, [self.button, self.face])
        self.box.add_class("tbq-row")
        self._look = ""
        self.set("", "")

    def set(self, state: str, look: str) -> None:
        """state: words shown and read out; look: "", chosen, right or wrong."""
        words = f"{self.option.id}. {plain(pick(self.option.text))}"
        self.button.description = f"{words} ({state})" if state else words
        self.face.value = face_html(self.option, self.option.id, state, self.square, self.widest)
        if look != self._look:
            if self._look:
                self.box.remove_class(f"tbq-{self._look}")
            if look:
                self.box.add_class(f"tbq-{look}")
            self._look = look


class Choices:
    """Options of a single, multiple or predict item, or criteria. on_change is called when the choice changes."""

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        self.item, self.chosen, self.on_change = item, [], on_change
        self.many, widest = item.kind in ("multiple", "spoken"), widest_state(item.kind == "predict")
        self.rows = {one.id: OptionRow(item, one.id, self.toggle, self.many, widest) for one in item.options}
        self.widget = light(w.VBox, [row.box for row in self.rows.values()])

    def toggle(self, option_id: str) -> None:
        """Choose an option; where several may be chosen, a second press takes the choice back."""
        if not self.many:
            self.chosen = [option_id]
        elif option_id in self.chosen:
            self.chosen.remove(option_id)
        else:
            self.chosen.append(option_id)
        self._draw()
        self.on_change()

    def choose(self, option_ids: list[str]) -> None:
        """Choose exactly these options."""
        self.chosen = list(option_ids)
        self._draw()
        self.on_change()

    def _draw(self) -> None:
        for option_id, row in self.rows.items():
            picked = option_id in self.chosen
            row.set(t("● selected", "● 已选") if picked else "", "chosen" if picked else "")

    def response(self) -> Response:
        """What is chosen now, in the order of the options."""
        return Response(tuple(one for one in self.rows if one in self.chosen))

    def restore(self, response: Response) -> None:
        """Show an earlier choice as selected."""
        self.chosen = [one for one in response.options if one in self.rows]
        self._draw()

    def lock(self, locked: bool) -> None:
        """Forbid or allow choosing."""
        for row in self.rows.values():
            row.button.disabled = locked
        if not locked:
            self._draw()

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Mark every option in words and colour: id -> (chosen, right). bet: what came out, and no right or wrong."""
        for option_id, (chosen, right) in states.items():
            look = {True: "right", False: "wrong" if chosen else "", None: "chosen" if chosen else ""}[right]
            self.rows[option_id].set(state_words(chosen, right, bet), look)
