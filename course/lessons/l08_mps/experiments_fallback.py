"""Experiment of lesson 08: the price of falling back to the CPU, simulated there."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import race_row
from course.i18n import both
from course.lessons.l08_mps.experiments import LESSON

# --- 08-fallback-price --------------------------------------------------------------------------------------


@experiment(name="08-fallback-price", lesson=LESSON, version=2, needs="cpu", seconds=9)
def fallback_price(budget: Budget) -> Iterator[dict]:
    """Time of an operation between two copies over the operation alone, on one thread: one quick, one slow."""
    from course.timing import compare

    torch.set_num_threads(1)
    big, small = torch.randn(4_000_000), torch.randn(160, 160)
    cases = {"relu": (big, torch.relu), "svd": (small, torch.linalg.svdvals)}
    for name, (x, op) in budget.loop(cases.items(), desc=both("operations", "算子")):
        race = compare(
            {"alone": lambda x=x, op=op: op(x), "between copies": lambda x=x, op=op: op(x.clone()).clone()},
            baseline="alone",
            max_time=max(0.8, min(3.5, budget.left() / 2)),
            device="cpu",
        )
        yield {
            "op": name,
            "numbers": x.numel(),
            **race_row(race),
            "alone_ms": race.medians_ms["alone"],
            "rounds": race.rounds,
        }


def read_fallback_price(rows: list[dict]) -> Reading | None:
    """Which operation the copies slow more: their whole ranges lie apart, or both lie below 10 % more."""
    found = {row["op"]: row for row in rows}
    if set(found) != {"relu", "svd"} or any(row["low"] is None for row in rows):
        return None
    relu, svd = found["relu"], found["svd"]
    if relu["low"] > svd["high"]:
        return Reading("a")
    if svd["low"] > relu["high"]:
        return Reading("b")
    return Reading("c") if max(relu["high"], svd["high"]) < 1.1 else None
