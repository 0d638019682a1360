"""Hidden cases of checkpoint 04: switches that moved without being asked, and who is to be suspected."""

from __future__ import annotations

import random
from typing import Any

from grader.project.task import Case, Task, parts_beside

SWITCHES = (
    "enabled",
    "benchmark",
    "deterministic",
    "allow_tf32",
    "benchmark_limit",
    "fp32_precision",
    "depthwise_kernel",
)


# --- 04-t-moved -------------------------------------------------------------------------------------------


def _value(rng: random.Random, name: str, other_than: Any = None) -> Any:
    choices: list[Any] = [True, False]
    if name == "benchmark_limit":
        choices = [3, 10, 25]
    elif name in ("fp32_precision", "depthwise_kernel"):
        choices = ["none", "ieee", "tf32"] if name == "fp32_precision" else ["auto", "cudnn", "native"]
    return rng.choice([choice for choice in choices if choice != other_than])


def moved_cases(rng: random.Random) -> list[Case]:
    """Nothing named; some named, moved or not; nothing moved; a switch that only one side knows."""

    def state() -> dict[str, Any]:
        return {name: _value(rng, name) for name in rng.sample(SWITCHES, len(SWITCHES))}

    def turned(before: dict[str, Any], names: list[str]) -> dict[str, Any]:
        return {**before, **{name: _value(rng, name, before[name]) for name in names}}

    cases = []
    for _ in range(3):
        before, names = state(), ["benchmark_limit", *rng.sample([n for n in SWITCHES if n != "benchmark_limit"], 2)]
        cases.append(Case("moved", (before, turned(before, names), [])))
    for _ in range(3):
        before, names = state(), rng.sample(SWITCHES, 4)
        still = [name for name in SWITCHES if name not in names]
        cases.append(Case("named", (before, turned(before, names), [names[0], names[1], still[0]])))
    before, (lone, other) = state(), rng.sample(SWITCHES, 2)
    gone = {name: value for name, value in before.items() if name != lone}
    return [
        *cases,
        Case("edges", (before, dict(before), [])),
        Case("edges", ({}, {}, [other])),
        Case("edges", (before, gone, [])),
        Case("edges", (gone, before, [other])),
        Case("named", (gone, before, [lone])),
        Case("edges", ({**gone, lone: None}, gone, [])),
    ]


# --- 04-t-suspect -----------------------------------------------------------------------------------------


def suspect_cases(rng: random.Random) -> list[Case]:
    """Both small, one large, both large; errors exactly at the limit; results without a number."""

    def small(allowed: float) -> float:
        return allowed * rng.uniform(0.05, 0.9)

    def large(allowed: float) -> float:
        return allowed * rng.uniform(2.5, 1e4)

    cases = []
    for allowed in (1e-6, 1e-5, 2e-3):
        near = allowed * 1.5
        cases += [
            Case("two_errors", pair)
            for pair in (
                (small(allowed), small(allowed), allowed),
                (small(allowed), large(allowed), allowed),
                (large(allowed), small(allowed), allowed),
                (near, near * 1.1, allowed),
                (large(allowed), large(allowed), allowed),
            )
        ]
        cases += [
            Case("limit", pair)
            for pair in (
                (allowed, small(allowed), allowed),
                (large(allowed), allowed, allowed),
                (allowed, large(allowed), allowed),
                (allowed, allowed, allowed),
            )
        ]
        cases += [
            Case("no_number", pair)
            for pair in (
                (None, small(allowed), allowed),
                (small(allowed), None, allowed),
                (None, None, allowed),
                (None, large(allowed), allowed),
            )
        ]
    return cases


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="04-t-moved", name="moved_unasked", cases=moved_cases, parts=PARTS["04-t-moved"]),
    Task(id="04-t-suspect", name="suspect", cases=suspect_cases, parts=PARTS["04-t-suspect"]),
]
