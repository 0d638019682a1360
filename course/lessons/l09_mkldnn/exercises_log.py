"""A code task of lesson 09 on oneDNN's report: which share of the time goes into reorders; and lines made up for checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.verdict import Verdict, correct, incorrect, not_attempted, partly

LESSON = "09_mkldnn"
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


REORDER_SHARE = Exercise(
    id="09-reorder-share",
    lesson=LESSON,
    name="reorder_share",
    minutes=5,
    title=both("Which share of the time goes into reorders?", "重排占了多少时间？"),
    hints=(
        both(
            "Split a line at its commas. Which field names the primitive, which one is the time?",
            "把一行按逗号拆开。哪个字段是 primitive 的名字，哪个是时间？",
        ),
        both(
            "Field 3 is the event, field 5 the primitive, the last one (`fields[-1]`) milliseconds.",
            "第 3 个字段是事件，第 5 个是 primitive，最后一个（`fields[-1]`）是毫秒数。",
        ),
        both(
            "Sum `float(fields[-1])` of all `exec` lines, and of the reorders among them. No total: 0.0.",
            "对所有 `exec` 行累加 `float(fields[-1])`，再单独累加其中的重排。总和为 0 就返回 0.0。",
        ),
    ),
    solution="""def reorder_share(report):
    total_ms = reorder_ms = 0.0
    for line in report:
        fields = line.split(",")
        if "exec" not in fields:
            continue
        total_ms += float(fields[-1])
        if fields[5] == "reorder":
            reorder_ms += float(fields[-1])
    return reorder_ms / total_ms if total_ms else 0.0
""",
    why=both(
        "A report is a table with commas. Lines are not time: one long line outweighs nine short ones.",
        "报告就是一张用逗号分隔的表。行数不等于时间：一行长的抵得过九行短的。",
    ),
    check=check_reorder_share,
)

EXERCISES = [REORDER_SHARE]
