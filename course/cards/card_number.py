"""The part of a question card for a number: a text field."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.widgets import light
from course.core.i18n import pick, t
from course.core.markup import plain
from course.learning.marking import Response
from course.learning.numbers import parse_number
from course.questions.items import Item


class NumberField:
    """One text field. The text is parsed when it is submitted, so that a mistake gets a sentence and not a silent 0.

    Like every field that a button reads, it sends its text to the kernel once, when the focus leaves it
    (``continuous_update=False``). If it sent every letter, ipywidgets would hold back later letters while the kernel
    works, and the press of a button would be handled before them.
    """

    def __init__(self, item: Item, on_change: Callable[[], None] = lambda: None) -> None:
        unit = plain(pick(item.number.unit))
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
