"""Experiment of lesson 08: how device selectors do on machines other than this one, simulated."""

from __future__ import annotations

import torch

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l08_mps.experiments import LESSON
from course.lessons.l08_mps.machines import MACHINES, pretend

# --- 08-selectors -------------------------------------------------------------------------------------------


CRASHES: dict[str, set[str]] = {
    "a": set(),
    "b": {"is_built()"},
    "c": {"is_built()", "current_accelerator()"},
    "d": {"is_built()", "current_accelerator()", "check_available=True"},
}
"""option -> the selectors that pick what does not work on a machine without a GPU."""


def cuda_or_cpu() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def built_is_enough() -> str:
    return "mps" if torch.backends.mps.is_built() else "cuda" if torch.backends.cuda.is_built() else "cpu"


def accelerator_or_cpu() -> str:
    return (torch.accelerator.current_accelerator() or torch.device("cpu")).type


def checked_accelerator() -> str:
    return (torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")).type


SELECTORS = {
    "cuda or cpu": cuda_or_cpu,
    "is_built()": built_is_enough,
    "current_accelerator()": accelerator_or_cpu,
    "check_available=True": checked_accelerator,
}


@experiment(name="08-selectors", lesson=LESSON, needs="cpu", seconds=2)
def selectors(budget: Budget) -> list[dict]:
    """What each selector picks where, and whether that device works and is the best one there."""
    rows = []
    for name in MACHINES:
        with pretend(name) as machine:
            for selector, choose in SELECTORS.items():
                picked = choose()
                usable = picked == "cpu" or (machine.usable and picked == machine.built)
                outcome = "crash" if not usable else "best" if picked == machine.best else "idle"
                rows.append({"machine": name, "selector": selector, "picked": picked, "outcome": outcome})
    return rows


def read_selectors(rows: list[dict]) -> Reading:
    """The bet is about the machine without a GPU: who picks there what does not work."""
    every = {row["selector"] for row in rows}
    right = every - {row["selector"] for row in rows if row["outcome"] != "best"}
    outcome = (
        "all right" if right == every else ("none right", "one right")[len(right)] if len(right) < 2 else "some right"
    )
    drawn = [
        {"machine": machine, "called": MACHINES[machine].name}
        | {row["selector"]: f"{row['picked']} {row['outcome']}" for row in here}
        | {"told": [row["selector"] for row in here if row["outcome"] != "best"]}
        for machine, here in groups(rows, "machine").items()
    ]
    crashes = {row["selector"] for row in rows if row["machine"] == "no driver" and row["outcome"] == "crash"}
    settled = next((option for option, named in CRASHES.items() if named == crashes), None)
    return Reading(outcome, {"right": len(right), "all": len(every)}, drawn, {"08-bet-selector": settled})
