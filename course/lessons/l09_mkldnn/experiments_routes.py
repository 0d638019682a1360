"""Experiments of lesson 09 about which operations go to oneDNN, and whether the bits differ."""

from __future__ import annotations

import torch

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l09_mkldnn.experiments import LESSON
from course.lessons.l09_mkldnn.probes import ROUTES, routes_of

# --- 09-routes ----------------------------------------------------------------------------------------------


@experiment(name="09-routes", lesson=LESSON, needs="mkldnn", seconds=2, whole=True)
def routes(budget: Budget) -> list[dict]:
    """What backend selection chooses, with oneDNN on and off, and oneDNN's own lines as a witness."""
    with torch.inference_mode():
        return [routes_of(case) for case in budget.loop(ROUTES)]


def read_routes(rows: list[dict]) -> Reading:
    """How many convolutions oneDNN computes; the bet is about one small image."""
    taken = sum(row["convolution_lines"] > 0 for row in rows)
    drawn = [
        {**row, "on": row["on"] or ("oneDNN" if row["convolution_lines"] else "not oneDNN")}
        | {"told": ["on"] * (not row["convolution_lines"])}
        for row in rows
    ]
    small = next((row for row in rows if row["case"] == "one small image"), None)
    settled = small and ("a" if small["convolution_lines"] else "c" if small["on"] == "NnpackSpatial" else "b")
    outcome = "none" if not taken else "all" if taken == len(rows) else "some"
    return Reading(outcome, {"taken": taken, "all": len(rows)}, drawn, {"09-bet-small": settled})
