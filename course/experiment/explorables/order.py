"""The same numbers added in another order: float32 rounds each sum, float64 has room for all their bits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import torch

from course.experiment.explorables.page import Start

SMALL = (3.14159, 1000.7, -0.7, 2.71828, 7.0, 0.9)
"""They are rounded to float32 before they are added: then float64 holds every sum of them exactly."""
LARGE = 8
"""The power of ten at which the pair that cancels starts."""


def numbers(power: int) -> list[float]:
    """The float32 values in the first order: a large one, the small ones, and the large one with the other sign."""
    return torch.tensor([10.0**power, *SMALL, -(10.0**power)]).tolist()


def start(words: Mapping[str, str]) -> Start:
    """Number by number the sum so far, in both formats."""
    found = numbers(LARGE)
    single = accumulate(torch.tensor(found), lambda a, b: a + b)
    lines = [[words["number"], words["float32"], words["float64"]]]
    for number, one, other in zip(found, single, accumulate(found), strict=True):
        lines.append([f"{number:.9g}", f"{one.item():.9g}", f"{other:.9g}"])
    return Start(lines, {"small": numbers(0)[1:-1], "power": LARGE})
