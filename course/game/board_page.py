"""The board on the page: a tile opens its case in place of the tiles, a button leads back. In text mode it is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.cards.saved import hide_saved_copy, saved_copy
from course.cards.text import text_mode
from course.cards.widgets import classed, focus, light, view_of
from course.core.i18n import t
from course.game import board_view as told
from course.game.board import Board, Standing, game
from course.game.cases import Case
from course.learning.log import AnswerLog


class BoardPage:
    """The board of one game over a learner's log."""

    def __init__(
        self, lesson: str, log: AnswerLog, text: bool | None = None, write: Callable[[str], None] = print
    ) -> None:
        self.lesson, self.log, self._write = lesson, log, write
        self.text = text_mode() if text is None else text
        self.id = f"board-{lesson}"

    @property
    def now(self) -> Board:
        """The board as the log has it now."""
        return Board(self.lesson, self.log.entries())

    def show(self) -> None:
        """Display the page and the copy that stays readable in a saved notebook; print the text in text mode."""
        now = self.now
        if self.text:
            self._write(told.board_text(now))
            return
        from IPython.display import display

        display(view_of(self.build(), t("The board; its text follows", "清单；文字版在下面")), raw=True)
        copy = {"text/html": saved_copy(self.id, told.board_html(now)), "text/plain": told.board_text(now)}
        display(copy, raw=True)

    def build(self) -> Any:
        """The widget of the board."""
        import ipywidgets as w

        from course.game.parts import button

        self.head, self.place = light(w.HTML), light(w.VBox, [])
        back = button("tbb-back", t("← Back to the board", "← 回到清单"), self.back)
        self.back_row = classed(light(w.Box, [back]), "tbg-go")
        self.widget = classed(light(w.VBox, [self.head, self.place]), "tbq", "tbg", "tbb", f"tbq-live-{self.id}")
        self.draw()
        return self.widget

    def draw(self) -> None:
        """The tiles, as the log has them now."""
        import ipywidgets as w

        now = self.now
        self.head.value = told.STYLE + hide_saved_copy(self) + told.head_html(now)
        self.place.remove_class("tbb-case")
        self.tiles: dict[str, Any] = {}
        grid = classed(light(w.Box, [self._group(group) for group in now.groups]), "tbb-grid")
        self.place.children = (light(w.HTML, told.twins_html(now)), grid, light(w.HTML, told.key_html(now)))

    def _group(self, group: tuple[Standing, ...]) -> Any:
        import ipywidgets as w

        look = "tbb-pair" if len(group) > 1 else "tbb-alone"
        return classed(light(w.Box, [self._tile(one) for one in group]), look)

    def _tile(self, one: Standing) -> Any:
        """One case: a button with its words, and the face over it."""
        import ipywidgets as w

        press = light(w.Button, description=told.tile_words(one), layout={"width": "auto", "height": "auto"})
        press.on_click(lambda _: self.open(one.case))
        self.tiles[one.case.id] = press
        look = filter(None, ["tbb-tile", told.tile_look(one)])
        return classed(light(w.Box, [press, light(w.HTML, told.face_html(one))]), *look)

    def open(self, case: Case) -> None:
        """Show a case in place of the tiles."""
        desk = game(self.lesson).player(case, self.log)
        self.opened = case
        self.place.add_class("tbb-case")
        self.place.children = (self.back_row, desk.build())
        focus(self.back_row.children[0])

    def back(self) -> None:
        """Show the tiles again, with what was played meanwhile."""
        self.draw()
        focus(self.tiles[self.opened.id])
