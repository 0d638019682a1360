"""The code task of lesson 07 that computes: ruin a product."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from course.exercises.told import Told

RUINED, FINE = 0.1, 1e-3
"""Relative errors: above the first a product is ruined, below the second nobody needs to care (here)."""


def _errors(name: str, pair: Any) -> dict[str, float]:
    """The relative error of the product of a pair (a, b), by the kind of its inputs."""
    import torch

    from course.models.rounding import product, relative_error

    if pair is None or pair is ...:
        raise Told("placeholder", name=name)
    try:
        a, b = (torch.as_tensor(one, dtype=torch.float32).detach() for one in pair)
        exact = a.double() @ b.double()
        errors = {kind: relative_error(product(a, b, kind), exact) for kind in ("float32", "tf32")}
    except (RuntimeError, TypeError, ValueError) as error:
        raise Told("no-product", name=name, error=error) from None
    if not all(map(math.isfinite, errors.values())):
        raise Told("no-relative-error", name=name)
    return errors


def check_cases(cases: Any) -> dict[str, float]:
    """Accept on evidence: TF32 inputs ruin one product that float32 gets right, and leave the other alone."""
    if not isinstance(cases, Mapping) or not {"ruined", "harmless"} <= set(cases):
        raise Told("no-dictionary")
    ruined, harmless = (_errors(name, cases[name]) for name in ("ruined", "harmless"))
    low, plain = ruined["tf32"], ruined["float32"]
    if plain > 0.01:
        raise Told("float32-fails", plain=plain)
    if low < RUINED:
        raise Told("not-ruined", low=low, ruined=RUINED)
    if harmless["tf32"] >= FINE:
        raise Told("not-harmless", low=low, harmless=harmless["tf32"], fine=FINE)
    return {"low": low, "harmless": harmless["tf32"]}


CHECKS = {"07-make-it-lose": check_cases}
