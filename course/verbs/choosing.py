"""Measure, or see the recording? Asked before a run on a busy machine, and where a run could tell nothing.

Each way is a button, and a call that can be typed: ``observe(name, replay=True)``. The cell ends where it is asked, without an error, and
runs again once the learner has chosen. Where nobody can answer (a notebook that is executed by a program), nothing is asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from course import load
from course.cards.render import notice_html, say_html
from course.cards.style import SHEET
from course.cards.text import text_mode
from course.cards.widgets import view_of
from course.experiment import base
from course.experiment.result import headline_of
from course.experiment.words import OPEN
from course.i18n import t
from course.machine import can
from course.records import Record
from course.verbs import asking
from course.verbs.say import say

Ways = Sequence[tuple[str, Callable[[], object]]]


def busy_first(names: Sequence[str], again: Callable[[bool], object], call: Callable[[bool], str]) -> bool:
    """Whether the learner is asked before these experiments run on a busy machine; else they may run now.

    again: runs them, True: as recordings. call: the same as it is typed. Where there is nothing to choose, one sentence says what
    a busy machine means.
    """
    live = [name for name in names if can(base.get(name).needs)]
    if not live or os.environ.get("COURSE_REPLAY") or not load.busy():
        return False
    recorded, busy = (
        any(map(_recorded, live)),
        t("This machine is busy with other programs.", "这台机器正忙着别的程序。"),
    )
    if not recorded or not asking.somebody_there():
        wide = t(
            " What is measured now may come out wide, or too noisy to tell.", "现在测，结果可能很宽，也可能说不准。"
        )
        none = "" if recorded else t(" There is no recording to show instead.", "这个实验没有录制，只能现在测。")
        say(f"{busy}{wide}{none}")
        return False
    words = [
        t(
            f"🔬 **{busy}** Measure anyway, or see the recording? "
            "What is measured now may come out wide, or too noisy to tell.",
            f"🔬 **{busy}**现在测，结果可能很宽，甚至说不准。照样测，还是看录制？",
        ),
        t(f"Typed: `{call(True)}` or `{call(False)}`.", f"用键盘输入：`{call(True)}` 或 `{call(False)}`。"),
    ]
    Choice(words, [(see(), lambda: again(True)), (t("🔬 Measure anyway", "🔬 照样测"), lambda: again(False))]).show()
    return True


def after_nothing(record: Record, again: Callable[[bool], object]) -> None:
    """Where a run here could tell nothing: the recording, if there is one, and another run, as buttons."""
    if not record.live or text_mode() or not asking.somebody_there():
        return
    if headline_of(record, base.get(record.experiment)) not in OPEN:
        return
    ways = [(see(), lambda: again(True))] if _recorded(record.experiment) else []
    Choice((), [*ways, (t("🔬 Measure again", "🔬 再测一次"), lambda: again(False))]).show()


def see() -> str:
    """The button of the recording."""
    return t("📼 See the recording", "📼 看录制")


def _recorded(name: str) -> bool:
    return base.recording(base.get(name)) is not None


class Choice:
    """Words, and a button for each way; the first stands out. What a way shows comes below, and the buttons go."""

    def __init__(self, words: Sequence[str], ways: Ways) -> None:
        self.words, self.ways = list(words), ways

    def show(self) -> Choice:
        """Display it; without widgets the words alone."""
        if text_mode():
            say(*self.words)
            return self
        from IPython.display import display

        self.build()
        words = "\n".join(self.words) or " · ".join(name for name, _ in self.ways)
        display(view_of(self.widget, words), raw=True)
        return self

    def build(self) -> Choice:
        """Make the widgets."""
        import ipywidgets as w

        self.head = w.HTML(SHEET + (say_html(notice_html(*self.words)) if self.words else ""))
        self.buttons = [self._button(w, *way, main=not place) for place, way in enumerate(self.ways)]
        self.bar = w.Box(self.buttons)
        for name in ("tbq-sure", "tbq-ready"):
            self.bar.add_class(name)
        frame, self.output = w.VBox([self.head, self.bar]), w.Output()
        for name in ("tbq", "tbq-ask"):
            frame.add_class(name)
        self.widget = w.VBox([frame, self.output])
        return self

    def _button(self, w, words: str, way: Callable[[], object], main: bool):  # noqa: ANN001, ANN202
        button = w.Button(description=words, layout=w.Layout(width="auto", height="auto"))
        for name in ("tbq-go", *([] if main else ["tbq-sub"])):
            button.add_class(name)
        button.on_click(lambda _: self._take(way))
        return button

    def _take(self, way: Callable[[], object]) -> None:
        self.widget.children = (self.output,)
        with self.output:
            way()
