"""Lesson 15: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations

from course.lessons.l15_review.experiments import CHANGES, CONTROL, LINES


def flips(count, same=12):
    """So many switches that changed a bit, and some that did not, were refused or are absent."""

    def row(switch, state, parts=""):
        return {"switch": switch, "from": "True", "to": "False", "parts": parts, "state": state}

    return [
        row(CONTROL, "control"),
        *(row(f"made.up_{number}", "changed", "conv linear") for number in range(count)),
        *(row(f"made.same_{number}", "same") for number in range(same)),
        row("made.refused", "refused"),
        row("made.absent", "absent"),
    ]


def lines(*moved):
    """The three lines: those named became slower, the others stayed the same."""

    def row(name):
        ratio = 1.6 if name in moved else 1.0
        return {
            "line": name,
            "ratio": ratio,
            "low": ratio - 0.01,
            "high": ratio + 0.01,
            "default_ms": 1.0,
            "line_ms": ratio,
            "rounds": 48,
        }

    return [row(name) for name in LINES]


def moves(best, ratio=0.5):
    """The five changes: one saves most, the others nothing."""

    def row(name):
        middle = ratio if name == best else 1.0
        return {
            "change": name,
            "ratio": middle,
            "low": middle - 0.02,
            "high": middle + 0.02,
            "before_ms": 1.0,
            "after_ms": middle,
            "rounds": 48,
        }

    return [row(name) for name in CHANGES]


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
    "15-bet-lines": [
        (rows, None)
        for rows in ([{**row, "low": 0.9, "high": 1.1} for row in lines()], lines()[:2], lines("linear_off"))
    ],
    # what saves most has to stand clear of 1 and of the others
    "15-bet-moves": [
        (rows, None)
        for rows in (
            moves("batch", 1.0),
            [{**row, "low": 0.4, "high": 1.1} for row in moves("batch")],
            moves("batch")[:3],
        )
    ],
}


def few(rows):
    """The same with too few rounds for an interval."""
    return [{**row, "low": None, "high": None, "rounds": 4} for row in rows]


BRANCHES = {
    "15-flip-all": [flips(1), flips(2)[:1]],
    "15-three-lines": [],
    "15-what-moves": [[{**row, "ratio": 0.5, "low": 0.4, "high": 0.6} for row in moves("batch")]],
}
"""Further outcomes that have words of their own: experiment -> rows of each."""
