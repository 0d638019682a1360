"""What the desks of all games share: a page or text, moves typed and pressed, pages that follow, the copy in a saved notebook."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from typing import Any

from course.cards.deck import InDeck, deck_of_cell
from course.cards.render import hide_saved_copy, saved_copy, say_html
from course.cards.typed import text_mode
from course.cards.widgets import classed, focus, light, second_click, sheet, view_of
from course.core.i18n import t
from course.core.markup import inline, plain
from course.core.plain_text import text_of
from course.experiment.ending import ending
from course.game import view
from course.game.play import Play

_open: dict[str, weakref.WeakSet[CaseDesk]] = {}


class CaseDesk(InDeck):
    """What ``case("voice")`` gives: a page in a notebook, text elsewhere; and the same moves by typing.

    A game adds its moves as methods and, as HTML: ``_more``, its part of the ticket; ``_now``, an open case below the ticket, for text
    and saved copy; ``_closing``, the arguments of ``view.closing_html``; ``_folds``, those of ``view.folds_html``; ``_quiet``, what
    stands below the live region of ``say``. ``_facts``: phrases of the ticket, with marks. For its widgets: ``_parts``, which makes
    them; ``_lay``, which puts them beside the ticket (``side``) and below it, as the attempt stands; ``_reset``, which empties them
    for a new one; ``start``, where the keyboard begins. ``_say_next``: says what follows a typed move.
    """

    def __init__(self, play: Play, text: bool | None = None, write: Callable[[str], None] = print) -> None:
        self.play, self.case, self._write = play, play.case, write
        self.text = text_mode() if text is None else text
        self.widget: Any = None
        self._copy: Any = None
        self._gave: Any = None
        self._done_at = float("-inf")
        self._ended = False
        self.box: Any = None
        """The question about the cause, once it is asked."""

    @property
    def answered(self) -> bool:
        """Whether the case was played to its end once."""
        return self.play.attempts[0].closed

    def draw_head(self) -> None:
        """Show the title anew."""
        head = view.head_html(self.case, self.folded, self.answered)
        self.title.value = hide_saved_copy(self.case) + head

    def _tried(self, move: Callable[[], Any], say: Callable[[str], None]) -> bool:
        """Make a move, and keep what it gave. A slip, an interrupt, and every error of the course's own is said in its sentence;
        others are raised.
        """
        try:
            self._gave = move()
        except KeyboardInterrupt:
            self._done_at = time.monotonic()  # presses that waited are stopped, too
            say(t("Stopped, as you asked: this run is not counted.", "已停止，这次不算。"))
        except Exception as error:
            if not type(error).__module__.startswith("course."):
                raise
            say(str(error))
        else:
            return True
        return False

    def _follow(self) -> None:
        """Every page of this case shows the new state."""
        for desk in _open.get(self.case.id, ()):
            desk.refresh()

    # --- typed ---

    def hint(self) -> None:
        """Open the next hint."""
        if self._moved(self.play.hint):
            self._tell(view.hints_html(self.play))

    def cause(self, answer: str = "") -> None:
        """Name the cause, once it is asked."""
        if self._moved(lambda: self.play.cause(answer)):
            found = self.play.attempt.cause_found
            self._tell(f"<p>{view.cause_said(True)}</p>" if found else view.cause_html(self.play))
            if found:
                self._say_next()

    def again(self) -> None:
        """Open a new attempt: practice."""
        if self._moved(self.play.again):
            self._write(str(self))

    def _say_next(self) -> None:
        """Say what follows a typed move: once the case is closed, what came of it."""
        if self.play.attempt.closed:
            self._tell(self._closed())

    def _tell(self, html: str) -> None:
        """Say in words what HTML shows."""
        self._write(text_of(html))

    def _moved(self, move: Callable[[], Any]) -> bool:
        """Make a typed move; the pages of this case follow."""
        if not self._tried(move, lambda words: self._write(plain(words))):
            return False
        self._follow()
        for notice in self.play.log.take_notices():
            self._write(notice)
        return True

    # --- shown ---

    def __str__(self) -> str:
        return text_of(self.html())

    __repr__ = __str__

    def html(self) -> str:
        """All there is to say of the case now, for the copy in a saved notebook and, as text, for a terminal."""
        parts = [f"<div>{view.title_html(self.case)}</div>", self._ticket(), view.hints_html(self.play)]
        return "".join([*parts, self._closed() if self.play.attempt.closed else self._now()])

    def _ticket(self) -> str:
        return view.ticket_html(self.case, self._more(), self._facts())

    def _more(self) -> str:
        return ""

    def _facts(self) -> list[str]:
        return []

    def _closed(self) -> str:
        """What came of a closed case, and what can be looked up in it, as it stays in a saved notebook."""
        return view.closing_html(self.play, *self._closing(True)) + view.folds_html(self.play, *self._folds(True))

    def show(self) -> CaseDesk:
        """Display the page and the copy that stays readable in a saved notebook; print the text in text mode."""
        if self.text:
            self._write(str(self))
            return self
        from IPython.display import display

        self.build()
        deck_of_cell().add(self)
        name = t(f"[{self.case.id}] a case; its text follows", f"[{self.case.id}] 文字版在下面")
        display(view_of(self.widget, name), raw=True)
        self._copy = display(self.saved_copy(), raw=True, display_id=True)
        return self

    _ipython_display_ = show

    def saved_copy(self) -> dict[str, str]:
        """MIME bundle of what stays in a saved notebook."""
        return {"text/html": saved_copy(self.case.id, self.html()), "text/plain": str(self)}

    def build(self) -> Any:
        """The widget of the case; also remembered, so that typed moves reach it."""
        import ipywidgets as w

        from course.game.parts import Doing, button, row

        self.title = classed(light(w.HTML), "tbq-q")
        self.draw_head()
        self.ticket = light(w.HTML, self._ticket())
        self.doing, self.say = Doing(), light(w.HTML, say_html())
        self.side = light(w.VBox, [])
        self.two = classed(light(w.Box, [self.ticket, self.side]), "tbg-two")
        self.below = classed(light(w.VBox, []), "tbg-below")
        self.closing, self.folds = light(w.HTML), light(w.HTML)
        self.restart = button("tbg-again", t("↺ Another try (practice)", "↺ 再来一次（练习）"), self._again)
        self.last = row(self.restart)
        self._parts()
        inside = [self.title, self.two, self.below, sheet(view.STYLE)]
        self.widget = classed(light(w.VBox, inside), "tbq", "tbg", f"tbq-live-{self.case.id}")
        _open.setdefault(self.case.id, weakref.WeakSet()).add(self)
        self.refresh()
        return self.widget

    def refresh(self) -> None:
        """Draw the state of the case, read from the log; in the saved copy too. In a deck a case that ends opens the next."""
        self._draw()
        self.open_in_deck()
        ended = self.answered
        if self.deck and ended and not self._ended:
            self.deck.follow(self)
        self._ended = ended
        if self._copy is not None:
            self._copy.update(self.saved_copy(), raw=True)

    def _draw(self) -> None:
        """What the log says now: the question about the cause, what is said of a closed case, and the rest by ``_lay``."""
        from course.game.parts import CauseBox

        play = self.play
        if not play.may_name_cause():
            self.box = None
        elif self.box is None:
            self.box = CauseBox(play, self._go_on)
        else:
            self.box.show()
        if play.attempt.closed:
            self.closing.value = view.closing_html(play, *self._closing(False))
            self.folds.value = view.folds_html(play, *self._folds(False), again=self._ticket())
        self._lay()

    # --- pressed ---

    def start(self) -> Any:
        """Where the keyboard begins."""
        raise NotImplementedError

    def _go_on(self) -> None:
        """Every page follows; the keyboard goes on with the question that is asked now, or below the case that is closed now."""
        asked = self.box
        self._follow()
        if self.play.attempt.closed:
            focus(self.restart)
        elif self.box is not asked and self.box:
            self.box.focus()

    def _again(self) -> None:
        self.doing.clear()
        self._reset()
        if self._made(self.play.again):
            focus(self.start())

    def _made(self, move: Callable[[], Any]) -> bool:
        """Make a move that was pressed; the pages of this case follow."""
        made = self._tried(move, self._notice)
        if made:
            self._go_on()
        return made

    def _ran(self, work: Callable[[], Any]) -> bool:
        """Do what takes seconds and says so in ``doing``; gives whether it was done. A press that waited meanwhile is half of a
        double click.
        """
        if second_click(self._done_at):
            return False
        with ending():
            ran = self._tried(work, self._notice)
        if ran:
            self._done_at = time.monotonic()
        self.doing.clear()
        return ran

    def _notice(self, words: str) -> None:
        """Say one thing in the live region; what else is known stays below."""
        self.say.value = say_html(f'<p class="tbq-notice">{inline(words)}</p>', self._quiet())
