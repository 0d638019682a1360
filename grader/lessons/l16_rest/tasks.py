"""Hidden cases of checkpoint 16: copies of a script on cores, and a race of int8 against float32 reported by the rules."""

from __future__ import annotations

import random
from typing import Any

from course.core.i18n import both
from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 16-t-copies ------------------------------------------------------------------------------------------


def _cores(rng: random.Random, count: int) -> list[int]:
    """Numbers of cores as a server gives them: in order, from anywhere, with gaps."""
    return sorted(rng.sample(range(rng.randint(3, 40), 120), count))


def copies_cases(rng: random.Random) -> list[Case]:
    """Plans that fit with cores left over; that do not fit, by one core or by far, or just do; and plain borders."""
    fits, refuses, edges = [], [], []
    for _ in range(4):
        copies, per_copy = rng.randint(2, 5), rng.randint(2, 6)
        fits.append((_cores(rng, copies * per_copy + rng.randint(1, per_copy)), copies, per_copy))
        refuses.append((_cores(rng, copies * per_copy - 1), copies, per_copy))
    refuses.append(
        (_cores(rng, copies * per_copy), copies, per_copy)
    )  # and one that just fits: else one answer serves for all
    refuses += [(_cores(rng, rng.randint(1, 3)), 1, 4), (_cores(rng, rng.randint(2, 6)), 0, rng.randint(1, 4))]
    refuses.append(([], 1, 1))
    for copies, per_copy in ((1, rng.randint(2, 6)), (rng.randint(2, 6), 1), (rng.randint(2, 4), rng.randint(2, 4))):
        edges.append((_cores(rng, copies * per_copy), copies, per_copy))
    parts = {"fits": fits, "refuses": refuses, "edges": edges}
    return [Case(part, case) for part, cases in parts.items() for case in cases]


# --- 16-t-report ------------------------------------------------------------------------------------------

FIELDS = ("engine", "shape", "threads", "int8_ms", "float32_ms", "low", "high", "error", "claim")
PAIRS = ("int8_ms", "float32_ms")
RATIOS = say("ratios")
ENGINES = ("x86", "fbgemm", "onednn", "qnnpack")
LARGEST = 1e4  # beyond it no product of ordinary numbers was computed


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs with their conditions, an engine with its rounding error, a claim fit for the interval."""
    return reports.judged(report, FIELDS, {"pairs": _paired, "witness": _witness, "claim": _claim}, say("praise"))


def _paired(report: dict) -> Mark:
    return reports.paired(report, PAIRS, reports.threads_fault, reports.shape_fault)


def _witness(report: dict) -> Mark:
    error = reports.number(report.get("error"), 0)
    if reports.words(report.get("engine")) not in ENGINES:
        return 0.0, say("engine", names=both(", ".join(ENGINES), "、".join(ENGINES)))
    if error is None or not 0 < error <= LARGEST:
        return 0.0, say("error")
    return 1.0, None


def _claim(report: dict) -> Mark:
    return reports.claim(report, PAIRS, RATIOS)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="16-t-copies", name="place_copies", cases=copies_cases, parts=PARTS["16-t-copies"]),
    Task(id="16-t-report", name="report", judge=judge_report, points=3),
]
