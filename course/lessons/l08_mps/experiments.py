"""Experiments of lesson 08 that any machine runs: what torch.backends.mps answers, and what it cannot switch.

Exact errors are data. A Mac is needed by ``experiments_mps*.py`` alone.
"""

from __future__ import annotations

from course.core.tables import clip
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading

LESSON = "08_mps"
PROBES = "course.lessons.l08_mps.probes"


def answers(rows: list[dict]) -> list[dict]:
    """Each call with its answer, or the kind of its error, which stands out."""
    return [
        {"code": row["code"], "answer": clip(row["said"]) if row["kind"] == "value" else row["kind"]}
        | {"told": ["answer"] * (row["kind"] != "value")}
        for row in rows
    ]


# --- 08-assignments -----------------------------------------------------------------------------------------


@experiment(name="08-assignments", lesson=LESSON, needs="cpu", seconds=6)
def assignments(budget: Budget) -> list[dict]:
    """Six inventions and one overwritten query, with two controls, in a process that may be broken."""
    return rows_of(PROBES, "assignments")


def read_assignments(rows: list[dict]) -> Reading:
    """The headline speaks of the assignments to torch.backends.mps, the others are controls."""
    drawn = [
        {**row, "line": "the lie" if _lies(row) else row["code"], "effect": (effect := _effect(row))}
        | {"told": ["effect"] * (effect in ("refused", "tensors", "known"))}
        for row in rows
    ]
    ours = [row for row in rows if row["code"].startswith("mps.")]
    if any(row["tensor"] != row["tensor_before"] for row in ours):
        outcome = "tensors changed"
    else:
        outcome = "all accepted" if all(row["accepted"] == "yes" for row in ours) else "some refused"
    lie = next((row["effect"] for row in drawn if row["line"] == "the lie"), None)
    settled = lie and {"refused": "c", "tensors": "a", "answer": "b"}.get(lie, "d")
    numbers = {"refused": sum(row["accepted"] != "yes" for row in ours), "all": len(ours)}
    return Reading(outcome if ours else None, numbers, drawn, {"08-bet-liar": settled})


def _lies(row: dict) -> bool:
    """Whether it is the assignment that the bet is about."""
    return row["code"].startswith("mps.is_available =")


def _effect(row: dict) -> str:
    """What came of an assignment: the first of these that holds."""
    if row["accepted"] != "yes":
        return "refused"
    if row["tensor"] != row["tensor_before"]:
        return "tensors"
    if row["query"] != row["query_before"]:
        return "answer"
    return "known" if row["known_before"] == "yes" else "nothing"
