"""Hidden cases of checkpoint 13: the attention kernel by rule, compilations by checks, and a race reported by the rules."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from grader.lessons import reports
from grader.lessons.reports import Mark
from grader.marking.said import beside
from grader.project.task import Case, Task, parts_beside

say = beside(__file__)

# --- 13-t-kernel ------------------------------------------------------------------------------------------

NAMES = ("q", "k", "v")


def _call(rng: random.Random, **changes: Any) -> dict[str, Any]:
    """A call that flash takes, with changes: another shape for q, k or v (a function of the old one), dropout, mask."""
    batch, heads, width = rng.randint(2, 8), rng.randint(2, 12), rng.choice([16, 32, 64])
    queries = rng.randint(2, 300)
    keys = queries + rng.randint(1, 40)
    call = {
        "q": [batch, heads, queries, width],
        "k": [batch, heads, keys, width],
        "v": [batch, heads, keys, width],
        "dropout": 0.0,
        "mask": "none",
    }
    return {**call, **{name: change(call[name]) if callable(change) else change for name, change in changes.items()}}


def _larger(place: int, by: int) -> Callable[[list[int]], list[int]]:
    return lambda shape: [*shape[:place], shape[place] + by, *shape[place + 1 :]]


def _misfits(rng: random.Random) -> list[dict[str, Any]]:
    """One call for each reason why flash refuses, with the other things as they should be."""
    return [
        _call(rng, dropout=rng.choice([0.001, 0.1, 0.5])),
        _call(rng, mask="learnt"),
        _call(rng, **{name: (lambda shape: shape[1:]) for name in NAMES}),
        _call(rng, **{name: (lambda shape: [2, *shape]) for name in NAMES}),
        _call(rng, v=_larger(3, rng.choice([-8, 8]))),
        _call(rng, q=_larger(3, 8)),
        _call(rng, k=_larger(3, 8)),
        _call(rng, k=_larger(1, 1), v=_larger(1, 1)),
        _call(rng, q=_larger(1, 2)),
        _call(rng, q=_larger(0, 1)),
        _call(rng, v=_larger(0, 1)),
    ]


def kernel_cases(rng: random.Random) -> list[Case]:
    """All kernels allowed; then fewer; then shapes that look odd and fit, and a call with several reasons."""
    every = ["flash", "math", "efficient", "cudnn"]
    fits = [_call(rng), _call(rng, mask="fixed"), _call(rng, dropout=0), *_misfits(rng)]
    hopeless = _call(rng, v=_larger(3, 8), dropout=0.2, mask="learnt")
    switches = [
        Case("switches", (call, allowed))
        for allowed in (["math"], ["flash"], ["efficient", "cudnn"], ["math", "cudnn"], ["flash", "efficient"], [])
        for call in (_call(rng), hopeless)
    ]

    def one_query(shape: list[int]) -> list[int]:
        return [*shape[:2], 1, shape[3]]

    edges = [
        _call(rng, q=one_query),
        _call(rng, **{name: (lambda shape: [1, 1, *shape[2:]]) for name in NAMES}),
        _call(rng, mask="fixed", q=one_query),
        hopeless,
    ]
    return [
        *(Case("fits", (call, rng.sample(every, 4))) for call in fits),
        *switches,
        *(Case("edges", (call, ["flash", "math"])) for call in edges),
    ]


# --- 13-t-compiles ----------------------------------------------------------------------------------------

SETTINGS = {
    "threads": (1, 2, 4),
    "grad": (True, False),
    "deterministic": (True, False),
    "dtype": ("float32", "float64"),
    "cudnn.benchmark": (True, False),
    "mkldnn.enabled": (True, False),
}


def compiles_cases(rng: random.Random) -> list[Case]:
    """Settings that go and come back; moves that nobody checks; more versions than may be kept."""

    def call(**fixed: Any) -> dict[str, Any]:
        return {name: fixed.get(name, rng.choice(values)) for name, values in SETTINGS.items()}

    def repeated(count: int, names: list[str], steady: dict[str, Any]) -> list[dict[str, Any]]:
        """``count`` calls and the first of them again at the end, with the names in them free and the rest steady."""
        calls = [{**steady, **{name: rng.choice(SETTINGS[name]) for name in names}} for _ in range(count)]
        return [*calls, dict(calls[0])]

    checked, free = ["threads", "grad", "deterministic"], ["cudnn.benchmark", "mkldnn.enabled"]
    cases = [Case("distinct", (repeated(rng.randint(6, 9), checked, call()), checked, 50)) for _ in range(3)]
    cases.append(Case("distinct", ([call() for _ in range(12)], list(SETTINGS), 50)))
    steady = call()
    cases.append(Case("distinct", ([{**steady, "threads": n} for n in (1, 2, 1, 2, 4, 1)], ["threads", "grad"], 50)))
    cases += [Case("free", (repeated(rng.randint(6, 9), free, call()), checked, 50)) for _ in range(2)]
    cases.append(Case("free", ([{**call(), "threads": n} for n in (1, 1, 1, 2, 2, 2)], ["threads"], 50)))
    cases.append(Case("free", ([call() for _ in range(6)], [], 50)))
    many = [call(threads=n, grad=g, deterministic=d) for n in (1, 2, 4) for g in (True, False) for d in (True, False)]
    cases += [Case("limit", (rng.sample(many, 12), checked, limit)) for limit in (1, rng.randint(2, 11), 12, 13)]
    cases.append(Case("limit", ([*rng.sample(many, 12), *rng.sample(many, 12)], checked, rng.randint(3, 8))))
    cases.append(Case("limit", ([], checked, 8)))
    return cases


# --- 13-t-report ------------------------------------------------------------------------------------------

FIELDS = ("shape", "threads", "kernels", "flash_ms", "math_ms", "low", "high", "difference", "claim")
PAIRS = ("flash_ms", "math_ms")
RATIOS = say("ratios")
LARGEST = 0.1  # results further apart than this are no rounding of outputs of size 1


def judge_report(report: Any) -> reports.Verdict:
    """One point each: enough pairs with their conditions, both kernels seen to run, a claim fit for the interval."""
    return reports.judged(report, FIELDS, {"pairs": _paired, "witness": _witness, "claim": _claim}, say("praise"))


def _paired(report: dict) -> Mark:
    return reports.paired(report, PAIRS, reports.threads_fault, reports.shape_fault)


def _witness(report: dict) -> Mark:
    kernels, difference = report.get("kernels"), reports.number(report.get("difference"), 0)
    seen = [reports.words(one) for one in kernels] if isinstance(kernels, list) else []
    if seen != ["flash", "math"]:
        return 0.0, say("kernels")
    if difference is None or difference > LARGEST:
        return 0.0, say("difference")
    return 1.0, None


def _claim(report: dict) -> Mark:
    return reports.claim(report, PAIRS, RATIOS)


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="13-t-kernel", name="pick_kernel", cases=kernel_cases, parts=PARTS["13-t-kernel"]),
    Task(id="13-t-compiles", name="compilations", cases=compiles_cases, parts=PARTS["13-t-compiles"]),
    Task(id="13-t-report", name="report", judge=judge_report, points=3),
]
