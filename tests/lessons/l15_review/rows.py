"""Lesson 15: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations

from course.lessons.l15_review.experiments import CHANGES, CONTROL, LINES
from tests.lessons.live import as_rows


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
