"""Experiments of lesson 07 about the tree of precision switches: who inherits, what mixing does, what changes nothing."""

from __future__ import annotations

from course.core.tables import SAME
from course.experiment.base import Budget, experiment
from course.experiment.new_process import rows_of
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.lessons.l07_precision.experiments import LESSON

PROBES = "course.lessons.l07_precision.probes"


# --- 07-tree ------------------------------------------------------------------------------------------------


@experiment(name="07-tree", lesson=LESSON, version=1, needs="cpu", seconds=15)
def tree(budget: Budget) -> list[dict]:
    """Every node before and after one node was set, in a new process."""
    return rows_of(PROBES, "tree")


def read_tree(rows: list[dict]) -> Reading | None:
    """What each node reads after one was set. The bet speaks of the first line, in which nothing was set."""
    lines = {label: {row["node"]: row["after"] for row in mine} for label, mine in groups(rows, "set").items()}
    if not (start := lines.pop("nothing", None)):
        return None
    drawn = [{"set": "nothing", **start, "told": [node for node, value in start.items() if value != "none"]}]
    for label, after in lines.items():
        changed = [node for node, value in after.items() if value != start[node]]
        drawn.append(
            {"set": label, **dict.fromkeys(after, SAME), **{node: after[node] for node in changed}, "told": changed}
        )
    conv, rnn, matmul = (start.get(leaf) == "tf32" for leaf in ("cudnn.conv", "cudnn.rnn", "cuda.matmul"))
    if conv != rnn:
        allowed = [name for name, on in (("cuDNN conv", conv), ("cuDNN RNN", rnn), ("matmul", matmul)) if on]
        return Reading("some of them", {"allowed": allowed}, drawn, {"07-bet-default": None})
    return Reading({(0, 0): "a", (1, 0): "b", (0, 1): "c", (1, 1): "d"}[conv, matmul], drawn=drawn)


# --- 07-mixing ----------------------------------------------------------------------------------------------


@experiment(name="07-mixing", lesson=LESSON, version=1, needs="cpu", seconds=15)
def mixing(budget: Budget) -> list[dict]:
    """Values or errors of the three older readings after seven ways to write, in a new process."""
    return rows_of(PROBES, "mixing")


def read_mixing(rows: list[dict]) -> Reading:
    """What each reading gives after each writing. The bet speaks of the old flag after TF32 was set at the root."""
    drawn = []
    for wrote, mine in groups(rows, "wrote").items():
        outcomes = {row["read"]: row["outcome"] for row in mine}
        told = [read for read, outcome in outcomes.items() if outcome == "raises"]
        drawn.append({"wrote": wrote, **outcomes, "told": told})
    asked = next((line for line in drawn if line["wrote"] == "fp32_precision = tf32"), {}).get("cuda.matmul.allow_tf32")
    option = {"True": "a", "False": "b", "raises": "c"}.get(asked)
    return Reading(asked and (option or "something else"), drawn=drawn, bets={"07-bet-mixing": option})
