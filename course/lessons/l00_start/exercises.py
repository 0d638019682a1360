"""The one code task of lesson 00: three numbers whose sum depends on the order."""

from __future__ import annotations

import math
from typing import Any

from course.exercises.told import Told


def check_my_numbers(numbers: Any) -> dict[str, float]:
    """Three finite numbers; as float32, (a + b) + c and a + (b + c) must differ."""
    import torch

    if any(value is Ellipsis for value in numbers):
        raise Told("placeholder")
    if len(numbers) != 3:
        raise Told("count", count=len(numbers))
    if {abs(float(value)) for value in numbers} & {1e8}:
        raise Told("taken")
    a, b, c = torch.tensor([float(value) for value in numbers], dtype=torch.float32)
    left, right = ((a + b) + c).item(), (a + (b + c)).item()
    if not (math.isfinite(left) and math.isfinite(right)):
        raise Told("infinite")
    if left == right:
        raise Told("same-sums", left=left)
    return {"left": left, "right": right}


CHECKS = {"00-my-numbers": check_my_numbers}
