"""Hidden cases of checkpoint 06: filter and chooser, what stands between two runs, and a report on repeats."""

from __future__ import annotations

import random
import re
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 06-t-engine ------------------------------------------------------------------------------------------


def _engines(rng: random.Random, notes: list[bool]) -> list[list[Any]]:
    """Engines [name, deterministic, time_ms] in heuristic order, all times different."""
    times = rng.sample(range(10, 400), len(notes))
    return [
        [f"engine{rng.randint(100, 999)}_{rng.randint(1, 9)}", note, ms / 10]
        for note, ms in zip(notes, times, strict=True)
    ]


def engine_cases(rng: random.Random) -> list[Case]:
    """Heuristic choice and timed choice, with and without the filter; limits; nothing left."""
    cases = []
    for _ in range(3):
        mixed = _engines(rng, [False, *rng.sample([True, True, False, True], 4)])
        mixed[0][2] = 0.5  # the first is quickest and not deterministic: only the filter keeps it out
        next(engine for engine in mixed if engine[1])[2] = 70.0  # the first that is left is slowest
        cases += [Case("filter", (mixed, benchmark, True, 10)) for benchmark in (False, True)]
        plain = _engines(rng, [True] * 5)
        plain[0][2] = 50.0
        cases += [Case("chooser", (plain, benchmark, False, 10)) for benchmark in (False, True)]
        cases.append(Case("chooser", (mixed, True, False, 10)))
        cases.append(Case("chooser", (_engines(rng, [True, False, True]), False, False, 1)))
    late = _engines(rng, [False, True, False, True, True])
    late[0][2], late[1][2], late[2][2], late[3][2], late[4][2] = 90.0, 3.0, 80.0, 2.0, 0.1
    none = [False] * 3
    return [
        *cases,
        Case("edges", (late, True, True, 2)),
        Case("edges", (late, True, True, 0)),
        Case("edges", (late, True, False, 0)),
        Case("edges", (late, True, False, 1)),
        Case("edges", (late, True, True, 3)),
        Case("edges", (_engines(rng, none), True, True, 10)),
        Case("edges", (_engines(rng, none), False, True, 10)),
        Case("edges", ([], True, False, 10)),
        Case("edges", ([], False, False, 0)),
    ]


# --- 06-t-obstacles ---------------------------------------------------------------------------------------

MUST_AGREE = ("seed", "device", "torch", "threads", "batch_size")
OTHER = {"seed": (100, 199), "threads": (9, 16), "batch_size": (65, 99)}


def _run(rng: random.Random, **changes: Any) -> dict[str, Any]:
    return {
        "seed": rng.randint(1, 99),
        "device": rng.choice(["cpu", "T4", "A100"]),
        "torch": "2.13.0",
        "threads": rng.randint(1, 8),
        "batch_size": rng.choice([16, 32, 64]),
        "benchmark": False,
        "deterministic_algorithms": True,
        "cudnn_deterministic": rng.choice([True, False]),
        "note": rng.choice(["night run", "again"]),
        **changes,
    }


def obstacles_cases(rng: random.Random) -> list[Case]:
    """One or several things that differ; switches that are wrong in one run or both; nothing at all."""

    def pair(part: str, one: dict | None = None, other: dict | None = None, base: dict | None = None) -> Case:
        run = _run(rng, **(base or {}))
        pair = [{**run, **(one or {})}, {**run, **(other or {})}]
        rng.shuffle(pair)
        return Case(part, tuple(pair))

    def differ(names: list[str]) -> dict[str, Any]:
        return {
            name: rng.randint(*OTHER[name])
            if name in OTHER
            else rng.choice(["2.11.0", "2.12.1"] if name == "torch" else ["H100", "mps"])
            for name in names
        }

    agree = [pair("agree", differ([name])) for name in MUST_AGREE]
    agree += [pair("agree", differ(rng.sample(MUST_AGREE, count))) for count in (2, 3, 5)]
    bad = rng.choice(["warn", False])
    switches = [
        pair("switches", {"benchmark": True}),
        pair("switches", base={"benchmark": True}),
        pair("switches", base={"deterministic_algorithms": False}),
        pair("switches", {"deterministic_algorithms": "warn"}),
        pair("switches", base={"deterministic_algorithms": "warn"}),
        pair("switches", {"benchmark": True}, {"deterministic_algorithms": bad}),
        pair("switches", {"benchmark": True}, base={"deterministic_algorithms": bad}),
    ]
    edges = [
        pair("edges"),
        pair("edges", {"note": "mine"}, {"note": "yours"}),
        pair("edges", {"cudnn_deterministic": True}, {"cudnn_deterministic": False}),
        pair("edges", base={"seed": None}),
        pair("edges", {"seed": None}, base={"threads": 1}),
        pair("edges", {"seed": None, "benchmark": True}),
        pair("edges", {"seed": None}, {"seed": 0}),
        pair("edges", base={"seed": 0}),
    ]
    return agree + switches + edges


# --- 06-t-report ------------------------------------------------------------------------------------------

LEAST = 5
FIELDS = ("device", "threads", "changed", "a", "b", "claim")
PRINT = re.compile(r"(0x)?[0-9a-f]{6,}", re.IGNORECASE)


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough repeats on both sides, what was changed and where, a claim the bits carry."""
    return reports.judged(report, FIELDS, {"repeats": _repeats, "told": _told, "claim": _claim}, say("praise"))


def _prints(value: Any) -> list:
    """The fingerprints of a list: hexadecimal texts of six digits and more, or whole numbers; empty for anything else."""
    good = isinstance(value, list) and all(
        bool(PRINT.fullmatch(one)) if isinstance(one, str) else isinstance(one, int) and not isinstance(one, bool)
        for one in value
    )
    return value if good else []


def _repeats(report: dict) -> Mark:
    for side in ("a", "b"):
        value = report.get(side)
        if reports.empty(value):
            return 0.0, say("missing", side=side)
        if not _prints(value):
            return 0.0, say("fingerprints", side=side)
        if len(value) < LEAST:
            return 0.0, say("few", side=side, count=len(value), least=LEAST)
    return 1.0, None


def _told(report: dict) -> Mark:
    for name in ("device", "threads", "changed"):
        value = report.get(name)
        number = name == "threads" and reports.number(value, 1) is not None
        several = name == "threads" and bool(reports.numbers(value, 1))
        if not (number or several or reports.words(value).strip(".")):
            return 0.0, say("told", name=name)
    return 1.0, None


def _claim(report: dict) -> Mark:
    a, b = _prints(report.get("a")), _prints(report.get("b"))
    if not (a and b):
        return 0.0, say("nothing-to-compare")
    supported = "same bits" if set(a) == set(b) else "different bits"
    if len(set(a)) > 1 or len(set(b)) > 1:
        supported = "not repeatable"
    if reports.words(report.get("claim")) == supported:
        return 1.0, None
    return 0.0, say("other-claim")


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="06-t-engine", name="choose_engine", cases=engine_cases, parts=PARTS["06-t-engine"]),
    Task(id="06-t-obstacles", name="obstacles", cases=obstacles_cases, parts=PARTS["06-t-obstacles"]),
    Task(id="06-t-report", name="report", judge=judge_report, points=3),
]
