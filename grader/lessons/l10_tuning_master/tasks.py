"""Hidden cases of checkpoint 10: which setting to hand in, and a measured choice reported by the rules."""

from __future__ import annotations

import random
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

LIMIT = 0.01

# --- 10-t-choose ------------------------------------------------------------------------------------------


def _row(name: str, ratio: float, half: float, error: float = 0.0) -> dict[str, Any]:
    return {
        "name": name,
        "low": round(ratio - half, 4),
        "ratio": round(ratio, 4),
        "high": round(ratio + half, 4),
        "error": error,
    }


def _names(rng: random.Random, count: int) -> list[str]:
    return rng.sample(["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heron"], count)


def choose_cases(rng: random.Random) -> list[Case]:
    """The fastest is permitted; the fastest breaks the limit; today cannot be told from the best; nothing is permitted."""
    cases = []
    for _ in range(3):
        today, good, slow = _names(rng, 3)
        best = rng.uniform(0.3, 0.7)
        rows = [
            _row(today, 1.0, 0.02),
            _row(good, best, 0.02, rng.choice([0.0, LIMIT])),
            _row(slow, rng.uniform(1.2, 2.0), 0.1),
        ]
        cases.append(Case("fastest", (rng.sample(rows, 3), today, LIMIT)))
    for _ in range(3):
        today, good, fast, slow = _names(rng, 4)
        best = rng.uniform(0.4, 0.7)
        rows = [
            *(_row(today, 1.0, 0.02), _row(good, best, 0.02), _row(slow, rng.uniform(1.2, 2.0), 0.1)),
            _row(fast, best - 0.1, 0.02, rng.choice([0.011, 0.05, 0.4])) | {"high": 1.3},  # out, and sets no bar
        ]
        cases.append(Case("limit", (rng.sample(rows, 4), today, LIMIT)))
    for _ in range(3):
        today, near, slow = _names(rng, 3)
        rows = [
            _row(today, 1.0, 0.03),
            _row(near, rng.uniform(0.95, 0.99), 0.05),
            _row(slow, rng.uniform(1.2, 2.0), 0.1),
        ]
        cases.append(Case("today", (rng.sample(rows, 3), today, LIMIT)))
    today, near = _names(rng, 2)  # ends that touch
    cases.append(Case("today", ([_row(near, 0.9, 0.05), {**_row(today, 1.0, 0.05), "low": 0.95}], today, LIMIT)))
    today, good, slow = _names(rng, 3)  # today breaks the limit itself, and may not be kept
    rows = [_row(today, 1.0, 0.03, 0.2), _row(good, 1.02, 0.05), _row(slow, 1.8, 0.1)]
    cases.append(Case("limit", (rng.sample(rows, 3), today, LIMIT)))
    today, one, other = _names(rng, 3)
    rows = [_row(name, rng.uniform(0.3, 1.4), 0.05, rng.uniform(0.02, 0.5)) for name in (today, one, other)]
    now, only, fast = _names(rng, 3)
    few = [_row(now, 1.0, 0.03, 0.3), _row(only, rng.uniform(0.5, 0.8), 0.03), _row(fast, 0.3, 0.03, 0.04)]
    lone = Case("nothing", (rng.sample(few, 3), now, LIMIT))
    return [*cases, lone, Case("nothing", (rows, today, LIMIT)), Case("nothing", ([], today, LIMIT))]


# --- 10-t-report ------------------------------------------------------------------------------------------

FIELDS = ("today", "change", "today_ms", "change_ms", "low", "high", "claim", "must_not_break", "kept")
PAIRS = ("change_ms", "today_ms")
RATIOS = say("ratios")


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs of two named settings, a requirement with its answer, a claim fit for the interval."""
    return reports.judged(report, FIELDS, {"pairs": _paired, "requirement": _required, "claim": _claim}, say("praise"))


def _paired(report: dict) -> Mark:
    fault = reports.samples_fault(report, PAIRS, 1e-12)
    names = [reports.words(report.get(name)) for name in ("today", "change")]
    if fault is None and (not all(names) or "..." in names or names[0] == names[1]):
        fault = say("two-settings")
    return reports.mark(fault, reports.PAIRED)


def _required(report: dict) -> Mark:
    told = reports.words(report.get("must_not_break"))
    if told and told != "..." and isinstance(report.get("kept"), bool):
        return 1.0, None
    return 0.0, say("requirement")


def _claim(report: dict) -> Mark:
    return reports.claim(report, PAIRS, RATIOS)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="10-t-choose", name="choose", cases=choose_cases, parts=PARTS["10-t-choose"]),
    Task(id="10-t-report", name="report", judge=judge_report, points=3),
]
