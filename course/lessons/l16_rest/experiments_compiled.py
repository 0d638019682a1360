"""Experiments of lesson 16 about who still listens: a frozen model, and attention on a CPU."""

from __future__ import annotations

from collections.abc import Iterator

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.i18n import both
from course.lessons.l16_rest.experiments import LESSON, MEASURING, PROBES

FREEZING = "course.lessons.l16_rest.probes_freezing"

# --- 16-frozen ----------------------------------------------------------------------------------------------

LOAD = "load_state_dict(other)"


@experiment(name="16-frozen", lesson=LESSON, needs="compiler", seconds=60)
def frozen(budget: Budget) -> Iterator[dict]:
    """A small model compiled without and with freezing, in new processes: which of seven later changes arrive."""
    kinds = budget.loop((False, True), desc=both("compiling", "编译"), least=2)
    for kind in kinds:
        yield from rows_of(FREEZING, "changes", kind, timeout_s=300)


def read_frozen(rows: list[dict]) -> Reading:
    """Which changes arrive in the model compiled without freezing, and with it; the bet is on new weights that are loaded."""
    answers = {(row["change"], row["frozen"]): row["answers"] for row in rows}
    drawn = []
    for change in dict.fromkeys(row["change"] for row in rows):
        free, frozen = (answers.get((change, kind), "–") for kind in (0, 1))
        told = ["frozen"] * (frozen in ("old", "neither"))
        drawn.append({"change": change, "free": free, "frozen": frozen, "told": told})
    return Reading({"new": "a", "old": "b", "neither": "c"}.get(answers.get((LOAD, 1), "")), drawn=drawn)


# --- 16-cpu-order -------------------------------------------------------------------------------------------


@experiment(name="16-cpu-order", lesson=LESSON, needs="cpu", seconds=5, clockless=True)
def cpu_order(budget: Budget) -> list[dict]:
    """Which kernel computes attention here under five settings, whose bits come out, and what flash off costs."""
    probes = budget.loop(["attention"], desc=MEASURING)
    return [row for part in probes for row in rows_of(PROBES, part, budget.seconds / 2)]


def read_cpu_order(rows: list[dict]) -> Reading:
    """Whether the order and the switch named cuda are obeyed; the bet is on what runs with math asked for first."""
    found = {row["setting"]: row for row in rows}
    drawn = [
        {
            "setting": row["setting"],
            "first": row["first"] or "–",
            "ran": "error" if row["error"] else row["kernel"],
            "same_bits": row["same_bits"],
            "told": ["ran"] * (row["setting"] in ("math first", "flash off")),
        }
        for row in rows
    ]
    ran = {row["setting"]: row["ran"] for row in drawn}
    bets = {"16-bet-order": {"math": "a", "flash": "b", "error": "c"}.get(ran.get("math first", ""))}
    if not {"as it comes", "math first", "flash off"} <= set(found):
        return Reading(drawn=drawn, bets=bets)
    ignored, obeyed = ran["math first"] != "math", ran["flash off"] == "math"
    if ran["as it comes"] == "math":
        outcome = "nothing to compare"
    elif ran["math first"] == "error":
        outcome = "error"
    elif ignored:
        outcome = "obeyed the switch" if obeyed else "ignored both"
    else:
        outcome = "obeyed both" if obeyed else "obeyed the order"
    return Reading(outcome, drawn=drawn, bets=bets)
