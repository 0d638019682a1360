"""Hidden cases of checkpoint 09: time by primitive out of a report, and a race reported by the rules."""

from __future__ import annotations

import random
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 09-t-time --------------------------------------------------------------------------------------------

PRIMITIVES = ("reorder", "convolution", "rnn", "matmul", "eltwise", "pooling")
HEADERS = (
    "onednn_verbose,v1,info,oneDNN v3.12.0 (commit 80afa71)",
    "onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2",
    "onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,"
    "memory_descriptors,attributes,auxiliary,problem_desc,exec_time",
)
PRINTS = (
    "epoch 3, loss 0.25",
    "",
    "loss, 0.5, exec time",
    "exec",
    "trainer,step,3,exec,cpu,convolution,7.5",
    "took 12 ms,exec,3",
    "the line onednn_verbose,v1,primitive,exec,cpu,matmul means work",
)


def _line(rng: random.Random, event: str = "exec", primitive: str = "") -> str:
    ms = round(rng.uniform(0.001, 9.0), 6)
    size = "x".join(str(rng.randint(1, 64)) for _ in range(4))
    return (
        f"onednn_verbose,v1,primitive,{event},cpu,{primitive or rng.choice(PRIMITIVES)},jit:uni,undef,src:f32::blocked:abcd::f0 "
        f"dst:f32::blocked:aBcd16b::f0,attr-scratchpad:user,,{size},{ms}"
    )


def time_cases(rng: random.Random) -> list[Case]:
    """Executed lines only; with creation lines among them; with headers, other prints, or nothing at all."""

    def lines(count: int, event: str = "exec") -> list[str]:
        twice = rng.choice(PRIMITIVES)
        return [*(_line(rng, event, twice) for _ in range(2)), *(_line(rng, event) for _ in range(count - 2))]

    def shuffled(report: list[str]) -> list[str]:
        return rng.sample(report, len(report))

    cases = [Case("executed", (lines(rng.randint(6, 14)),)) for _ in range(4)]
    for event in ("create:cache_miss", "create:cache_hit"):
        cases.append(Case("creation", (shuffled(lines(rng.randint(4, 9)) + lines(rng.randint(2, 5), event)),)))
    noisy = [shuffled([*lines(rng.randint(3, 6)), *others]) for others in (HEADERS, PRINTS, (*HEADERS, *PRINTS))]
    return [
        *cases,
        *(Case("noise", (report,)) for report in noisy),
        Case("noise", (list(HEADERS),)),
        Case("noise", ([],)),
    ]


# --- 09-t-report ------------------------------------------------------------------------------------------

FIELDS = ("layer", "threads", "lines", "on_ms", "off_ms", "low", "high", "claim")
PAIRS = ("on_ms", "off_ms")
RATIOS = say("ratios")


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs, a witness in the log, a claim fit for the interval. Never speed."""
    return reports.judged(report, FIELDS, {"pairs": _paired, "witness": _witness, "claim": _claim}, say("praise"))


def _lines(report: dict) -> float | None:
    """The number of lines in the log; the lines themselves count too."""
    lines = report.get("lines")
    return float(len(lines)) if isinstance(lines, list) else reports.number(lines, 0)


def _paired(report: dict) -> Mark:
    return reports.paired(report, PAIRS, reports.threads_fault)


def _witness(report: dict) -> Mark:
    lines = _lines(report)
    if lines is None:
        return 0.0, say("lines")
    if lines > 0 or reports.words(report.get("claim")) == "undecided":
        return 1.0, None
    return 0.0, say("no-witness")


def _claim(report: dict) -> Mark:
    """Without a line in the log both sides ran the same code."""
    return reports.claim(report, PAIRS, RATIOS, nothing_differs=_lines(report) == 0)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="09-t-time", name="time_by_primitive", cases=time_cases, parts=PARTS["09-t-time"]),
    Task(id="09-t-report", name="report", judge=judge_report, points=3),
]
