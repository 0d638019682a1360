"""Hidden cases of checkpoint 06: filter and chooser, what stands between two runs, and a report on repeats."""

from __future__ import annotations

import random
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly
from grader.task import Case, Part, Task

# --- 06-t-engine ------------------------------------------------------------------------------------------

def _engines(rng: random.Random, notes: list[bool]) -> list[list[Any]]:
    """Engines [name, deterministic, time_ms] in heuristic order, all times different."""
    times = rng.sample(range(10, 400), len(notes))
    return [[f"engine{rng.randint(100, 999)}_{i}", note, ms / 10] for i, (note, ms) in
            enumerate(zip(notes, times, strict=True))]


def engine_cases(rng: random.Random) -> list[Case]:
    """Heuristic choice and timed choice, with and without the filter; limits; nothing left."""
    cases = []
    for _ in range(3):
        mixed = _engines(rng, [False, *rng.sample([True, True, False, True], 4)])
        mixed[0][2] = 0.5  # the first is quickest and not deterministic: only the filter keeps it out
        cases += [Case("filter", (mixed, benchmark, True, 10)) for benchmark in (False, True)]
        plain = _engines(rng, [True] * 5)
        plain[0][2] = 50.0
        cases += [Case("chooser", (plain, benchmark, False, 10)) for benchmark in (False, True)]
        cases.append(Case("chooser", (mixed, True, False, 10)))
    late = _engines(rng, [False, True, False, True, True])
    late[4][2], late[1][2], late[3][2] = 0.1, 3.0, 2.0
    cases += [Case("edges", (late, True, True, 2)), Case("edges", (late, True, True, 0)),
              Case("edges", (late, True, False, 1)), Case("edges", (_engines(rng, [False] * 3), True, True, 10)),
              Case("edges", (_engines(rng, [False] * 3), False, True, 10)), Case("edges", ([], True, False, 10))]
    return cases


def engine_reference(engines: list[list[Any]], benchmark: bool, deterministic: bool, limit: int) -> str | None:
    """Filter first; then the first left, or the quickest of the first ``limit`` left (0: of all)."""
    left = [engine for engine in engines if engine[1] or not deterministic]
    if not left:
        return None
    if not benchmark:
        return left[0][0]
    return min(left[:limit or None], key=lambda engine: engine[2])[0]


# --- 06-t-obstacles ---------------------------------------------------------------------------------------

MUST_AGREE = ("seed", "device", "torch", "threads", "batch_size")


def _run(rng: random.Random, **changes: Any) -> dict[str, Any]:
    return {"seed": rng.randint(0, 99), "device": rng.choice(["cpu", "T4", "A100"]), "torch": "2.13.0",
            "threads": rng.randint(1, 8), "batch_size": rng.choice([16, 32, 64]), "benchmark": False,
            "deterministic_algorithms": True, "cudnn_deterministic": rng.choice([True, False]),
            "note": rng.choice(["night run", "again"]), **changes}


def obstacles_cases(rng: random.Random) -> list[Case]:
    """One or several things that differ; switches that are wrong in one run or both; nothing at all."""
    def pair(part: str, one: dict | None = None, other: dict | None = None, base: dict | None = None) -> Case:
        run = _run(rng, **(base or {}))
        return Case(part, ({**run, **(one or {})}, {**run, **(other or {})}))

    agree = [pair("agree", {"threads": 2}, {"threads": 5}), pair("agree", {"device": "T4"}, {"device": "H100"}),
             pair("agree", {"torch": "2.11.0", "batch_size": 8}), pair("agree", {"seed": 101}, {"seed": 102})]
    switches = [pair("switches", {"benchmark": True}), pair("switches", base={"benchmark": True}),
                pair("switches", base={"deterministic_algorithms": False}),
                pair("switches", other={"deterministic_algorithms": "warn"}),
                pair("switches", {"benchmark": True}, {"deterministic_algorithms": False})]
    edges = [pair("edges"), pair("edges", {"note": "mine"}, {"note": "yours"}),
             pair("edges", {"cudnn_deterministic": True}, {"cudnn_deterministic": False}),
             pair("edges", base={"seed": None}), pair("edges", {"seed": None}, base={"threads": 1})]
    return agree + switches + edges


def obstacles_reference(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Names in alphabetical order, as the checkpoint's comment lays down."""
    found = {name for name in MUST_AGREE if a[name] != b[name]}
    for run in (a, b):
        found |= {"seed"} if run["seed"] is None else set()
        found |= {"benchmark"} if run["benchmark"] else set()
        found |= {"deterministic_algorithms"} if run["deterministic_algorithms"] is not True else set()
    return sorted(found)


# --- 06-t-report ------------------------------------------------------------------------------------------

LEAST = 5
CLAIMS = ("same bits", "different bits", "not repeatable")


def _prints(value: Any) -> list[str]:
    """The fingerprints of a list of non-empty strings; empty for anything else."""
    return value if isinstance(value, list) and all(isinstance(v, str) and v for v in value) else []


def judge_report(report: Any) -> Verdict:
    """One point each: enough repeats on both sides, what was changed and where, a claim the bits carry."""
    if not isinstance(report, dict):
        return incorrect(both("The report is not a dictionary.", "报告不是字典。"), max_points=3)
    a, b = _prints(report.get("a")), _prints(report.get("b"))
    reasons = []
    enough = min(len(a), len(b)) >= LEAST
    if not enough:
        reasons.append(both(f"Each side needs at least {LEAST} fingerprints: one run cannot show that it "
                            f"repeats.",
                            f"每边至少要 {LEAST} 个指纹：只跑一次，看不出能否重复。"))
    threads = report.get("threads")
    told = (all(isinstance(report.get(name), str) and report[name].strip() for name in ("device", "changed"))
            and isinstance(threads, (int, str)) and not isinstance(threads, bool) and bool(threads))
    if not told:
        reasons.append(both("Say the device, the number of threads and the one thing that was changed.",
                            "要写明设备、线程数，以及改动的那一样东西。"))
    carried = bool(a and b) and report.get("claim") == _claim(a, b)
    if not carried:
        reasons.append(both("The claim does not fit the fingerprints. A side with several of them is not "
                            "repeatable, and "
                            "then the two sides cannot be compared.",
                            "结论与指纹不符。某一边有多种指纹，就是不可重复，两边也就没法比较。"))
    points = enough + told + carried
    if points == 3:
        return correct(both("Repeats on both sides, one named change, and a claim the bits carry.",
                            "两边都有重复，改动写明了，结论也有指纹支撑。"), points=3)
    return partly(points, 3, *reasons) if points else incorrect(*reasons, max_points=3)


def _claim(a: list[str], b: list[str]) -> str:
    if len(set(a)) > 1 or len(set(b)) > 1:
        return "not repeatable"
    return "same bits" if set(a) == set(b) else "different bits"


TASKS = [
    Task(id="06-t-engine", name="choose_engine", cases=engine_cases, reference=engine_reference, parts={
        "filter": Part(2, both("Wrong with deterministic=True: whom does the filter let through?",
                               "deterministic=True 时不对：过滤之后还剩谁？")),
        "chooser": Part(2, both("Wrong without the filter: first of the list, or quickest of those timed.",
                                "不过滤时不对：是取第一个，还是取计时最快的？")),
        "edges": Part(1, both("Wrong where the limit bites, or where no engine is left.",
                              "limit 起作用，或一个引擎都不剩时不对。"))}),
    Task(id="06-t-obstacles", name="obstacles", cases=obstacles_cases, reference=obstacles_reference, parts={
        "agree": Part(1, both("Wrong where the two runs differ in what has to agree.",
                              "两次运行在必须一致的地方不同时不对。")),
        "switches": Part(2, both("Wrong where a switch is set badly, in one run or in both.",
                                 "某个开关设得不对（一边或两边）时不对。")),
        "edges": Part(1, both("Wrong without a seed, with differences that do not matter, or with none.",
                              "没有种子、只有无关紧要的差别，或毫无差别时不对。"))}),
    Task(id="06-t-report", name="report", judge=judge_report, points=3),
]
