"""Experiments of lesson 09 about which operations go to oneDNN, and whether the bits differ."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l09_mkldnn.experiments import LESSON
from course.lessons.l09_mkldnn.probes import ROUTES, routes_of
from course.trace.onednn_log import log_of

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


# --- 09-deterministic ---------------------------------------------------------------------------------------


@experiment(name="09-deterministic", lesson=LESSON, needs="mkldnn", seconds=2)
def deterministic(budget: Budget) -> list[dict]:
    """As it is; mkldnn.deterministic = True; and inside flags(deterministic=True): switch, lines, bits."""
    mkldnn, layer, image = torch.backends.mkldnn, nn.Conv2d(16, 16, 3, padding=1), torch.randn(4, 16, 24, 24)

    def row(asked: str) -> dict[str, Any]:
        results: list[torch.Tensor] = []
        log = log_of(lambda: results.append(layer(image)))
        same = float((results[0] == first).float().mean())
        return {
            "asked": asked,
            "enabled": int(mkldnn.enabled),
            "lines": len(log),
            "same_share": same,
            "implementation": next((one.implementation for one in log if one.primitive == "convolution"), ""),
        }

    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags() also touches a TF32 switch that only Intel GPUs have
        first = layer(image)
        rows = [row("nothing")]
        mkldnn.deterministic = True
        rows.append(row("the switch"))
        mkldnn.deterministic = False
        with mkldnn.flags(deterministic=True):
            rows.append(row("flags()"))
    return rows


def read_deterministic(rows: list[dict]) -> Reading | None:
    """Whether the log is the same as without asking, and whether oneDNN is still on."""
    if len(rows) < 3:
        return None
    plain, switch, inside = ((row["lines"], row["implementation"]) for row in rows)
    drawn = [{**row, "told": ["enabled"] * (not row["enabled"])} for row in rows]
    if plain == switch == inside:
        return Reading("as it was", drawn=drawn)
    return Reading("off inside" if plain == switch and not rows[2]["enabled"] else "other code", drawn=drawn)
