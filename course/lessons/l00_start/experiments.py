"""Experiment of lesson 00: the same numbers, added in many orders."""

from __future__ import annotations

import torch

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading

COUNT, ORDERS = 1000, 200


def _totals(numbers: torch.Tensor, orders: list[torch.Tensor]) -> list[float]:
    return [numbers[order].sum().item() for order in orders]


@experiment(name="00-same-numbers", lesson="00_start", needs="cpu", seconds=2)
def same_numbers(budget: Budget) -> list[dict]:
    """Add 1000 numbers in 200 random orders: as they are, rounded to whole numbers, and in float64."""
    rng = torch.Generator().manual_seed(1)
    numbers = torch.randn(COUNT, generator=rng)
    orders = [torch.randperm(COUNT, generator=rng) for _ in range(ORDERS)]
    lists = {"float32": numbers, "whole numbers": (numbers * 100).round(), "float64": numbers.double()}
    rows = []
    for name, values in budget.loop(lists.items(), desc=both("adding", "求和中")):
        totals = _totals(values, orders)
        rows.append(
            {
                "numbers": name,
                "count": COUNT,
                "orders": ORDERS,
                "distinct": len(set(totals)),
                "spread": max(totals) - min(totals),
            }
        )
    return rows


def read_same_numbers(rows: list[dict]) -> Reading:
    """How many different sums the float32 numbers have, in the orders tried."""
    drawn = [{**row, "told": "several" if row["distinct"] > 1 else "one"} for row in rows]
    count = next((row["distinct"] for row in rows if row["numbers"] == "float32"), None)
    option = count and {1: "a", 2: "b"}.get(count, "c")
    numbers = {"sums": count, "most": max(6, count or 0)}
    return Reading("differ" if option in ("b", "c") else option, numbers, drawn, {"00-bet-sums": option})
