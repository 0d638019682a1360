"""Code tasks of lesson 12 that run or measure: a loop to mend, a work the profiler spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, partly
from course.exercises.checking import comparison, not_lost
from course.exercises.slips import PLACEHOLDER

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


def check_row_spreads(row_spreads: Callable[[torch.Tensor], torch.Tensor]) -> Verdict:
    """The right numbers for several tables; as many operations for many rows as for few, and no question in between."""
    made = torch.Generator().manual_seed(12)
    tables = [torch.randn(rows, columns, generator=made) for rows, columns in ((5, 8), (1, 3), (7, 1), (40, 8))]
    counts = []
    for table in tables:
        before = table.clone()
        got, names = _calls(row_spreads, table)
        if got is None or got is ...:
            return PLACEHOLDER
        expected = table.max(dim=1).values - table.min(dim=1).values
        if not torch.equal(table, before):
            return incorrect(
                both("The table was changed: work on a copy.", "表格被改了：请在副本上操作。"), reason="changed"
            )
        if not isinstance(got, torch.Tensor):
            return incorrect(
                both(
                    f"A tensor with one number a row is expected, not {type(got).__name__}.",
                    f"应返回一个张量，每行一个数，而不是 {type(got).__name__}。",
                ),
                reason="no-tensor",
            )
        if got.shape != expected.shape:
            return incorrect(
                both(
                    f"For a table of {tuple(table.shape)} the shape should be {tuple(expected.shape)}, not {tuple(got.shape)}.",
                    f"表格为 {tuple(table.shape)} 时，形状应是 {tuple(expected.shape)}，而不是 {tuple(got.shape)}。",
                ),
                reason="shape",
            )
        if got.dtype != table.dtype:
            return partly(
                0.5,
                1.0,
                both(
                    f"The numbers are there, but in {got.dtype}: {table.dtype} came in.",
                    f"数是对的，但类型成了 {got.dtype}：进来的是 {table.dtype}。",
                ),
                reason="type",
            )
        if not torch.allclose(got, expected, rtol=1e-5, atol=1e-6):
            return incorrect(
                both("The numbers are not largest minus smallest of each row.", "结果不是每行的最大值减最小值。"),
                reason="numbers",
            )
        counts.append((len(names), [name for name in names if name in ASKS]))
    if counts[-1][0] > counts[0][0] or counts[-1][1]:
        asked = ", ".join(dict.fromkeys(f"`{name}`" for name in counts[-1][1]))
        return partly(
            0.5,
            1.0,
            both(
                "The numbers are right. "
                f"But 5 rows take {counts[0][0]} calls of torch and 40 rows {counts[-1][0]}{', with ' + asked if asked else ''}: "
                "the loop is still there.",
                "数是对的。"
                f"可 5 行要调用 torch {counts[0][0]} 次，40 行要 {counts[-1][0]} 次{'，其中有 ' + asked if asked else ''}：循环还在。",
            ),
            reason="loop",
        )
    return correct(
        both(
            f"{counts[-1][0]} calls of torch, however many rows: the overhead is paid once.",
            f"不管多少行，都只调用 torch {counts[-1][0]} 次：调用开销只付一回。",
        )
    )


# --- make it lose -------------------------------------------------------------------------------------------------


def check_make_it_lose(race: Any) -> Verdict:
    """Accept on evidence: the profiled side takes at least half as long again, and both sides run one work."""
    raced = comparison(race)
    if raced is None:
        return incorrect(
            both(
                '`race` should be what `compare` gave back for "plain" and "profiled".',
                '`race` 应是 `compare` 对 "plain" 和 "profiled" 的返回结果。',
            ),
            reason="no-comparison",
        )
    (name,) = raced.pairs
    inside = getattr(raced.functions[name], "work", None)
    if raced.baseline != "plain" or inside is None or inside is not raced.functions["plain"]:
        return incorrect(
            both(
                'Both sides should run one work: "plain": work is the baseline, "profiled": profiled(work).',
                '两边应跑同一份活："plain": work 作基准，"profiled": profiled(work)。',
            ),
            reason="sides",
        )
    won = both(
        "This work hardly notices the profiler. Does the profiler charge for the time, or for the number of operations?",
        "这份活几乎感觉不到 profiler。profiler 是按时间收费，还是按操作的个数收费？",
    )
    if verdict := not_lost(raced, won, line=ENOUGH):
        return verdict
    low, high = raced.low, raced.high
    return correct(
        both(
            f"Accepted: [{low:.2f}, {high:.2f}] lies above {ENOUGH}. What the profiler says of this work is mostly about itself.",
            f"通过：[{low:.2f}, {high:.2f}] 整个在 {ENOUGH} 之上。对这份活，profiler 说的大半是它自己。",
        ),
        low=low,
        high=high,
    )


CHECKS = {"12-row-spreads": check_row_spreads, "12-make-it-lose": check_make_it_lose}
