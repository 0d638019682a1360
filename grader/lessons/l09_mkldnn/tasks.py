"""Hidden cases of checkpoint 09: time by primitive out of a report, and a race reported by the rules."""

from __future__ import annotations

import math
import random
import statistics
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly
from grader.task import Case, Part, Task

# --- 09-t-time --------------------------------------------------------------------------------------------

PRIMITIVES = ("reorder", "convolution", "rnn", "matmul", "eltwise", "pooling")
HEADERS = ("onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71)", "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2",
           "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,"
           "memory_descriptors,attributes,auxiliary,problem_desc,exec_time", "epoch 3, loss 0.25", "")


def _line(rng: random.Random, event: str = "exec") -> str:
    ms = round(rng.uniform(0.001, 9.0), 6)
    size = "x".join(str(rng.randint(1, 64)) for _ in range(4))
    return (f"onednn_verbose,v1,primitive,{event},cpu,{rng.choice(PRIMITIVES)},jit:uni,undef,src:f32::blocked:abcd::f0 "
            f"dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,{size},{ms}")


def time_cases(rng: random.Random) -> list[Case]:
    """Executed lines only; with creation lines among them; with headers, other prints, or nothing at all."""
    def lines(count: int, event: str = "exec") -> list[str]:
        return [_line(rng, event) for _ in range(count)]

    cases = [Case("executed", (lines(rng.randint(6, 14)),)) for _ in range(4)]
    for event in ("create:cache_miss", "create:cache_hit"):
        mixed = lines(rng.randint(4, 9)) + lines(rng.randint(2, 5), event)
        rng.shuffle(mixed)
        cases.append(Case("creation", (mixed,)))
    noisy = [*lines(rng.randint(3, 6)), *HEADERS]
    rng.shuffle(noisy)
    return [*cases, Case("noise", (noisy,)), Case("noise", (list(HEADERS),)), Case("noise", ([],))]


def time_reference(report: list[str]) -> dict[str, float]:
    """Primitive -> milliseconds of its executed lines."""
    found: dict[str, float] = {}
    for line in report:
        fields = line.split(",")
        if len(fields) > 5 and fields[0] == "onednn_verbose" and fields[3] == "exec":
            found[fields[5]] = found.get(fields[5], 0.0) + float(fields[-1])
    return found


# --- 09-t-report ------------------------------------------------------------------------------------------

CLAIMS = {"faster": lambda low, high: high < 1, "slower": lambda low, high: low > 1,
          "undecided": lambda low, high: low <= 1 <= high}
LEAST = 6  # fewer pairs carry no 95 % interval


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def _times(value: Any) -> list[float]:
    return value if isinstance(value, list) and all(map(_positive, value)) else []


def _count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def judge_report(report: Any) -> Verdict:
    """One point each: enough pairs, a witness in the log, a claim fit for the interval. Never speed."""
    if not isinstance(report, dict):
        return incorrect(both("The report is not a dictionary.", "报告不是字典。"), max_points=3)
    on, off = _times(report.get("on_ms")), _times(report.get("off_ms"))
    reasons = []
    paired = len(on) == len(off) >= LEAST and _count(report.get("threads"), 1)
    if not paired:
        reasons.append(both(f"At least {LEAST} times on, as many off, and the number of threads are needed.",
                            f"需要至少 {LEAST} 次“开”、同样多次“关”的耗时，以及线程数。"))
    claim = str(report.get("claim"))
    witnessed = _count(report.get("lines"), 0) and (report["lines"] > 0 or claim == "undecided")
    if not witnessed:
        reasons.append(both("A difference is claimed, but no line of the log shows that oneDNN ran in the call.",
                            "声称有差别，但日志里没有一行能证明这次调用里 oneDNN 跑过。"))
    honest = bool(paired and _supported(report, on, off))
    if not honest:
        reasons.append(both("Claim and interval do not fit: it must hold the median of on over off, and `faster` needs "
                            "all of it below 1.",
                            "结论与区间不符：区间应包含“开除以关”的中位数；声称 `faster` 时，区间必须整个小于 1。"))
    points = paired + witnessed + honest
    if points == 3:
        return correct(both("Enough pairs, a witness, and a claim the interval carries.", "对数足够，有日志作证，结论有区间支撑。"),
                       points=3)
    return partly(points, 3, *reasons) if points else incorrect(*reasons, max_points=3)


def _supported(report: dict, on: list[float], off: list[float]) -> bool:
    low, high, fits = report.get("low"), report.get("high"), CLAIMS.get(str(report.get("claim")))
    if not (_positive(low) and _positive(high) and low <= high) or fits is None:
        return False
    middle = statistics.median(a / b for a, b in zip(on, off, strict=True))
    same_code = report.get("lines") == 0 and report["claim"] == "undecided"  # an interval off 1 is then only noise
    return (same_code or fits(low, high)) and low * 0.999 <= middle <= high * 1.001


TASKS = [
    Task(id="09-t-time", name="time_by_primitive", cases=time_cases, reference=time_reference, parts={
        "executed": Part(2, both("Wrong for a report of executed lines.", "报告里只有执行行时不对。")),
        "creation": Part(1, both("Wrong where lines of creation stand among them.", "夹杂创建行时不对。")),
        "noise": Part(1, both("Wrong with headers or other prints, or for an empty report.",
                              "有标题行、其他输出或报告为空时不对。"))}),
    Task(id="09-t-report", name="report", judge=judge_report, points=3),
]
