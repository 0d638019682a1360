"""The part of a question card for the learner's own reason: a text field before the answer, buttons to mark it afterwards."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.render import in_language, reason_html
from course.cards.widgets import light, name_of, show
from course.core.i18n import t
from course.learning.reporting import Report, reason_words
from course.questions.items import Item


class Because:
    """``field``: the line to write in, above the buttons: on a bet from the start, elsewhere once something is chosen; its room
    is kept, so nothing moves. ``below``: the reason beside the right one, with buttons to mark it.

    on_mark is called with one of ``session.REASONS``.
    """

    def __init__(self, item: Item, on_mark: Callable[[str], None]) -> None:
        self.always, self.on_mark = item.kind in ("predict", "spoken"), on_mark
        name, hint = t("💡 Because …", "💡 因为……"), t("one line for yourself, if you like", "给自己写一句理由，可不填")
        if item.kind == "spoken":
            name, hint = t("✍️ Key words", "✍️ 关键词"), t("if you like, before you look", "可不填；先写，再看答案")
        if not self.always:
            hint = t("worth a line when you are certain", "很确定的时候，值得写一句")
        self.field = light(
            w.Text,
            description=name,
            placeholder=hint,
            style={"description_width": "initial"},
            layout={"width": "auto"},
            continuous_update=False,
        )
        name_of(self.field, hint)
        self.field.add_class("tbq-because")
        self.words = light(w.HTML)
        self.buttons = light(w.Box)
        self.buttons.add_class("tbq-marks")
        self.below = light(w.VBox, [self.words, self.buttons], layout={"display": "none"})
        self.below.add_class("tbq-reason")
        self.offer(False)

    @property
    def text(self) -> str:
        """The text in the field."""
        return self.field.value

    def offer(self, chosen: bool) -> None:
        """Show the field where a reason is asked for. chosen: whether an answer is chosen or typed."""
        show(self.field, self.always or chosen, room=True)

    def open(self, text: str = "") -> None:
        """Ask again. text: the reason of an earlier answer."""
        self.field.value, self.field.disabled = text, False
        show(self.below, False)

    def done(self, found: Report, marked: str) -> None:
        """Lock the field and show the reason beside the right one. marked: an earlier mark of it, "" for none."""
        self.field.disabled = True
        show(self.field, bool(self.text), room=True)
        show(self.below, bool(found.because))
        self.noted(found, marked)
        self.buttons.children = tuple(self._button(*one) for one in found.choices)
        show(self.buttons, bool(found.choices))

    def _button(self, mark: str, words: str) -> w.Button:
        button = light(w.Button, description=words, layout={"width": "auto", "height": "auto"})
        button.add_class("tbq-sub")
        button.on_click(lambda _: self.on_mark(mark))
        return button

    def noted(self, found: Report, marked: str) -> None:
        """Show how it was marked. The buttons stay, so that the focus is not lost and the mark can be changed."""
        words = t(f"Noted: {reason_words(marked)}.", f"已记下：{reason_words(marked)}。") if marked else ""
        self.words.value = in_language(reason_html(found.because, words), "", ' role="status"')
