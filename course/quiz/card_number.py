"""The answering part of a card: a number to type, with its unit in the label."""

from __future__ import annotations

import ipywidgets as w

from course.i18n import pick, t
from course.quiz.items import Item
from course.quiz.marking import Response
from course.quiz.rich import plain
from course.quiz.text import parse_number


class NumberField:
    """One text field; what is typed is read when submitted, so a slip gets a sentence and not a silent 0."""

    def __init__(self, item: Item) -> None:
        unit = plain(pick(item.number.unit))
        label = t(f"Your number ({unit}):", f"你的数字（{unit}）：")
        self.field = w.Text(
            description=label,
            placeholder=t("for example 3 or 2.5e6", "例如 3 或 2.5e6"),
            style={"description_width": "initial"},
            layout=w.Layout(width="auto"),
        )
        self.widget = w.VBox([self.field])

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
        """Nothing to mark on the field: the feedback says it."""
