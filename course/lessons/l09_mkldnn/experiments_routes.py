"""Experiments of lesson 09 about which operations go to oneDNN, and whether the bits differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l09_mkldnn.experiments import LESSON
from course.lessons.l09_mkldnn.probes import ROUTES, routes_of
from course.onednn_log import log_of

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
    if rows[2]["enabled"]:
        return Reading("as it was" if plain == switch == inside else "other code", drawn=drawn)
    return Reading("off inside" if plain == switch else "off inside, other code by the switch", drawn=drawn)


# --- 09-bits ------------------------------------------------------------------------------------------------


def _whole(*shape: int) -> torch.Tensor:
    """Whole numbers from -4 to 4, as float32: their products and small sums have no digits to round off."""
    return torch.randint(-4, 5, shape).float()


def _twins(whole: bool) -> dict[str, tuple[Callable[[], torch.Tensor], Callable[[], torch.Tensor]]]:
    """name -> (the operation in float32, the same in float64), on random or whole numbers."""
    make = _whole if whole else torch.randn
    image, kernel = make(4, 32, 20, 20), make(32, 32, 3, 3)
    rows, weight = make(64, 128), make(128, 128)
    found = {
        "Conv2d": (
            lambda: F.conv2d(image, kernel, padding=1),
            lambda: F.conv2d(image.double(), kernel.double(), padding=1),
        ),
        "Linear": (lambda: F.linear(rows, weight), lambda: F.linear(rows.double(), weight.double())),
    }
    if not whole:
        single = nn.LSTM(32, 64)
        double = nn.LSTM(32, 64).double()
        double.load_state_dict(single.state_dict())
        sequence = make(16, 4, 32)
        found["LSTM"] = (lambda: single(sequence)[0], lambda: double(sequence.double())[0])
        found["GELU"] = (lambda: F.gelu(image), lambda: F.gelu(image.double()))
    return found


@experiment(name="09-bits", lesson=LESSON, needs="mkldnn", seconds=2)
def bits(budget: Budget) -> list[dict]:
    """Share of results that differ between on and off, and each side's largest error against float64."""
    torch.set_num_threads(1)
    mkldnn, rows = torch.backends.mkldnn, []
    with torch.inference_mode():
        for numbers in ("random", "whole"):
            for operation, (single, double) in _twins(numbers == "whole").items():
                seen = {}
                for name, state in (("on", True), ("off", False), ("again", True)):
                    mkldnn.enabled = state
                    seen[name] = single()
                exact = double()
                rows.append(
                    {
                        "operation": operation,
                        "numbers": numbers,
                        "differ_share": float((seen["on"] != seen["off"]).float().mean()),
                        "repeat_differs": float((seen["on"] != seen["again"]).float().mean()),
                        "error_on": float((seen["on"].double() - exact).abs().max()),
                        "error_off": float((seen["off"].double() - exact).abs().max()),
                    }
                )
    return rows


def read_bits(rows: list[dict]) -> Reading:
    """Which part of a convolution's results differs, for random and for whole numbers."""
    order = list(dict.fromkeys(row["operation"] for row in rows))
    drawn = [
        {**row, "what": f"{row['operation']} {row['numbers']}", "told": "differ" if row["differ_share"] else "equal"}
        for row in sorted(rows, key=lambda row: order.index(row["operation"]))
    ]
    conv = {row["numbers"]: row["differ_share"] for row in rows if row["operation"] == "Conv2d"}
    share, whole = conv.get("random", 0.0), conv.get("whole", 0.0)
    numbers, open_ = {"share": share}, {"09-bet-bits": None}
    if len(conv) < 2:
        return Reading(None, numbers, drawn)
    if not share:
        return Reading("only whole numbers" if whole else "the same", numbers, drawn, open_)
    return Reading("c" if not whole else "a" if whole > 0.5 * share else "b", numbers, drawn)
