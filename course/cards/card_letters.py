"""The field of a card in which options are chosen by typing their letters or numbers."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from course.cards.widgets import light, name_of, show
from course.i18n import t
from course.questions.items import Item


class LetterField:
    """Typing "b" or "2" chooses option b at once; several letters where several may be chosen.

    Keys pressed on a button belong to the notebook (in JupyterLab "b" adds a cell); in a field they do not.
    on_typed is called with the option ids typed, in order, each once. The first card of a session says so in a
    sentence; later ones keep the field with a sign and the letters.
    """

    told_on: str | None = None
    """Id of the item whose card says it in a sentence."""

    def __init__(self, item: Item, on_typed: Callable[[list[str]], None]) -> None:
        self.ids = [one.id for one in item.options]
        self.many = item.kind in ("multiple", "order", "spoken")
        self.on_typed, self._quiet = on_typed, False
        first, last = self.ids[0], self.ids[-1]
        letters = (
            t(f"letters {first} to {last}", f"字母 {first}–{last}")
            if self.many
            else t(f"a letter, {first} to {last}", f"一个字母 {first}–{last}")
        )
        words = t(f"Or type {letters}", f"也可以输入{letters}")
        LetterField.told_on = LetterField.told_on or item.id
        self.field = light(
            w.Text,
            description=words + t(":", "：") if LetterField.told_on == item.id else f"⌨ {first}–{last}",
            style={"description_width": "initial"},
            layout={"width": "auto"},
        )
        name_of(self.field, words)
        self.field.add_class("tbq-letters")
        self.field.observe(lambda change: self._typed(change["new"]), "value")

    def _typed(self, text: str) -> None:
        if self._quiet:
            return
        named = [
            self.ids[int(sign) - 1] if sign.isascii() and sign.isdigit() else sign
            for sign in text.lower()
            if sign in self.ids or (sign.isascii() and sign.isdigit() and 0 < int(sign) <= len(self.ids))
        ]
        found = list(dict.fromkeys(named))
        self.on_typed(found if self.many else found[-1:])

    def clear(self) -> None:
        """Empty the field without choosing anything."""
        self._quiet = True
        try:
            self.field.value = ""
        finally:
            self._quiet = False

    def lock(self, locked: bool) -> None:
        """Forbid or allow typing. A locked field is hidden, and its space stays reserved."""
        self.field.disabled = locked
        show(self.field, not locked, room=True)
