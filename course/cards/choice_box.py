"""Measure, or see the recording? The question as words with a button for each way; experiments and games ask it alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course.cards.render import notice_html, say_html
from course.cards.style import SHEET
from course.cards.widgets import light
from course.i18n import t

Ways = Sequence[tuple[str, Callable[[], object]]]


def busy_words() -> str:
    """What is the matter with a busy machine."""
    return t("This machine is busy with other programs.", "这台机器正忙着别的程序。")


def busy_question() -> str:
    """The question that a busy machine asks, as Markdown."""
    return f"🔬 **{busy_words()}**" + t(
        " Measure anyway, or see the recording? A result measured now may have a wide interval, or be too noisy to tell.",
        "现在测，区间可能很宽，甚至说不准。照样测，还是看录好的结果？",
    )


def busy_ways(again: Callable[[bool], object]) -> Ways:
    """The buttons of the busy-machine question. again(True) shows the recording, again(False) measures."""
    return [(see(), lambda: again(True)), (t("🔬 Measure anyway", "🔬 照样测"), lambda: again(False))]


def see() -> str:
    """The button of the recording."""
    return t("📼 See the recording", "📼 看录好的结果")


class ChoiceBox:
    """Words, and a button for each way; the first stands out. What a way shows comes below, and the buttons go."""

    def __init__(self, words: Sequence[str], ways: Ways) -> None:
        self.words, self.ways = list(words), ways

    def build(self) -> ChoiceBox:
        """Make the widgets."""
        import ipywidgets as w

        self.head = light(w.HTML, SHEET + (say_html(notice_html(*self.words)) if self.words else ""))
        self.buttons = [self._button(w, *way, main=not place) for place, way in enumerate(self.ways)]
        self.bar = light(w.Box, self.buttons)
        for name in ("tbq-sure", "tbq-ready"):
            self.bar.add_class(name)
        frame, self.output = light(w.VBox, [self.head, self.bar]), w.Output()
        for name in ("tbq", "tbq-ask"):
            frame.add_class(name)
        self.widget = light(w.VBox, [frame, self.output])
        return self

    def _button(self, w: Any, words: str, way: Callable[[], object], main: bool) -> Any:
        button = light(w.Button, description=words, layout={"width": "auto", "height": "auto"})
        for name in ("tbq-go", *([] if main else ["tbq-sub"])):
            button.add_class(name)
        button.on_click(lambda _: self._take(way))
        return button

    def _take(self, way: Callable[[], object]) -> None:
        self.widget.children = (self.output,)
        with self.output:
            way()
