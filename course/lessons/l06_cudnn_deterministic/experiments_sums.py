"""Experiments of lesson 06 on sums in another order: other threads, another batch, other pieces."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.lessons.l06_cudnn_deterministic.experiments import LESSON

BATCHES, ROWS = (1, 2, 3, 4, 8, 16, 32, 64), 64


# --- 06-company ---------------------------------------------------------------------------------------------


@experiment(name="06-company", lesson=LESSON, version=1, needs="cpu", seconds=4, whole=True)
def company(budget: Budget) -> list[dict]:
    """The first row of a batch through a linear layer, in batches of 1 to 64; compared with the batch of 64."""
    rng = torch.Generator().manual_seed(0)
    weight, inputs = torch.randn(512, 512, generator=rng), torch.randn(ROWS, 512, generator=rng)
    rows = []
    with torch.inference_mode():
        full = F.linear(inputs, weight)[0]
        for batch in budget.loop(BATCHES, desc=both("batches", "batch")):
            mine = F.linear(inputs[:batch], weight)[0]
            again = F.linear(inputs[:batch], weight)[0]
            rows.append(
                {
                    "batch": batch,
                    "same_bits": int(torch.equal(mine, full)),
                    "repeats": int(torch.equal(mine, again)),
                    "numbers": len(mine),
                    "numbers_changed": int((mine != full).sum()),
                    "largest_change": float((mine - full).abs().max() / full.abs().max()),
                }
            )
    return rows


def read_company(rows: list[dict]) -> Reading:
    """How many outputs of the row have other bits than in the batch of 64, and whether they are a rounding apart."""
    worst = max(row["largest_change"] for row in rows)
    drawn = [
        {
            **row,
            "percent": 100 * row["numbers_changed"] / row["numbers"],
            "said": "same" if row["same_bits"] else "near" if row["largest_change"] < 1e-4 else "far",
        }
        for row in rows
        if row["batch"] != ROWS
    ]
    if len(rows) < 3 or rows[0]["batch"] != 1:
        return Reading(drawn=drawn)
    same = all(row["same_bits"] for row in rows)
    return Reading("a" if same else "b" if worst < 1e-4 else "c", drawn=drawn)
