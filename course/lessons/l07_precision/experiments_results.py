"""Experiments of lesson 07 on what becomes of a result whose products are rounded: neighbours, solutions, gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from course.core.i18n import both
from course.experiment.base import Budget, experiment
from course.experiment.reading import Reading
from course.experiment.rows import FEW, groups
from course.lessons.l07_precision.experiments import LESSON, NAMES, pick_rows
from course.models.rounding import product, relative_error
from course.timing.stats import median, median_interval

# --- 07-neighbours ------------------------------------------------------------------------------------------


def _squared_distances(x: Tensor, name: str) -> Tensor:
    """All squared distances by one matrix product, whose inputs are rounded to the format ``name``."""
    square = (x * x).sum(1)
    return square[:, None] + square[None] - 2 * product(x, x.T, name)


@experiment(name="07-neighbours", lesson=LESSON, version=1, needs="cpu", seconds=15)
def neighbours(budget: Budget) -> Iterator[dict]:
    """Share of right nearest neighbours among 300 points; distances by |x|² + |y|² - 2 x·y, offset growing."""
    for seed in budget.loop(range(5), desc=both("clouds of points", "点云")):
        points = torch.randn(300, 16, generator=torch.Generator().manual_seed(seed))
        for offset in (0, 1, 3, 10, 30, 100, 300):
            moved = points + offset
            truth = (
                torch.cdist(moved.double(), moved.double(), compute_mode="donot_use_mm_for_euclid_dist")
                .fill_diagonal_(torch.inf)
                .argmin(1)
            )
            stories = {name: (moved, name) for name in NAMES}
            stories["tf32, mean removed"] = (moved - moved.mean(0), "tf32")
            for story, (x, name) in stories.items():
                found = _squared_distances(x, name).fill_diagonal_(torch.inf).argmin(1)
                yield {"seed": seed, "offset": offset, "story": story, "share": (found == truth).double().mean().item()}


def read_neighbours(rows: list[dict]) -> Reading:
    """Whether TF32 finds the nearest neighbours at 100 away from zero, and whether removing the mean cures it."""
    offsets, stories = sorted({row["offset"] for row in rows}), groups(rows, "story")
    drawn = []
    for place, offset in enumerate(offsets):
        shares = {story: pick_rows(mine, "share", offset=offset) for story, mine in stories.items()}
        drawn.append(
            {"place": place, "offset": offset} | {s: 100 * median(one) if one else None for s, one in shares.items()}
        )
    seen = next((row for row in drawn if row["offset"] == 100), {})
    if any(seen.get(story) is None for story in ("float32", "tf32", "tf32, mean removed")):
        return Reading(drawn=drawn)
    plain, low, cured = seen["float32"], seen["tf32"], seen["tf32, mean removed"]
    if plain - low < 10:
        return Reading("finds them", drawn=drawn)
    if plain - cured >= 10:
        return Reading("loses some", drawn=drawn)
    return Reading("loses nearly all, cured" if low < 0.1 * plain else "loses some, cured", drawn=drawn)


# --- 07-solve -----------------------------------------------------------------------------------------------


@experiment(name="07-solve", lesson=LESSON, version=1, needs="cpu", seconds=15)
def solve(budget: Budget) -> Iterator[dict]:
    """x ← x + M (b - A x), M an inverse of A; residual and step each computed in a format of their own."""
    stories = {
        "all float32": ("float32", "float32"),
        "all TF32": ("tf32", "tf32"),
        "step TF32, residual float32": ("float32", "tf32"),
    }
    for seed in budget.loop(range(7), desc=both("systems", "方程组")):
        random = torch.Generator().manual_seed(seed)
        a = torch.eye(128) * 12 + torch.randn(128, 128, generator=random) / 2
        b = torch.randn(128, 1, generator=random)
        exact, inverse = torch.linalg.solve(a.double(), b.double()), torch.linalg.inv(a)
        for story, (residual, step) in stories.items():
            x = torch.zeros(128, 1)
            for turn in range(1, 9):
                x = x + product(inverse, b - product(a, x, residual), step)
                yield {"seed": seed, "story": story, "turn": turn, "relative": relative_error(x, exact)}


def read_solve(rows: list[dict]) -> Reading | None:
    """The error after the last turn, in each format and in the mixture of both."""
    turn = max(row["turn"] for row in rows)
    final = {story: median(pick_rows(mine, "relative", turn=turn)) for story, mine in groups(rows, "story").items()}
    if len(final) < 3:
        return None
    drawn = [{"story": story, "error": error} for story, error in final.items()]
    plain, low, mixed = (final[story] for story in ("all float32", "all TF32", "step TF32, residual float32"))
    option = "b" if mixed < 5 * plain else "a" if 0.3 * low < mixed < 3 * low else "c" if mixed > 3 * low else None
    if low < 10 * plain:  # nothing lies between the two
        option = None
    outcome = "nothing to cure" if low < 10 * plain else option or "helps"
    return Reading(outcome, {"plain": plain, "low": low}, drawn, {"07-bet-solve": option})


# --- 07-noise -----------------------------------------------------------------------------------------------


def _gradient(x: Tensor, y: Tensor, first: Tensor, second: Tensor, name: str) -> Tensor:
    """Gradient of the mean squared error of tanh(x first) second, every product rounded; one flat vector."""
    hidden = torch.tanh(product(x, first, name))
    wrong = 2 * (product(hidden, second, name) - y) / len(x)
    back = product(wrong, second.T, name) * (1 - hidden * hidden)
    return torch.cat([product(x.T, back, name).flatten(), product(hidden.T, wrong, name).flatten()])


@experiment(name="07-noise", lesson=LESSON, version=1, needs="cpu", seconds=15)
def noise(budget: Budget) -> Iterator[dict]:
    """A small network: distance of a batch's gradient from that of all data, and what rounding adds to it."""
    random = torch.Generator().manual_seed(0)
    x, teacher = torch.randn(4096, 32, generator=random), torch.randn(32, 1, generator=random)
    y = torch.tanh(x @ teacher) + 0.1 * torch.randn(4096, 1, generator=random)
    first = torch.randn(32, 64, generator=random) / 6
    second = torch.randn(64, 1, generator=random) / 8
    whole = _gradient(x, y, first, second, "float32")
    for draw in budget.loop(range(31), desc=both("batches", "batch")):
        chosen = torch.randperm(4096, generator=random)[:64]
        batch = _gradient(x[chosen], y[chosen], first, second, "float32")
        row: dict[str, Any] = {"draw": draw, "batch": relative_error(batch, whole)}
        for name in ("tf32", "bfloat16"):
            row[name] = relative_error(_gradient(x[chosen], y[chosen], first, second, name), batch)
        yield row


def read_noise(rows: list[dict]) -> Reading:
    """By how much of its length the gradient moved; which of batch and TF32 moves it more, by the interval of their ratio."""
    sources = ("batch", "tf32", "bfloat16")
    drawn = [{"source": name, "percent": 100 * median([row[name] for row in rows])} for name in sources]
    if len(rows) < FEW:
        return Reading(drawn=drawn)
    span = median_interval([row["batch"] / row["tf32"] for row in rows])
    sure = {"c": span.low > 10, "a": span.high < 0.5, "b": span.low > 0.5 and span.high < 10}
    return Reading(next((option for option, holds in sure.items() if holds), None), drawn=drawn)
