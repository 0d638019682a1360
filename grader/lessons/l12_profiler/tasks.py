"""Hidden cases of checkpoint 12: time outside of events, own time by name, and a report on the profiler's cost."""

from __future__ import annotations

import itertools
import random
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 12-t-gap ---------------------------------------------------------------------------------------------


def gap_cases(rng: random.Random) -> list[Case]:
    """Events apart, held by each other, overlapping, out of order, beyond the ends; none, and the whole covered."""

    def apart(count: int, first: float = 0.0) -> list[list[float]]:
        events, at = [], first
        for _ in range(count):
            at += rng.randint(1, 20)
            stop = at + rng.randint(2, 30)
            events.append([float(at), float(stop)])
            at = stop
        return events

    def ends(events: list[list[float]]) -> tuple[float, float]:
        return 0.0, max(stop for _, stop in events) + rng.randint(1, 9)

    def shuffled(events: list[list[float]]) -> list[list[float]]:
        return rng.sample(events, len(events))

    cases = []
    for _ in range(4):
        events = apart(rng.randint(2, 6))
        cases.append(Case("apart", (events, *ends(events))))
    for _ in range(4):
        outer = apart(rng.randint(2, 4))
        inner = [[begin + 0.5, rng.choice((stop, stop - 0.25))] for begin, stop in outer]
        cases.append(Case("nested", (sorted(outer + inner), *ends(outer))))
    for _ in range(4):
        events = apart(rng.randint(3, 6))
        crossing = [[begin + 1.0, stop + rng.choice((0.5, 3.0, 40.0))] for begin, stop in events[:-1]]
        cases.append(Case("overlap", (shuffled(events + crossing), *ends(events + crossing))))
    for _ in range(4):
        events = apart(rng.randint(2, 5))
        _, last = ends(events)
        start = rng.choice((events[0][0] + 1.0, events[0][1] + 0.5))
        cases.append(Case("beyond", (shuffled([*events, [last - 2.0, last + 9.0], [-8.0, -3.0]]), start, last)))
    stop = float(rng.randint(3, 50))
    return [
        *cases,
        Case("beyond", ([], 1.0, stop + 2.0)),
        Case("beyond", ([[0.0, stop]], 0.0, stop)),
        Case("beyond", ([[-5.0, stop + 5.0]], 0.0, stop)),
        Case("beyond", ([[stop + 1.0, stop + 4.0]], 0.0, stop)),
    ]


# --- 12-t-self --------------------------------------------------------------------------------------------


def self_cases(rng: random.Random) -> list[Case]:
    """Events side by side; one in another; several levels with siblings; equal names inside each other; touching; none."""

    numbers = itertools.count(rng.randint(1, 99))

    def name() -> str:
        return rng.choice("abcdefgh") + str(next(numbers))

    def tree(at: float, levels: int, names: Any) -> tuple[list[list], float]:
        """An event from `at` on with one to three inside, down to `levels`; and where it ends."""
        begin, inside, at = at, [], at + rng.randint(0, 3)
        for _ in range(rng.randint(1, 3) if levels else 0):
            children, at = tree(at, levels - 1, names)
            inside += children
            at += rng.randint(0, 2)
        stop = at + rng.randint(1, 9)
        return [[names(), float(begin), float(stop)], *inside], float(stop)

    def forest(levels: int, count: int, names: Any = name) -> list[list]:
        events, at = [], float(rng.randint(0, 5))
        for _ in range(count):
            one, at = tree(at, levels, names)
            events += one
            at += rng.randint(0, 4)
        return events

    def few() -> str:
        return rng.choice(("conv", "relu"))

    again = forest(0, 3, lambda: "add")
    return [
        *[Case("flat", (forest(0, rng.randint(2, 5)),)) for _ in range(3)],
        *[Case("nested", (forest(1, rng.randint(1, 3)),)) for _ in range(4)],
        *[Case("deep", (forest(rng.randint(2, 3), rng.randint(1, 2)),)) for _ in range(5)],
        *[Case("names", (forest(levels, 2, few),)) for levels in (1, 1, 2, 2)],
        Case("names", (again,)),
        Case("flat", ([],)),
    ]


# --- 12-t-report ------------------------------------------------------------------------------------------

CLAIMS = {
    "slower": lambda low, high: low > 1,
    "same": lambda low, high: low >= 0.9 and high <= 1.1,
    "undecided": lambda low, high: low <= 1 <= high or high < 1,
}
FIELDS = ("work", "plain_ms", "profiled_ms", "low", "high", "claim")
PAIRS = ("plain_ms", "profiled_ms")
WORKS = ("many small", "few large")
RATIOS = say("ratios")


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs of a named work, an interval that fits them, a claim that fits the interval. Never speed."""
    return reports.judged(report, FIELDS, {"pairs": _pairs, "interval": _interval, "claim": _claim}, say("praise"))


def _ratios(report: dict) -> list[float] | None:
    """profiled / plain of each pair; None without sound pairs."""
    if reports.samples_fault(report, PAIRS, 1e-12) is not None:
        return None
    return [one / other for one, other in zip(report["profiled_ms"], report["plain_ms"], strict=True)]


def _pairs(report: dict) -> Mark:
    if reports.words(report.get("work")) not in WORKS:
        return 0.0, say("work")
    return reports.paired(report, PAIRS)


def _interval(report: dict) -> Mark:
    found = _ratios(report)
    if found is None:
        return 0.0, say("no-pairs")
    return reports.mark(reports.interval_fault(report, found, RATIOS), say("interval"))


def _claim(report: dict) -> Mark:
    low, high = reports.number(report.get("low")), reports.number(report.get("high"))
    fits = CLAIMS.get(reports.words(report.get("claim")))
    if fits is not None and low is not None and high is not None and low <= high and fits(low, high):
        return 1.0, None
    return 0.0, say("other-claim")


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="12-t-gap", name="outside_us", cases=gap_cases, parts=PARTS["12-t-gap"]),
    Task(id="12-t-self", name="self_by_name", cases=self_cases, parts=PARTS["12-t-self"]),
    Task(id="12-t-report", name="report", judge=judge_report, points=3),
]
