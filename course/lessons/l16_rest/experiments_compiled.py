"""Experiments of lesson 16 about who still listens: a frozen model, and attention on a CPU."""

from __future__ import annotations

from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.lessons.l16_rest.experiments import LESSON

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
