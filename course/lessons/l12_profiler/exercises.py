"""Code tasks of lesson 12: own time from nested events, the line that pays, a loop to mend, a work the profiler spoils."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from course.checking import comparison, not_lost
from course.i18n import both
from course.slips import PLACEHOLDER, data
from course.verdict import Verdict, correct, incorrect, partly

ENOUGH = 1.5


def _close(got: Any, expected: list[float]) -> bool:
    """Equal lists of numbers, up to rounding."""
    return (
        isinstance(got, list)
        and len(got) == len(expected)
        and all(
            isinstance(one, (int, float)) and not isinstance(one, bool) and math.isclose(one, two, abs_tol=1e-9)
            for one, two in zip(got, expected, strict=True)
        )
    )


# --- own_times ------------------------------------------------------------------------------------------------

Event = dict[str, Any]


def _events(*pairs: tuple[float, int | None]) -> list[Event]:
    return [{"us": us, "parent": parent} for us, parent in pairs]


CHAINS = {
    "chain": (_events((10.0, None), (9.0, 0), (8.0, 1)), [1.0, 1.0, 8.0]),
    "two children": (_events((10.0, None), (3.0, 0), (4.0, 0)), [3.0, 3.0, 4.0]),
    "two trees": (_events((5.0, None), (2.0, 0), (7.0, None), (7.0, 2)), [3.0, 2.0, 0.0, 7.0]),
    "grandchildren": (_events((20.0, None), (12.0, 0), (5.0, 1), (5.0, 1), (6.0, 0)), [2.0, 2.0, 5.0, 5.0, 6.0]),
    "alone": (_events((4.0, None)), [4.0]),
    "nothing": ([], []),
}


def check_own_times(own_times: Callable[[list[Event]], list[float]]) -> Verdict:
    """Chains, several children, several trees, nothing; the events are handed back untouched."""
    for name, (events, expected) in CHAINS.items():
        given = [dict(one) for one in events]
        got = data(own_times(given))
        if got is None or got is ...:
            return PLACEHOLDER
        if not _close(got, expected):
            return _wrong_times(name, events, got, expected)
        if given != events:
            return partly(
                0.5,
                1.0,
                both(
                    "The times are right, but the events were changed on the way: whoever reads them next sees other numbers.",
                    "耗时算对了，但传进来的事件被改了：下一个读它的人看到的是别的数。",
                ),
                reason="changed",
            )
    return correct(
        both(
            "Each event keeps its time and gives its parent's share back: that is the column “self”.",
            "每个事件留下自己的时间，再从上一级里扣掉：这就是 “self” 一列。",
        )
    )


def _wrong_times(name: str, events: list[Event], got: Any, expected: list[float]) -> Verdict:
    shown = [(one["us"], one["parent"]) for one in events]
    if _close(got, [one["us"] for one in events]):
        return incorrect(
            both(
                "These are the total times. A parent's time holds its children's: take it off.",
                "这是 total。上一级的时间里包含了下一级的：要扣掉。",
            ),
            reason="totals",
        )
    if name == "grandchildren" or (name == "chain" and isinstance(got, list) and got and got[0] != expected[0]):
        return incorrect(
            both(
                f"For (us, parent) {shown} expected {expected}, and it was {got!r}. "
                "Only direct children are taken off: a grandchild is already inside its parent.",
                f"对 (us, parent) {shown}，应为 {expected}，得到 {got!r}。只扣直接的下一级：再下一级已经包含在它里面了。",
            ),
            reason="grandchildren",
        )
    return incorrect(
        both(
            f"For (us, parent) {shown} expected {expected}, and it was {got!r}.",
            f"对 (us, parent) {shown}，应为 {expected}，得到 {got!r}。",
        ),
        reason="wrong-times",
    )


# --- line_that_pays ---------------------------------------------------------------------------------------------


def _rows(*triples: tuple[str, float, float]) -> list[dict[str, Any]]:
    return [{"line": line, "us": us, "self_us": own} for line, us, own in triples]


LINES = {
    "once": (_rows(("a.py:3", 9.0, 9.0), ("a.py:4", 2.0, 2.0)), "a.py:3"),
    "often": (_rows(*[("a.py:9", 2.0, 2.0)] * 6, ("a.py:3", 9.0, 9.0)), "a.py:9"),
    "nested": (_rows(("a.py:3", 10.0, 1.0), ("a.py:3", 9.0, 4.0), ("b.py:7", 8.0, 8.0)), "b.py:7"),
    "unknown": (_rows(("", 50.0, 50.0), ("a.py:3", 4.0, 4.0), ("", 1.0, 1.0)), "a.py:3"),
    "same number": (_rows(("a.py:3", 4.0, 4.0), ("b.py:3", 3.0, 3.0), ("b.py:3", 3.0, 3.0)), "b.py:3"),
    "small": (_rows(("a.py:1", 0.25, 0.25), ("a.py:2", 0.5, 0.5)), "a.py:2"),
    "none": (_rows(("", 7.0, 7.0)), None),
    "empty": ([], None),
}


def check_line_that_pays(line_that_pays: Callable[[list[dict]], str | None]) -> Verdict:
    """Lines once and often, nested rows, rows without a line, no line at all."""
    for name, (rows, expected) in LINES.items():
        got = data(line_that_pays([dict(row) for row in rows]))
        if got is ...:
            return PLACEHOLDER
        if got != expected:
            return _wrong_line(name, rows, got, expected)
    return correct(
        both(
            "Own times added up by line, the largest first; rows without a line stay out.",
            "按行累加自身耗时，取最大的；没有行号的不算。",
        )
    )


def _wrong_line(name: str, rows: list[dict], got: Any, expected: str | None) -> Verdict:
    said = {
        "often": both(
            "Six calls of 2 µs cost more than one of 9 µs: add up by line first.",
            "六次 2 µs 比一次 9 µs 更贵：先按行累加。",
        ),
        "nested": both(
            "A row's `us` holds what it calls, and that has rows of its own: add up `self_us`.",
            "一行的 `us` 包含它调用的，而那些另有自己的行：要累加 `self_us`。",
        ),
        "unknown": both(
            "The most expensive rows have no line: nobody can open a file there. Leave them out.",
            "最贵的那些行没有行号，没法打开文件去看：不要算进去。",
        ),
        "none": both("No row has a line: the answer is `None`.", "没有一行带行号：应返回 `None`。"),
        "empty": both("Without rows the answer is `None`.", "一行都没有时，应返回 `None`。"),
    }.get(name, both("Another line costs more.", "另一行更贵。"))
    shown = [(row["line"], row["us"], row["self_us"]) for row in rows]
    text = both(
        f"{said['en']} (line, us, self_us): {shown}; expected {expected!r}, and it was {got!r}.",
        f"{said['zh']}(line, us, self_us)：{shown}；应为 {expected!r}，得到 {got!r}。",
    )
    if name in ("none", "empty"):
        return partly(0.5, 1.0, text, reason=name)
    return incorrect(text, reason=name.replace(" ", "-"))


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


def _number(got: Any) -> bool:
    return isinstance(got, (int, float)) and not isinstance(got, bool)


CHECKS = {
    "12-own-times": check_own_times,
    "12-which-line": check_line_that_pays,
    "12-row-spreads": check_row_spreads,
    "12-make-it-lose": check_make_it_lose,
}
