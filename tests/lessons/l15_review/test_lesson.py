"""Lesson 15: what is asked of the map stands in the table of switches, and the flipping measures and leaves nothing behind."""

from __future__ import annotations

import torch

from course import flags
from course.core.i18n import LANGUAGES, set_language
from course.experiment import base
from course.flags import SWITCHES
from course.lessons.l15_review import experiments
from course.lessons.l15_review.exercises import ASKED, homes
from course.lessons.l15_review.experiments import CHANGES, CONTROL, LINES
from tests.lessons.live import as_rows


def test_every_name_asked_stands_where_the_solution_says():
    assert {name: home in homes(name) for name, home in ASKED.items()} == dict.fromkeys(ASKED, True)


def test_flipping_tries_each_switch_alone_and_puts_everything_back():
    names = (
        "cudnn.benchmark",
        "cudnn.benchmark_limit",
        "mkldnn.enabled",
        "mkldnn.matmul.fp32_precision",
        "cuda.matmul.allow_tf32",
    )
    before = flags.read()
    found = base.run_experiment(base.get("15-flip-all"), 60, names=names)
    assert flags.read() == before
    rows = {row["switch"]: row for row in found.rows}
    assert set(rows) == {experiments.CONTROL, *names}
    assert rows["cudnn.benchmark"]["state"] == "same"  # a CPU never reads it
    if torch.backends.mkldnn.is_available():
        parts = set(rows["mkldnn.enabled"]["parts"].split())
        assert {"conv", "lstm"} <= parts and "linear" not in parts


def test_without_time_for_all_the_likely_ones_are_tried_and_the_rest_is_counted():
    found = base.run_experiment(base.get("15-flip-all"), 0)
    rows = found.rows[1:]
    assert rows[0]["switch"] == "mkldnn.enabled" and rows[0]["state"] != "untried"
    assert {row["state"] for row in rows[1:]} == {"untried"} and not found.complete
    assert {row["switch"] for row in rows} == {one.name for one in SWITCHES.values() if one.changeable}
    for language in LANGUAGES:
        set_language(language)
        picture = base.get("15-flip-all").draw(found, {})
        assert str(len(rows) - 1) in picture.lines[-1][1]
    order = [row["switch"] for row in rows]
    assert order.index("nnpack.set_flags") < order.index("cuda.enable_flash_sdp") < order.index("cudnn.benchmark")


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def flips(count):
    """So many switches that changed a bit, and some that did not, were refused or are absent."""
    states = [
        (CONTROL, "control", ""),
        *((f"made.up_{number}", "changed", "conv linear") for number in range(count)),
        *((f"made.same_{number}", "same", "") for number in range(12)),
        ("made.refused", "refused", ""),
        ("made.absent", "absent", ""),
    ]
    return as_rows("switch from to state parts", *((name, "True", "False", *state) for name, *state in states))


def lines(*moved):
    """The three lines: those named became slower, the others stayed the same."""
    columns, ratios = (
        "line ratio low high default_ms line_ms rounds",
        {name: 1.6 if name in moved else 1.0 for name in LINES},
    )
    return as_rows(columns, *((name, one, one - 0.01, one + 0.01, 1.0, one, 48) for name, one in ratios.items()))


def moves(best, ratio=0.5):
    """The five changes: one saves most, the others nothing."""
    columns, ratios = "change ratio low high before_ms after_ms rounds", dict.fromkeys(CHANGES, 1.0) | {best: ratio}
    return as_rows(columns, *((name, one, one - 0.02, one + 0.02, 1.0, one, 48) for name, one in ratios.items()))


ROWS = {
    "15-bet-flips": {"a": flips(0), "b": flips(6), "c": flips(15), "d": flips(30)},
    "15-bet-lines": {
        "a": lines(),
        "b": lines("conv_off"),
        "c": lines("conv_off", "linear_off"),
        "d": lines("conv_off", "linear_off", "conv_search"),
    },
    "15-bet-moves": {letter: moves(name) for name, letter in CHANGES.items()},
}
FURTHER = {
    "15-bet-flips": [(flips(1), "b"), (flips(2)[:1], None)],
    "15-bet-lines": [
        ([{**row, "low": 0.9, "high": 1.1} for row in lines()], None),
        (lines()[:2], None),
        (lines("linear_off"), None),
    ],
    "15-bet-moves": [  # what saves most has to stand clear of 1 and of the others
        (moves("batch", 1.0), None),
        ([{**row, "low": 0.4, "high": 1.1} for row in moves("batch")], None),
        ([{**row, "ratio": 0.5, "low": 0.4, "high": 0.6} for row in moves("batch")], None),
        (moves("batch")[:3], None),
    ],
}
