"""Experiments of lesson 06 about the mode that forbids, about seeds, and about differences that grow."""

from __future__ import annotations

import math
from collections.abc import Iterator

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.new_process import call_in_new_process
from course.experiment.reading import Reading
from course.experiment.rows import groups
from course.flags import using
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from course.lessons.l06_cudnn_deterministic.experiments import FRESH, LESSON, PROBES
from course.lessons.l06_cudnn_deterministic.probes import SETTINGS
from course.timing.stats import median

# --- 06-who-seeds -------------------------------------------------------------------------------------------


@experiment(name="06-who-seeds", lesson=LESSON, version=1, needs="cpu", seconds=20)
def who_seeds(budget: Budget) -> list[dict]:
    """Numbers from Python, numpy and torch, in the main process and in two loader workers, in two processes."""
    both_runs = [call_in_new_process(PROBES, "draws", list(SETTINGS))[0] for _ in budget.loop(range(2), desc=FRESH)]
    if len(both_runs) < 2:
        return []
    return [
        {
            "setting": one["setting"],
            "source": one["source"],
            "here": int(one["here"] == two["here"]),
            "workers": int(one["workers"] == two["workers"]),
        }
        for one, two in zip(*both_runs, strict=True)
    ]


def read_who_seeds(rows: list[dict]) -> Reading:
    """Which numbers the two processes share; what was bet is numpy's row under torch.manual_seed alone."""
    drawn = []
    for setting, mine in groups(rows, "setting").items():
        same = {f"{row['source']} {place}": row[place] for row in mine for place in ("here", "workers")}
        words = {column: "same" if equal else "differ" for column, equal in same.items()}
        drawn.append({"setting": setting, **words, "told": [column for column, equal in same.items() if equal]})
    numpy = [row for row in rows if row["setting"] == "torch seed" and row["source"] == "numpy"]
    answers = {(0, 0): "a", (0, 1): "b", (1, 0): "c", (1, 1): "d"}
    return Reading(answers[numpy[0]["here"], numpy[0]["workers"]] if numpy else None, drawn=drawn)


# --- 06-one-ulp ---------------------------------------------------------------------------------------------


@experiment(name="06-one-ulp", lesson=LESSON, version=1, needs="cpu", seconds=6)
def one_ulp(budget: Budget) -> Iterator[dict]:
    """Losses of a tiny GAN and of a line fit, with and without a nudge of one ulp; the GAN's control too."""
    steps = 120
    stories = {
        "gan": (toy_repro.duel_losses, True),
        "line": (toy_repro.fit_losses, True),
        "control": (toy_repro.duel_losses, False),
    }
    with using({"torch.num_threads": 1}):
        for story, (losses, nudged) in budget.loop(stories.items(), desc=both("trainings", "训练")):
            plain, moved = losses(False, steps), losses(nudged, steps)
            yield from [
                {"story": story, "step": step, "loss": one, "difference": abs(one - other)}
                for step, (one, other) in enumerate(zip(plain, moved, strict=True), start=1)
            ]


TEN = 10
"""Steps of which the median is drawn and told."""


def read_one_ulp(rows: list[dict]) -> Reading | None:
    """How many leading digits the losses of the two GANs share in the last ten steps; nothing when the control moved."""
    stories = groups(rows, "story")
    if not {"gan", "control"} <= set(stories):
        return None
    far, moved = (max(row["difference"] for row in stories[story]) for story in ("gan", "control"))
    digits = {
        story: [shared_digits(row["loss"], row["difference"]) for row in found] for story, found in stories.items()
    }
    steps = len(digits["gan"])
    drawn = [
        {
            "step": end,
            **{story: median(each[max(0, end - TEN) : end]) for story, each in digits.items() if len(each) >= end},
        }
        for end in (range(TEN, steps + 1, TEN) or [steps])
    ]
    last = drawn[-1]["gan"]
    if moved or not far:
        return Reading("it does not repeat" if moved else "nothing changed", drawn=drawn, bets={"06-bet-ulp": None})
    return Reading("c" if last < 1 else "b" if last < 4 else "a", {"steps": steps}, drawn)


def shared_digits(loss: float, difference: float) -> float:
    """How many leading digits two losses share: 0 where even the first one differs, 7 where all of float32 agree."""
    return min(7.0, max(0.0, -math.log10(difference / abs(loss)))) if difference else 7.0
