"""A code task of lesson 09 on oneDNN's report: which share of the time goes into reorders; and lines made up for checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, not_attempted, partly

HEADER = "onednn_verbose,v1,info,oneDNN v3.12.0"
HEADERS = (
    "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2",
    "onednn_verbose,v1,info,gpu,runtime:none",
    "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
    "attributes,auxiliary,problem_desc,exec_time",
)


def report_line(primitive: str, time_ms: float, event: str = "exec") -> str:
    """A line of the report, made up for a check."""
    return (
        f"onednn_verbose,v1,primitive,{event},cpu,{primitive},jit:made_up,undef,src:f32::blocked:abcd::f0 "
        f"dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,8x16x64x64,{time_ms}"
    )


REPORTS: dict[str, tuple[list[str], float]] = {
    "three lines": ([report_line("reorder", 1.0), report_line("convolution", 6.0), report_line("reorder", 1.0)], 0.25),
    "no reorder": ([report_line("matmul", 3.0)], 0.0),
    "creation": (
        [report_line("reorder", 9.0, "create:cache_miss"), report_line("reorder", 1.0), report_line("rnn", 1.0)],
        0.5,
    ),
    "real headers": ([*HEADERS, report_line("reorder", 1.5), report_line("pooling", 4.5)], 0.25),
    "header": ([HEADER, report_line("reorder", 2.0), report_line("convolution", 2.0)], 0.5),
    "empty": ([], 0.0),
}


def check_reorder_share(reorder_share: Callable[[list[str]], float]) -> Verdict:
    """Reorders among others, none at all, creation lines, a header, an empty report."""
    for name, (report, expected) in REPORTS.items():
        try:
            got = reorder_share(list(report))
        except (IndexError, ZeroDivisionError) as error:
            return _broken_share(name, error)
        if got is None or got is Ellipsis:
            return not_attempted(
                both(
                    "`reorder_share` returns nothing yet: fill in the blanks.",
                    "`reorder_share` 还没有返回值：请把空白补上。",
                ),
                reason="placeholder",
            )
        if isinstance(got, bool) or not isinstance(got, (int, float)) or not math.isclose(got, expected, abs_tol=1e-9):
            return _wrong_share(name, got, expected)
    return correct(
        both(
            "Executed lines only, reorders over all of them, and 0 where there is nothing to share.",
            "只算执行过的行，重排占全部的比例；没有内容时就是 0。",
        )
    )


def _broken_share(name: str, error: Exception) -> Verdict:
    if name == "empty":
        return partly(
            0.5,
            1.0,
            both(
                "All reports with lines are right. An empty one has a total of 0: return 0.0.",
                "有内容的报告都对了。空报告的总和是 0：请返回 0.0。",
            ),
            reason="empty-report",
        )
    return incorrect(
        both(
            f"It stopped with {type(error).__name__}. A header line has fewer fields: look at the word `exec` first.",
            f"出现了 {type(error).__name__}。标题行的字段更少：先看有没有 `exec` 这个词。",
        ),
        reason="header",
    )


def _wrong_share(name: str, got: Any, expected: float) -> Verdict:
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        if name == "three lines" and math.isclose(got, 2 / 3):
            return incorrect(
                both(
                    "2/3 counts lines. The question is about time: sum the last field.",
                    "2/3 是按行数算的。问的是时间：请把最后一个字段加起来。",
                ),
                reason="lines",
            )
        if name == "three lines" and math.isclose(got, 2.0):
            return incorrect(
                both("2.0 is milliseconds of reorders. Divide by the total.", "2.0 是重排的毫秒数，还要除以总和。"),
                reason="milliseconds",
            )
        if name == "three lines" and math.isclose(got, 1 / 3):
            return incorrect(
                both(
                    "1/3 is reorders over the rest. A share is taken of the whole, reorders included.",
                    "1/3 是重排比其余。比例的分母是全部，重排也算在内。",
                ),
                reason="of-the-rest",
            )
        if name == "creation":
            return incorrect(
                both(
                    f"{got:g}: a `create:` line is the price of making a primitive, not of running it. "
                    "Take `exec` lines only.",
                    f"{got:g}：`create:` 行是制作 primitive 的成本，不是执行。只取 `exec` 行。",
                ),
                reason="creation",
            )
    return incorrect(
        both(
            f"For the case “{name}” the share is {expected:g}, not {got!r}.",
            f"对于“{name}”这一例，比例应是 {expected:g}，而不是 {got!r}。",
        ),
        reason="wrong-share",
    )


CHECKS = {"09-reorder-share": check_reorder_share}
