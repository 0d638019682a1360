"""Measure, or see the recording? Asked before a run on a busy machine, and where a run could tell nothing.

Before a run it is asked where the answer needs a clock, and once a lesson: the choice holds while the machine stays busy. Each way is
a button, and a call that can be typed: ``observe(name, replay=True)``. The cell ends where it is asked, without an error, and its rest
runs once the learner has chosen. Where nobody can answer (a notebook that is executed by a program), nothing is asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from course import load
from course.cards.choice_box import ChoiceBox, busy_question, busy_ways, busy_words, see
from course.cards.text import text_mode
from course.cards.widgets import view_of
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import headline_of
from course.i18n import t
from course.machine import can
from course.records import Record
from course.verbs import asking, state
from course.verbs.say import say

TIMES = {"ms", "ratio", "rounds", "self", "outside"}
"""Columns of rows that hold times, besides those that end in ``_ms``."""


def before_a_run(names: Sequence[str], again: Callable[[bool], object], call: Callable[[bool], str]) -> bool | None:
    """Whether these experiments are shown as recordings (True) or run (False); None: the learner is asked, since the machine is busy.

    again: runs them, True: as recordings. call: the same as it is typed. Where there is nothing to choose, one sentence says what
    a busy machine means.
    """
    if not (live := _disturbed(names)):
        return False
    recorded = any(map(_recorded, live))
    if recorded and state.now.on_busy is not None:
        if state.now.on_busy:
            say(
                t(
                    f"The machine is still busy: here is the recording. To measure: `{call(False)}`.",
                    f"机器还在忙，这里给你看录好的结果。想实测：`{call(False)}`。",
                )
            )
        return state.now.on_busy
    if not recorded or not asking.somebody_there():
        wide = t(
            " A result measured now may have a wide interval, or be too noisy to tell.",
            "现在测，区间可能很宽，也可能说不准。",
        )
        none = "" if recorded else t(" There is no recording to show instead.", "这个实验没有录好的结果，只能现在测。")
        say(f"{busy_words()}{wide}{none}")
        return False
    words = [
        busy_question(),
        t(f"Typed: `{call(True)}` or `{call(False)}`.", f"用键盘输入：`{call(True)}` 或 `{call(False)}`。"),
    ]

    def chosen(replay: bool) -> None:
        state.now.on_busy = replay
        again(replay)

    Choice(words, busy_ways(chosen)).show()
    return None


def _disturbed(names: Sequence[str]) -> list[str]:
    """The experiments that would run here, by the clock, on a machine that is busy now."""
    live = [name for name in names if can(base.get(name).needs) and _by_the_clock(name)]
    return live if live and not os.environ.get("COURSE_REPLAY") and load.busy() else []


def _by_the_clock(name: str) -> bool:
    """Whether an experiment answers by times: its recording holds some. Without a recording nothing is known, so it may."""
    experiment = base.get(name)
    record = base.recording(experiment)
    keys = {key for row in record.rows for key in row} if record else {"ms"}
    return not experiment.clockless and any(key in TIMES or key.endswith("_ms") for key in keys)


def after_nothing(record: Record, again: Callable[[bool], object]) -> None:
    """Where a run here could tell nothing: the recording, if there is one, and another run, as buttons."""
    if not record.live or text_mode() or not asking.somebody_there():
        return
    if headline_of(record, base.get(record.experiment)) not in OPEN:
        return
    ways = [(see(), lambda: again(True))] if _recorded(record.experiment) else []
    Choice((), [*ways, (t("🔬 Measure again", "🔬 再测一次"), lambda: again(False))]).show()


def _recorded(name: str) -> bool:
    return base.recording(base.get(name)) is not None


class Choice(ChoiceBox):
    """The question in a cell of its own."""

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
