"""Hidden tasks of checkpoint 02: the interval of a median, a verdict, and a report judged on protocol."""

from __future__ import annotations

import random
from typing import Any

from course.core.i18n import both
from course.timing.stats import drift
from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 02-t-interval ----------------------------------------------------------------------------------------


def interval_cases(rng: random.Random) -> list[Case]:
    """Unsorted readings with a few interruptions, and sets too small for an interval."""

    def readings(count: int) -> list[float]:
        return [round(rng.uniform(1, 2) + (rng.random() < 0.1) * rng.uniform(5, 50), 4) for _ in range(count)]

    counts = [7, 9, 12, 20, *rng.sample(range(8, 60), 3)]
    few = [1, 5, rng.choice([2, 3, 4]), 6]  # six are just enough
    return [Case("typical", (readings(n),)) for n in counts] + [Case("few", (readings(n),)) for n in few]


# --- 02-t-verdict -----------------------------------------------------------------------------------------


def verdict_cases(rng: random.Random) -> list[Case]:
    """Winners (also tiny ones inside the gate), narrow intervals around 1 up to the gate itself, and wide ones.

    Gates and ends are binary fractions, so that however somebody compares them, rounding decides nothing.
    """
    tick = 1 / 4096

    def between(low: float, high: float) -> float:
        return rng.randint(round(low / tick), round(high / tick)) * tick

    gate = between(0.016, 0.06)
    part = between(gate / 9, gate / 3)
    clear = rng.choice([(between(0.7, 0.8), between(0.82, 0.9)), (between(1.1, 1.3), between(1.4, 1.6))])
    winners = [
        (between(0.6, 0.8), between(0.82, 0.93)),
        (between(1.07, 1.2), between(1.3, 1.7)),
        (between(0.4, 0.6), 1 - part),
        (1 + part, between(2, 4)),
        (1 - 2 * part, 1 - part),
        (1 + part, 1 + 2 * part),
    ]
    same = [
        (1 - part, 1 + part),
        (1.0, 1 + part),
        (1 - part, 1.0),
        (1 - gate, 1 + gate),
        (1 - gate, 1 + part),
        (1 - part, 1 + gate),
        clear,
    ]
    undecided = [
        (between(0.8, 0.9), between(1.1, 1.2)),
        (1 - part, between(1.2, 1.3)),
        (between(0.7, 0.8), 1 + part),
        (1.0, 1 + 3 * gate),
        (1 - 3 * gate, 1.0),
        (1.0, 1 + 1.5 * gate),
        (1 - 1.5 * gate, 1.0),
        clear,
    ]
    return [
        Case(name, (low, high, gate))
        for name, pairs in (("winner", winners), ("same", same), ("undecided", undecided))
        for low, high in pairs
    ]


# --- 02-t-report ------------------------------------------------------------------------------------------

CLAIMS = ("faster", "slower", "same", "undecided")
FIELDS = ("device", "threads", "warmup_calls", "fence", "ratios", "low", "high", "gate", "claim")
LEAST_WARMUP, LEAST_ROUNDS = 3, 10
WIDEST_GATE = 0.2
TOO_SMALL = 0.005  # `compare` names no winner so near to 1, so neither need a report
RATIOS = say("ratios")


def judge_report(report: Any) -> reports.Verdict:
    """A point each for warm-up, fence, repeats with an interval, and an honest claim. None for speed."""
    return reports.judged(
        report, FIELDS, {"warm": _warm, "fence": _fence, "repeat": _repeat, "claim": _claim}, say("praise")
    )


def _warm(report: dict) -> Mark:
    if reports.number(report.get("warmup_calls"), LEAST_WARMUP) is not None:
        return 1.0, None
    return 0.0, say("warm", least_warmup=LEAST_WARMUP)


def _fence(report: dict) -> Mark:
    device, fence = reports.words(report.get("device")), reports.words(report.get("fence"))
    if not device or device == "none":
        return 0.0, say("no-device")
    if device.startswith("cpu"):
        if fence in ("none needed", "none", "synchronize"):
            return 1.0, None
        return 0.0, say("cpu-fence")
    if fence in ("synchronize", "events"):
        return 1.0, None
    return 0.0, say("queue-fence")


def _repeat(report: dict) -> Mark:
    fault = reports.samples_fault(report, ("ratios",), 1e-9)
    if fault is None and len(report["ratios"]) < LEAST_ROUNDS:
        fault = say("rounds", least_rounds=LEAST_ROUNDS)
    fault = fault or reports.interval_fault(report, report["ratios"], RATIOS)
    return reports.mark(fault, say("repeat"))


def _claim(report: dict) -> Mark:
    claim, gate = reports.words(report.get("claim")), reports.number(report.get("gate"), 1e-9)
    if claim not in CLAIMS:
        return 0.0, say("one-of", names=both(", ".join(CLAIMS), "、".join(CLAIMS)))
    if reports.number(report.get("threads"), 1) is None:
        return 0.0, say("threads")
    if gate is None or gate > WIDEST_GATE or _repeat(report)[1]:
        return 0.0, say("rests-on")
    low, high = report["low"], report["high"]
    inside, near = 1 - gate <= low and high <= 1 + gate, low <= 1 + TOO_SMALL and high >= 1 - TOO_SMALL
    supported = {"faster": high < 1, "slower": low > 1, "same": inside and near, "undecided": not inside and near}
    if supported[claim]:
        return 1.0, None
    if claim == "undecided":  # a reason may lie in what the interval does not hold: a drift, threads that waited
        if drift(report["ratios"], gate) or reports.words(report.get("why")) not in ("", "..."):
            return 1.0, None
        return 0.5, say("carries-more")
    return 0.0, say("not-carried", claim=claim)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="02-t-interval", name="interval_of_median", cases=interval_cases, parts=PARTS["02-t-interval"]),
    Task(id="02-t-verdict", name="honest_verdict", cases=verdict_cases, parts=PARTS["02-t-verdict"]),
    Task(id="02-t-report", name="report", judge=judge_report, points=4),
]
