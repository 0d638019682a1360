"""Experiments of lesson 16 about einsum: what the search for an order is worth, what it costs, and who obeys the switch."""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import kind_of

LESSON = "16_rest"
PROBES = "course.lessons.l16_rest.probes"
MEASURING = both("measuring in a new process", "在新进程里测量")


# --- 16-einsum ----------------------------------------------------------------------------------------------


@experiment(name="16-einsum", lesson=LESSON, needs="opt_einsum", seconds=6, whole=True)
def einsum(budget: Budget) -> Iterator[dict]:
    """Five einsums raced with opt_einsum.enabled on against off, in a new process, one thread."""
    for part in budget.loop(["einsums"], desc=MEASURING):
        yield from rows_of(PROBES, part, budget.seconds)


def read_einsum(rows: list[dict]) -> Reading:
    """The case that gains most, and whether any other loses; the bet is on the tiny one."""
    kinds = {row["case"]: kind_of(row) for row in rows}
    drawn = [{**row, "bits": "" if row["same_bits"] else "other bits"} for row in rows]
    bets = {"16-bet-tiny": {"faster": "a", "same": "b", "slower": "c"}.get(kinds.get("tiny", ""))}
    best = min(rows, key=lambda row: row["ratio"])
    numbers = {"gain": 1 / best["ratio"]}
    if not {"vector last", "tiny"} <= set(kinds) or "undecided" in (kind_of(best), kinds["tiny"]):
        return Reading(None, numbers, drawn, bets)
    if kind_of(best) != "faster":
        return Reading("nothing faster", numbers, drawn, bets)
    return Reading("faster" + ", the tiny one slower" * (kinds["tiny"] == "slower"), numbers, drawn, bets)
