"""Code tasks of lesson 12 that run or measure: a loop to mend, a work the profiler spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course.exercises.checking import comparison, lost
from course.exercises.told import Told, placeholder_in

ENOUGH = 1.5


# --- mend the loop ----------------------------------------------------------------------------------------------

ASKS = ("item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__index__", "__iter__", "unbind", "cpu")
"""Calls that leave the tensor: one question each, or the start of a loop over its rows."""


def _calls(function: Callable[[torch.Tensor], Any], table: torch.Tensor) -> tuple[Any, list[str]]:
    """What it gives back, and the names of all calls of torch it makes."""
    from torch.overrides import TorchFunctionMode

    names: list[str] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(getattr(called, "__name__", ""))
            return called(*args, **(kwargs or {}))

    with Watch():
        found = function(table)
    return found, names


def check_row_spreads(row_spreads: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, int]:
    """The right numbers for several tables; as many operations for many rows as for few, and no question in between."""
    made = torch.Generator().manual_seed(12)
    tables = [torch.randn(rows, columns, generator=made) for rows, columns in ((5, 8), (1, 3), (7, 1), (40, 8))]
    calls = []
    for table in tables:
        before = table.clone()
        got, names = _calls(row_spreads, table)
        placeholder_in(got)
        expected = table.max(dim=1).values - table.min(dim=1).values
        if not torch.equal(table, before):
            raise Told("changed")
        if not isinstance(got, torch.Tensor):
            raise Told("no-tensor", kind=type(got).__name__)
        if got.shape != expected.shape:
            raise Told("shape", table=tuple(table.shape), expected=tuple(expected.shape), got=tuple(got.shape))
        if got.dtype != table.dtype:
            raise Told("type", dtype=got.dtype, wanted=table.dtype)
        if not torch.allclose(got, expected, rtol=1e-5, atol=1e-6):
            raise Told("numbers")
        calls.append(names)
    few, many, asked = len(calls[0]), len(calls[-1]), [f"`{name}`" for name in calls[-1] if name in ASKS]
    if many > few or asked:
        raise Told("loop, asking" if asked else "loop", few=few, many=many, asked=", ".join(dict.fromkeys(asked)))
    return {"many": many}


# --- make it lose -------------------------------------------------------------------------------------------------


def check_make_it_lose(race: Any) -> dict[str, float]:
    """Accept on evidence: the profiled side takes at least half as long again, and both sides run one work."""
    raced = comparison(race)
    if raced is None:
        raise Told("no-comparison")
    (name,) = raced.pairs
    inside = getattr(raced.functions[name], "work", None)
    if raced.baseline != "plain" or inside is None or inside is not raced.functions["plain"]:
        raise Told("sides")
    return {**lost(raced, ENOUGH), "line": ENOUGH}


CHECKS = {"12-row-spreads": check_row_spreads, "12-make-it-lose": check_make_it_lose}
