"""The question before an experiment whose result would give an open bet away: bet first, or look without betting?

The learner answers by a button or by typing ``observe(name, bet=False)``. The cell ends at the question, without an
error, and runs again after the choice. Nothing is asked where nobody can answer: in a script, or where a program runs the
notebook.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from course.cards.cards import Card
from course.cards.deck import Deck
from course.cards.render import notice_html, say_html
from course.cards.style import SHEET
from course.cards.text import text_mode
from course.cards.widgets import light, view_of
from course.core.i18n import t
from course.learning.bets import bet_of
from course.learning.log import AnswerLog
from course.questions.items import Item
from course.verbs import state
from course.verbs.say import say

_again: str | None = None
"""What a button runs again at this moment: the rest of a cell. Somebody is there then, to answer further questions of it."""


class Waiting(BaseException):
    """Ends a cell that waits for the learner. It is no error, so no traceback is shown."""


def open_bets(experiment_name: str, items: Sequence[Item], log: AnswerLog) -> list[Item]:
    """The bets on an experiment that are not placed, and whose result the learner has not seen."""
    entries = log.entries()
    if experiment_name in state.now.looked or any(
        entry.event == "observe" and entry.item == experiment_name for entry in entries
    ):
        return []
    return [
        item
        for item in items
        if item.kind == "predict" and item.experiment == experiment_name and bet_of(item, entries) is None
    ]


def somebody_there() -> bool:
    """Whether a person can be asked: on a page that takes input, or at a prompt."""
    shell = state.running_shell()
    if shell is None:
        return hasattr(sys, "ps1")
    kernel = getattr(shell, "kernel", None)
    return _again is not None or kernel is None or bool(getattr(kernel, "_allow_stdin", False))


def ask(items: Sequence[Item], look: str, make: Callable[[Item], Card], again: Callable[[], Any]) -> None:
    """Show the question. look: the call that looks without a bet; make: the card of a bet; again: runs what was asked for."""
    calls = " · ".join(f'`predict("{item.id}")`' for item in items)
    words = [
        t(
            "🎲 **Your bet on this is still open.** The next thing you see would give it away. "
            "Bet first, or look without betting? Both are fine; a bet makes it stick.",
            "🎲 **这里还有一注没下。**再往下就是答案了。先下注，还是直接看结果？都可以；先猜一猜，记得更牢。",
        ),
        t(f"Typed: {calls}, or `{look}`.", f"用键盘输入：{calls}，或者 `{look}`。"),
    ]
    if text_mode():
        say(*words)
        return
    AskBox(items, words, make, again).show()


def wait() -> None:
    """End the running cell without a traceback; does nothing at a plain Python prompt."""
    shell = state.running_shell()
    if shell is None:
        return
    before = shell.custom_exceptions, shell.CustomTB

    def quiet(shell: Any, *_: Any, **__: Any) -> None:
        shell.custom_exceptions, shell.CustomTB = before

    shell.set_custom_exc((Waiting,), quiet)
    raise Waiting


def this_cell() -> Callable[[], Any]:
    """A function that runs the rest of the present cell, from the statement that asks; its other open bets are asked for, too.

    What stood above the question stays where it is. In a rest that is run again, the present cell is that rest.
    """
    shell = state.running_shell()
    source = ((shell.user_ns.get("In") or [""])[-1] if _again is None else _again) if shell else ""
    line = _line(shell) if shell else 0

    def again() -> None:
        global _again
        before, _again = _again, _rest(shell.transform_cell(source), line)
        try:
            shell.run_cell(_again, store_history=False)
        finally:
            _again = before

    return again


def _line(shell: Any) -> int:
    """The line of the running cell that is being executed; 0 where that cannot be told."""
    frame = sys._getframe()
    while frame and not (frame.f_globals is shell.user_ns and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    return frame.f_lineno if frame else 0


def _rest(source: str, line: int) -> str:
    """The source from the top-level statement on that holds this line; all of it for line 0."""
    begins = [one.lineno for one in ast.parse(source).body if one.lineno <= line]
    return "\n".join(source.splitlines()[begins[-1] - 1 :]) if begins else source


class AskBox:
    """Two buttons: the bet cards open here, or the experiment runs without them. Nothing is disabled, so the focus stays."""

    def __init__(
        self, items: Sequence[Item], words: Sequence[str], make: Callable[[Item], Card], again: Callable[[], Any]
    ) -> None:
        import ipywidgets as w

        self.items, self.make, self.again, self.words = list(items), make, again, words
        self.head = light(w.HTML, SHEET + say_html(notice_html(*words)))
        self.bet = self._button(w, t("🎲 Bet first", "🎲 先下注"), self.bet_first)
        self.look = self._button(w, t("🔬 Look without betting", "🔬 直接看结果"), self.run)
        self.bar = light(w.Box, [self.bet, self.look])
        self.bar.add_class("tbq-sure")
        self.frame = light(w.VBox, [self.head, self.bar])
        self.frame.add_class("tbq")
        self.frame.add_class("tbq-ask")
        self.output = w.Output()
        self.widget = light(w.VBox, [self.frame, self.output])

    def _button(self, w: Any, words: str, action: Callable[[], None]) -> Any:
        button = light(w.Button, description=words, layout={"width": "auto", "height": "auto"})
        button.add_class("tbq-go")
        button.add_class("tbq-sub")
        button.on_click(lambda _: action())
        return button

    def bet_first(self) -> None:
        """Point at the cards that are open already, and put those of the other bets here; a second press changes nothing."""
        if len(self.widget.children) > 2:
            return
        self.bar.children = ()
        above = [item.id for item in self.items if item.id in state.now.cards]
        words = [t("🎲 Place your bet, then measure.", "🎲 先下注，再测量。")]
        if above:
            calls = " · ".join(f'`predict("{one}")`' for one in above)
            words.append(
                t(
                    f"Its card is open above. If you do not see it: {calls}.",
                    f"卡片就在上面。找不到的话，运行 {calls}。",
                )
            )
        self.head.value = SHEET + say_html(notice_html(*words))
        self.look.description = t("🔬 Measure now", "🔬 开始测量")
        cards, deck = [self.make(item) for item in self.items if item.id not in above], Deck()
        for card in cards:
            deck.add(card)
        self.widget.children = (self.frame, *(card.widget for card in cards), self.look, self.output)
        if above:
            state.now.cards[above[0]].to_here()

    def run(self) -> None:
        """Run what was asked for in place of the question; the cards of the bets stay."""
        self.widget.children = tuple(one for one in self.widget.children if one not in (self.frame, self.look))
        state.now.looked |= {item.experiment for item in self.items}
        with self.output:
            self.again()

    def show(self) -> AskBox:
        """Display the question; its words stay in a saved notebook."""
        from IPython.display import display

        display(view_of(self.widget, "\n".join(self.words)), raw=True)
        return self
