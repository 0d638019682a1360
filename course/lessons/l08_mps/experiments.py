"""Experiments of lesson 08 that any machine runs: what torch.backends.mps answers, and what it cannot switch.

Exact errors are data. A Mac is needed by ``experiments_mps*.py`` alone.
"""

from __future__ import annotations

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.tables import clip

LESSON = "08_mps"
PROBES = "course.lessons.l08_mps.probes"


# --- 08-who-answers -----------------------------------------------------------------------------------------


ASKED = "backends.mps.is_macos_or_newer(14, 0)"
"""The call the bet is about."""


def answers(rows: list[dict]) -> list[dict]:
    """Each call with its answer, or the kind of its error, which stands out."""
    return [
        {"code": row["code"], "answer": clip(row["said"]) if row["kind"] == "value" else row["kind"]}
        | {"told": ["answer"] * (row["kind"] != "value")}
        for row in rows
    ]


@experiment(name="08-who-answers", lesson=LESSON, needs="cpu", seconds=6)
def who_answers(budget: Budget) -> list[dict]:
    """Every public query and a few calls, each with its answer or the exact error; in a new process."""
    return rows_of(PROBES, "who_answers")


def read_who_answers(rows: list[dict]) -> Reading:
    raised = [row["group"] for row in rows if row["kind"] != "value"]
    outcome = "a question raises" if "query" in raised else "only use raises" if raised else "all answered"
    said = {row["code"]: row["said"] if row["kind"] == "value" else row["kind"] for row in rows}
    settled = {"False": "a", "RuntimeError": "b", "True": "c"}.get(said.get(ASKED, ""))
    return Reading(outcome, drawn=answers(rows), bets={"08-bet-ask": settled})


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
