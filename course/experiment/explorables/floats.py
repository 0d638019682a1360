"""The bits of a number in four formats, and what they make of a sum of equal terms."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from course.experiment.explorables.page import Start
from course.models.rounding import FORMATS, pattern, rounded

FIRST = 1000.7


def start(words: Mapping[str, str]) -> Start:
    """The formats of `course.models.rounding` with the first number in each of them."""
    cell = torch.tensor(FIRST)
    lines = [[words[key] for key in ("format", "bits", "holds", "error")]]
    for name in FORMATS:
        held = rounded(cell, name).item()
        bits = " ".join(pattern(cell.item(), name))
        lines.append([words[name], bits, f"{held:.9g}", f"{abs(held / FIRST - 1):.1e}"])
    shapes = {name: [shape.exponent, shape.mantissa] for name, shape in FORMATS.items()}
    return Start(lines, {"first": FIRST, "formats": shapes})
