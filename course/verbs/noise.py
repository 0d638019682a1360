"""Where other programs disturb what a clock is to tell: one line with how busy the machine is, and the call that shows the recording."""

from __future__ import annotations

import os
from collections.abc import Sequence

from course.core import load
from course.core.i18n import t
from course.core.machine import can
from course.experiment.base import Experiment, recording

TIMES = {"ms", "ratio", "rounds", "self", "outside"}
"""Columns of rows that hold times, besides those that end in ``_ms``."""


def before_a_run(experiments: Sequence[Experiment]) -> str:
    """What to say before these experiments run: empty unless one goes by the clock on a machine that is busy now."""
    live = [one for one in experiments if can(one.needs) and _by_the_clock(one)]
    if not live or os.environ.get("COURSE_REPLAY") or (others := load.others()) < load.BUSY:
        return ""
    told = t(
        f"⏳ Other programs use {others:.0%} of this machine: what is measured now may have a wide interval, or be too noisy to tell.",
        f"⏳ 别的程序占着这台机器的 {others:.0%}：现在测，区间可能很宽，甚至说不准。",
    )
    return f"{told} {recording_words(experiments)}" if any(map(recording, live)) else told


def recording_words(experiments: Sequence[Experiment]) -> str:
    """The call that shows the recordings."""
    names = ", ".join(f'"{one.name}"' for one in experiments)
    call = f"observe({names if len(experiments) == 1 else f'[{names}]'}, replay=True)"
    return t(f"The recording: `{call}`.", f"看录好的结果：`{call}`。")


def _by_the_clock(experiment: Experiment) -> bool:
    """Whether an experiment answers by times: its recording holds some. Without a recording nothing is known, so it may."""
    record = recording(experiment)
    keys = {key for row in record.rows for key in row} if record else {"ms"}
    return not experiment.clockless and any(key in TIMES or key.endswith("_ms") for key in keys)
