"""The part of a question card that submits the answer: three buttons, each with a confidence; in the interview, with a rating."""

from __future__ import annotations

import time
from collections.abc import Callable

import ipywidgets as w

from course.cards.widgets import light, relayout, second_click
from course.core.i18n import pick, t
from course.learning.marking import CONFIDENCE
from course.questions.interview import FLUENCY
from course.questions.items import Item


class SureBar:
    """Three buttons. The pressed one submits the answer; then only this one stays, with the focus, and opens the card again.

    The space of the others stays reserved, so that nothing moves.
    """

    def __init__(self, item: Item, on_press: Callable[[int], None]) -> None:
        self.item, self.on_press = item, on_press
        self.levels = FLUENCY if item.kind == "spoken" else CONFIDENCE
        self._done_at = float("-inf")
        self.ask = light(w.HTML)
        self.buttons = {level: self._button(level) for level in CONFIDENCE}
        self._ready = False
        row = light(w.Box, list(self.buttons.values()))
        row.add_class("tbq-sure")
        self.widget = light(w.VBox, [self.ask, row])
        self.widget.add_class("tbq-bar")

    def _button(self, level: int) -> w.Button:
        button = light(w.Button, layout={"width": "auto", "height": "auto"})
        button.add_class("tbq-go")
        button.on_click(lambda _: self._press(level))
        return button

    def _press(self, level: int) -> None:
        if not second_click(self._done_at):  # a second click must not wipe the feedback away
            self.on_press(level)

    def open(self) -> None:
        """Ask for an answer."""
        self._done_at = float("-inf")
        verb = t("submit", "提交")
        if self.item.checkpoint:
            verb = t("record", "记录")
        if self.item.kind == "predict":
            verb = t("bet", "下注")
        note = t(" It does not change the mark.", "这不影响得分。") if self.item.checkpoint else ""
        if self.item.kind == "spoken":
            verb = t("rate", "打分")
            self._ask(
                t("Tick what you said. How did you say it? Press to rate.", "勾出你说到的。说得怎么样？点击即打分。")
            )
        else:
            self._ask(t(f"How sure are you? Press to {verb}.{note}", f"你有多大把握？点击即{verb}。{note}"))
        for level, button in self.buttons.items():
            button.description = f"{verb.capitalize()}{t(': ', '：')}{pick(self.levels[level])}"
            relayout(button, visibility=None, order=None)
            button.remove_class("tbq-sub")

    def ready(self, ready: bool) -> None:
        """Show whether there is an answer to submit."""
        if ready != self._ready:
            self._ready = ready
            (self.widget.add_class if ready else self.widget.remove_class)("tbq-ready")

    def done(self, pressed: int) -> None:
        """Show only the pressed button, as "try again" or, for a bet, as the lock."""
        self._done_at = time.monotonic()
        self._ask(t("Answered.", "已作答。"))
        bet = self.item.kind == "predict"
        for level, button in self.buttons.items():
            kept = level == pressed
            relayout(button, visibility=None if kept else "hidden", order="-1" if kept else None)
        self.buttons[pressed].add_class("tbq-sub")
        self.buttons[pressed].description = t("✓ Bet locked", "✓ 已锁定") if bet else t("↺ Try again", "↺ 再答一次")

    def _ask(self, words: str) -> None:
        self.ask.value = f"<p>{words}</p>"
