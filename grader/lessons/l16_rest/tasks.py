"""Hidden cases of checkpoint 16: copies of a script on cores, and a race of int8 against float32 reported by the rules."""

from __future__ import annotations

import random
from typing import Any

from course.core.i18n import both
from grader.marking import reports
from grader.marking.reports import Mark
from grader.project.task import Case, Task, parts_beside

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
RATIOS = both("int8 over float32", "“int8 除以 float32”")
ENGINES = ("x86", "fbgemm", "onednn", "qnnpack")
LARGEST = 1e4  # beyond it no product of ordinary numbers was computed


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs with their conditions, an engine with its rounding error, a claim fit for the interval."""
    return reports.judged(
        report,
        FIELDS,
        {"pairs": _paired, "witness": _witness, "claim": _claim},
        both(
            "Enough pairs, the engine and its error named, and a claim the interval carries.",
            "对数足够，写明了引擎和误差，结论有区间支撑。",
        ),
    )


def _paired(report: dict) -> Mark:
    return reports.paired(report, PAIRS, reports.threads_fault, reports.shape_fault)


def _witness(report: dict) -> Mark:
    error = reports.number(report.get("error"), 0)
    if reports.words(report.get("engine")) not in ENGINES:
        return 0.0, both(
            f"witness: `engine` should be the one that packed the weight: {', '.join(ENGINES)}.",
            f"证人：`engine` 应写给权重打包的那个引擎：{'、'.join(ENGINES)}。",
        )
    if error is None or not 0 < error <= LARGEST:
        return 0.0, both(
            "witness: `error` should be the largest difference to the float32 result. It is never 0: int8 rounds.",
            "证人：`error` 应写与 float32 结果的最大差别。它不会是 0：int8 有舍入。",
        )
    return 1.0, None


def _claim(report: dict) -> Mark:
    return reports.claim(report, PAIRS, RATIOS)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="16-t-copies", name="place_copies", cases=copies_cases, parts=PARTS["16-t-copies"]),
    Task(id="16-t-report", name="report", judge=judge_report, points=3),
]
