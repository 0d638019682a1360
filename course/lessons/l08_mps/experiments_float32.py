"""Experiment of lesson 08: what is lost without float64, simulated on the CPU."""

from __future__ import annotations

import math

import torch

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l08_mps.cases import CASES
from course.lessons.l08_mps.experiments import LESSON

# --- 08-float32-loses ---------------------------------------------------------------------------------------


@experiment(name="08-float32-loses", lesson=LESSON, needs="cpu", seconds=2)
def float32_loses(budget: Budget) -> list[dict]:
    """Four everyday computations in float64, in float32, and in a form that does without float64."""
    return [
        {
            "case": name,
            "float64": str(compute(torch.float64)),
            "float32": str(compute(torch.float32)),
            "cured": str(cured()),
        }
        for name, (compute, cured) in CASES.items()
    ]


def read_float32_loses(rows: list[dict]) -> Reading:
    """A result is lost where it is off by more than 1 %; the bet is about the counter alone."""
    lost = [row for row in rows if _lost(row, "float32")]
    still = [row for row in lost if _lost(row, "cured")]
    drawn = [
        {"case": row["case"], **{column: _number(row[column]) for column in COLUMNS}}
        | {"told": [column for column in COLUMNS if _lost(row, column)]}
        for row in rows
    ]
    steps = next((float(row["float32"]) for row in rows if row["case"] == "count"), None)
    settled = None if steps is None else "a" if steps == 10 else "b" if steps == 0 else "c"
    cured = "all cured" if len(lost) == len(rows) else "cured"
    outcome = "same" if not lost else "not all cured" if still else cured
    return Reading(outcome, {"lost": len(lost), "all": len(rows)}, drawn, {"08-bet-counter": settled})


COLUMNS = ("float64", "float32", "cured")


def _number(text: str) -> str:
    value = float(text)
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0 else "∞" if value > 0 else "nan"


def _lost(row: dict, column: str) -> bool:
    exact, found = float(row["float64"]), float(row[column])
    return not abs(found - exact) <= 0.01 * abs(exact)
