"""Experiments of lesson 08 that need a Mac: memory, and the half-precision formats."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import race_row
from course.lessons.l08_mps import probes
from course.lessons.l08_mps.experiments import LESSON
from course.models.rounding import relative_error

# --- 08-half-mps --------------------------------------------------------------------------------------------


@experiment(name="08-half-mps", lesson=LESSON, needs="mps", seconds=20)
def half_mps(budget: Budget, sizes: tuple[int, ...] = (512, 2048)) -> Iterator[dict]:
    """Products in float16 and bfloat16 against float32, taking turns, fenced; and their error against float64."""
    from course.timing import compare

    cases = [(size, name) for size in sizes for name in ("float16", "bfloat16")]
    for number, (size, name) in enumerate(budget.loop(cases, desc=both("number formats", "数值格式"))):
        a, b = torch.randn(size, size), torch.randn(size, size)
        exact = a.double() @ b.double()
        whole = [one.to(probes.DEVICE) for one in (a, b)]
        half = [one.to(getattr(torch, name)) for one in whole]
        race = compare(
            {"float32": lambda x=whole: x[0] @ x[1], name: lambda x=half: x[0] @ x[1]},
            baseline="float32", device=probes.DEVICE, clock="wall", max_time=max(0.1, budget.share(len(cases) - number)),
        )  # fmt: skip
        yield {
            "format": name,
            "size": size,
            **race_row(race),
            "rounds": race.rounds,
            "relative": relative_error((half[0] @ half[1]).cpu(), exact),
        }


def read_half_mps(rows: list[dict]) -> Reading | None:
    """In how many of the cases that are there half precision is faster; nothing where it may be in none."""
    verdicts = [row["verdict"] for row in rows]
    won = verdicts.count("faster")
    if not won and "undecided" in verdicts:
        return None
    return Reading("some" if won else "none", {"won": won, "all": len(rows)})
