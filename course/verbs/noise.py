"""Where other programs disturb what a clock is to tell: one line with how busy the machine is, and the call that shows the recording."""

from __future__ import annotations

import os
from collections.abc import Sequence

from course.core import load
from course.core.i18n import t
from course.core.machine import can
from course.core.records import Record
from course.experiment import base
from course.experiment.reading import OPEN
from course.experiment.result import headline_of

TIMES = {"ms", "ratio", "rounds", "self", "outside"}
"""Columns of rows that hold times, besides those that end in ``_ms``."""


def before_a_run(names: Sequence[str], call: str) -> str:
    """What to say before these experiments run: empty unless one goes by the clock on a machine that is busy now. call: shows the
    recordings instead, as it is typed.
    """
    live = [name for name in names if can(base.get(name).needs) and _by_the_clock(name)]
    if not live or os.environ.get("COURSE_REPLAY") or (others := load.others()) < load.BUSY:
        return ""
    told = busy_words(others)
    return f"{told} {_recording(call)}" if any(map(_recorded, live)) else told


def busy_words(others: float) -> str:
    """How busy the machine is, and what that means. others: the part (0 to 1) of it that other programs use."""
    return t(
        f"⏳ Other programs use {others:.0%} of this machine: what is measured now may have a wide interval, or be too noisy to tell.",
        f"⏳ 别的程序占着这台机器的 {others:.0%}：现在测，区间可能很宽，甚至说不准。",
    )


def after_nothing(record: Record, call: str) -> str:
    """What to say where a run here could tell nothing and a recording can; otherwise empty."""
    experiment = base.get(record.experiment)
    told = not record.live or headline_of(record, experiment) not in OPEN
    return "" if told or not _recorded(record.experiment) else _recording(call)


def _recording(call: str) -> str:
    return t(f"The recording: `{call}`.", f"看录好的结果：`{call}`。")


def _by_the_clock(name: str) -> bool:
    """Whether an experiment answers by times: its recording holds some. Without a recording nothing is known, so it may."""
    experiment = base.get(name)
    record = base.recording(experiment)
    keys = {key for row in record.rows for key in row} if record else {"ms"}
    return not experiment.clockless and any(key in TIMES or key.endswith("_ms") for key in keys)


def _recorded(name: str) -> bool:
    return base.recording(base.get(name)) is not None
