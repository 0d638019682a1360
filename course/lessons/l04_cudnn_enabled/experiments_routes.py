"""Experiments of lesson 04 on the way: whom PyTorch chooses, which switch it asks, and what moves a switch unasked."""

from __future__ import annotations

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l04_cudnn_enabled import probes
from course.lessons.l04_cudnn_enabled.experiments import CUDNN, LESSON, ONEDNN

# --- 04-dispatch --------------------------------------------------------------------------------------------

OFF = ("cudnn_off", "onednn_off")


@experiment(name="04-dispatch", lesson=LESSON, needs="cpu", seconds=2)
def dispatch(budget: Budget) -> list[dict]:
    """Ask the backend selection about seven convolutions: as things are, without cuDNN, without oneDNN."""
    rows = []
    for case in probes.CONVOLUTIONS:
        row: dict = {"case": case}
        for column, switch in (("as_it_is", None), ("cudnn_off", CUDNN), ("onednn_off", ONEDNN)):
            with flags.using({switch: False} if switch else {}):
                row[column] = probes.chosen_backend(case)
        rows.append(row)
    return rows


def read_dispatch(rows: list[dict]) -> Reading:
    drawn = [{**row, "told": [key for key in OFF if row[key] != row["as_it_is"]]} for row in rows]
    for row in drawn:
        row["quiet"] = [key for key in ("as_it_is", *OFF) if key not in row["told"]]
    cudnn, onednn = (any(key in row["told"] for row in drawn) for key in OFF)
    answers = {(True, True): "c", (True, False): "a", (False, True): "b", (False, False): "d"}
    return Reading(answers[cudnn, onednn], drawn=drawn)


# --- 04-gates -----------------------------------------------------------------------------------------------

GATES = {"layers": CUDNN, "attention": "cuda.enable_cudnn_sdp", "products": "", "rest": ""}
"""Operations -> the switch that they ask before cuDNN."""


@experiment(name="04-gates", lesson=LESSON, needs="cpu", seconds=1)
def gates(budget: Budget) -> list[dict]:
    """The switches that stand before cuDNN, as they are now; 1 is open, -1 means that there is none."""
    now = flags.read()
    return [
        {"group": group, "switch": switch, "open": int(now[switch] is True) if switch else -1}
        for group, switch in GATES.items()
    ]


def read_gates(rows: list[dict]) -> Reading:
    """The table is from PyTorch's source; of a switch the side that holds as it stands now is marked."""
    sides = {1: ["on"], 0: ["off"], -1: ["on", "off"]}
    drawn = [
        {"group": row["group"], "switch": row["switch"] or "none", "on": row["group"], "off": row["group"]}
        | {"told": sides[row["open"]]}
        for row in rows
    ]
    return Reading("told" if any(row["group"] == "layers" for row in rows) else None, drawn=drawn)
