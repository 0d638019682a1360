"""The parts of a question card for a number: a text field, and a scale to bet on."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.drawing import place_on, short
from course.cards.widgets import by_mouse_only, light
from course.core.i18n import language, pick, t
from course.core.markup import NO_BREAK, plain
from course.learning.marking import Response
from course.learning.numbers import parse_number
from course.learning.session import AnswerError
from course.questions.items import Item


class NumberField:
    """One text field. The text is parsed when it is submitted, so that a mistake gets a sentence and not a silent 0.

    Like every field that a button reads, it sends its text to the kernel once, when the focus leaves it
    (``continuous_update=False``). If it sent every letter, ipywidgets would hold back later letters while the kernel
    works, and the press of a button would be handled before them.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        unit = plain(pick((item.number or item.slider).unit))
        self.field = light(
            w.Text,
            description=t(f"Your number ({unit}):", f"你的数字（{unit}）："),
            placeholder=t("for example 3 or 2.5e6", "例如 3 或 2.5e6"),
            style={"description_width": "initial"},
            layout={"width": "auto"},
            continuous_update=False,
        )
        self.field.add_class("tbq-number")
        self.field.observe(lambda _: on_change(), "value")
        self.widget = light(w.VBox, [self.field])

    def response(self) -> Response:
        """The number typed; an empty field is an empty response. Raises AnswerError for anything else."""
        typed = self.field.value.strip()
        return Response(number=parse_number(typed) if typed else None)

    def restore(self, response: Response) -> None:
        """Show an earlier number."""
        self.field.value = "" if response.number is None else f"{response.number:.10g}"

    def lock(self, locked: bool) -> None:
        """Forbid or allow typing."""
        self.field.disabled = locked

    def reveal(self, states: dict[str, tuple[bool, bool | None]], bet: bool) -> None:
        """Does nothing: the feedback below says what is right."""


class Scale(NumberField):
    """A scale to bet on: press a mark with the mouse, step with two buttons, or type any number.

    The marks are for the mouse and stay out of the tab order; the field and the steps do the same by
    keyboard. A slider widget is not used: it tells a screen reader no name.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        super().__init__(item, on_change)
        self.stops = item.slider.stops
        self.field.placeholder = " "  # an empty one is never "shown", and a field without would look filled
        self.marks = [self._mark(stop) for stop in self.stops]
        self.track = light(w.Box, self.marks)
        self.track.add_class("tbq-track")
        self.knob = light(w.HTML)
        frame = light(w.Box, [self.knob, self.track])
        frame.add_class("tbq-scale")
        self.steps = [self._step("−", t("less", "小一点"), -1), self._step("+", t("more", "大一点"), +1)]
        line = light(w.Box, [self.field, *self.steps])
        line.add_class("tbq-typed")
        self.widget = light(w.VBox, [frame, line])
        self.field.observe(lambda _: self._draw(), "value")
        self._draw()

    def _mark(self, stop: float) -> w.Button:
        mark = by_mouse_only(light(w.Button, description=short(stop), layout={"width": "auto", "height": "auto"}))
        mark.add_class("tbq-mark")
        mark.on_click(lambda _: self.choose(stop))
        return mark

    def _step(self, sign: str, words: str, way: int) -> w.Button:
        button = light(
            w.Button, description=sign + NO_BREAK + words, tooltip=words, layout={"width": "auto", "height": "auto"}
        )
        button.add_class("tbq-move")
        button.on_click(lambda _: self.step(way))
        return button

    def choose(self, value: float) -> None:
        """Bet on a number."""
        self.field.value = f"{value:g}"

    def step(self, way: int) -> None:
        """Go to the next mark up (+1) or down (-1); from an empty field, to the middle of the scale."""
        value = self._value()
        if value is None:
            self.choose(self.stops[len(self.stops) // 2])
            return
        beyond = [stop for stop in self.stops if (stop - value) * way > 1e-9 * value]
        if beyond:
            self.choose(beyond[0] if way > 0 else beyond[-1])

    def _value(self) -> float | None:
        try:
            value = self.response().number
        except AnswerError:
            return None
        return value if value and value > 0 else None

    def _draw(self) -> None:
        """Draw the knob over the marks, or on an empty scale a sentence in the same space."""
        value = self._value()
        say = t("Press a mark, or type a number.", "点一个刻度，或者输入数字。")
        knob = f'<p class="tbq-note">{say}</p>'
        if value is not None:
            left = 100 * (0.5 + place_on(self.stops, value) * (len(self.stops) - 1)) / len(self.stops)
            knob = f'<p class="tbq-knob" style="left:{left:.2f}%"><b>{value:g}</b></p>'
        self.knob.value = f'<div class="tbq-over" lang="{language()}" aria-hidden="true">{knob}</div>'

    def lock(self, locked: bool) -> None:
        """Forbid or allow moving the bet."""
        super().lock(locked)
        for button in (*self.marks, *self.steps):
            button.disabled = locked
