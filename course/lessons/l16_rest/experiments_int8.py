"""Experiments of lesson 16 about int8: four engines, who decides which of them computes, and sums that saturate."""

from __future__ import annotations

from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.lessons.l16_rest.experiments import LESSON, MEASURING

PROBES = "course.lessons.l16_rest.probes_int8"


# --- 16-packed ----------------------------------------------------------------------------------------------


@experiment(name="16-packed", lesson=LESSON, needs="cpu", seconds=4, whole=True)
def packed(budget: Budget) -> list[dict]:
    """In a new process: an int8 weight packed under either of two engines and run under either; whose bits come out."""
    return [row for part in budget.loop(["packed_and_run"], desc=MEASURING) for row in rows_of(PROBES, part)]


def read_packed(rows: list[dict]) -> Reading:
    """Whose bits come out where the engine changed between packing and running; the bet is on a weight packed by qnnpack."""
    drawn, likes, asked = [], set(), set()
    for at, row in enumerate(rows):
        crossed, like = row["packed"] != row["engine"], row["like"]
        whose = {"maker": row["packed"], "runner": row["engine"]}.get(like, like) if crossed else row["packed"]
        place = "asked" if crossed and row["packed"] == "qnnpack" else at
        told = ["whose"] * crossed
        drawn.append({"place": place, "packed": row["packed"], "engine": row["engine"], "whose": whose, "told": told})
        likes |= {like} if crossed else set()
        asked |= {like} if place == "asked" else set()
    option = {"runner": "a", "maker": "b", "error": "c"}.get(asked.pop()) if len(asked) == 1 else None
    outcome = likes.pop() if len(likes) == 1 and "neither" not in likes else "no rule" if likes else "one engine"
    return Reading(outcome, drawn=drawn, bets={"16-bet-packed": option})


"""What is held to older instructions, and the variable that does it."""
