"""Lost cases in the review: a line and a button each, which opens the case below. In text mode they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.cards.render import in_language
from course.cards.saved import hide_saved_copy, saved_copy
from course.cards.text import text_mode
from course.cards.widgets import classed, light, sheet, view_of
from course.core.i18n import t
from course.core.markup import inline, plain
from course.game.board import game
from course.game.board_view import STYLE
from course.game.cases import Case
from course.game.returning import Return, return_words
from course.learning.log import AnswerLog


class ReturningCases:
    """The lost cases that are due, over a learner's log."""

    id = "lost-cases"

    def __init__(
        self, due: Sequence[Return], log: AnswerLog, text: bool | None = None, write: Callable[[str], None] = print
    ) -> None:
        self.due, self.log, self._write = due, log, write
        self.text = text_mode() if text is None else text

    def __str__(self) -> str:
        return "\n".join(f"{plain(return_words(one))}  {one.asked.call}" for one in self.due)

    def show(self) -> None:
        """Display the rows and the copy that stays readable in a saved notebook; print the text in text mode."""
        if self.text:
            self._write(str(self))
            return
        from IPython.display import display

        display(view_of(self.build(), t("Lost cases; their text follows", "没做好的题；文字版在下面")), raw=True)
        rows = "".join(f"<p>{inline(return_words(one))} <code>{one.asked.call}</code></p>" for one in self.due)
        display({"text/html": saved_copy(self.id, rows), "text/plain": str(self)}, raw=True)

    def build(self) -> Any:
        """The widget: the rows, and below them the case that was opened."""
        import ipywidgets as w

        self.place = light(w.VBox, [])
        inside = [light(w.HTML, hide_saved_copy(self)), *map(self._row, self.due), self.place, sheet(STYLE)]
        self.widget = classed(light(w.VBox, inside), "tbq", "tbg", "tbb", f"tbq-live-{self.id}")
        return self.widget

    def _row(self, one: Return) -> Any:
        import ipywidgets as w

        from course.game.parts import button

        play = button("tbb-play", t("Play it", "来一题"), lambda: self.open(one.asked), main=True)
        words = light(w.HTML, in_language(f"<p>{inline(return_words(one))}</p>"))
        return classed(light(w.Box, [words, play]), "tbb-day", "tbq-ready")

    def open(self, case: Case) -> None:
        """Show a case below the rows."""
        self.place.add_class("tbb-case")
        self.place.children = (game(case.lesson).player(case, self.log).build(),)
