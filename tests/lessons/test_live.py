"""Every experiment that runs on a CPU, live: it settles its bets as its lesson says, is told and drawn, and leaves no trace.

What the rows of one of them have to be is tested with its lesson.
"""

from __future__ import annotations

import multiprocessing

import pytest

from course.core.machine import can
from course.experiment import base
from tests.conftest import missing
from tests.lessons.live import check_shown, measured

pytestmark = pytest.mark.slow

FORKS = "fork" in multiprocessing.get_all_start_methods()
EXACT: dict[str, tuple[float, dict]] = {
    "00-same-numbers": (60, {"00-bet-sums": "c"}),
    "01-typos": (60, {"01-bet-typos": "c"}),
    "01-who-sees": (60, {"01-bet-who-sees": "c" if FORKS else None}),
    "01-flags-trap": (60, {"01-bet-flags": "d"}),
    "01-frozen": (60, {"01-bet-frozen": "c"}),
    "01-not-a-switch": (60, {"01-bet-mps": "c"}),
    "03-length": (60, {"03-bet-length": "c"}),
    "03-lstm-zero": (60, {"03-bet-lstm": "a"}),
    "05-primitive-cache": (60, {"05-bet-revisit": "c"}),
    "07-mixing": (60, {"07-bet-mixing": "c"}),
    "07-neighbours": (60, {}),
    "07-noise": (60, {"07-bet-noise": "c"}),
    "07-solve": (60, {"07-bet-solve": "b"}),
    "07-tree": (60, {"07-bet-default": "b"}),
    "08-float32-loses": (60, {"08-bet-counter": "b"}),
}
"""Name -> seconds, and what comes out everywhere: nothing here depends on a clock."""
TIMED = {
    "02-five-stopwatches": 1, "04-bits": 1, "04-cpu-enabled": 1, "04-gates": 1, "04-onednn-ops": 1,
    "05-toy-cost": 1, "05-toy-race": 1, "06-company": 60, "06-one-ulp": 60, "06-two-lines": 60, "07-onednn": 60,
     "09-layouts": 2, "09-logs": 2, "09-on-off": 1, "09-one-step": 1, "09-routes": 2, "11-hidden": 1,
    "11-witness": 1, "12-cost": 1, "12-repairs": 1, "12-two-columns": 1, 
    "15-what-moves": 0.5, "16-packed": 60,
}  # fmt: skip
"""Name -> seconds: what comes out is this machine's."""
WHOLE = ("06-company", "06-one-ulp", "06-two-lines")
"""Of those the runs that no clock cuts short."""
LONG = {"16-einsum": 60, "16-two-threads": 60}


def here(name: str, seconds: float):
    """The record of a live run, where this machine has what the experiment needs."""
    if not can(base.get(name).needs):
        missing(base.get(name).needs, f"give this machine what {name} needs")
    record = measured(name, seconds)
    check_shown(record)
    return record


@pytest.mark.parametrize("name", EXACT)
def test_what_no_clock_decides_comes_out_as_the_lesson_says(name):
    seconds, bets = EXACT[name]
    record = here(name, seconds)
    assert record.complete and base.get(name).settles(record) == bets


@pytest.mark.parametrize("name", [*TIMED, *(pytest.param(one, marks=pytest.mark.long) for one in LONG)])
def test_what_is_measured_runs_and_is_told(name):
    record = here(name, (TIMED | LONG)[name])
    assert record.complete or name not in WHOLE
