"""Hidden cases of checkpoint 04: switches that moved without being asked, and who is to be suspected."""

from __future__ import annotations

import random
from typing import Any

from course.i18n import both
from grader.task import Case, Part, Task

SWITCHES = ("enabled", "benchmark", "deterministic", "allow_tf32", "benchmark_limit", "fp32_precision",
            "depthwise_kernel")


# --- 04-t-moved -------------------------------------------------------------------------------------------

def _value(rng: random.Random, name: str, other_than: Any = None) -> Any:
    choices: list[Any] = [True, False]
    if name == "benchmark_limit":
        choices = [0, 3, 10, 25]
    elif name in ("fp32_precision", "depthwise_kernel"):
        choices = ["none", "ieee", "tf32"] if name == "fp32_precision" else ["auto", "cudnn", "native"]
    return rng.choice([choice for choice in choices if choice != other_than])


def moved_cases(rng: random.Random) -> list[Case]:
    """Nothing named; some named, moved or not; nothing moved; a switch that only one side knows."""
    def state() -> dict[str, Any]:
        return {name: _value(rng, name) for name in SWITCHES}

    def turned(before: dict[str, Any], names: list[str]) -> dict[str, Any]:
        return {**before, **{name: _value(rng, name, before[name]) for name in names}}

    cases = []
    for _ in range(3):
        before, names = state(), rng.sample(SWITCHES, 3)
        cases.append(Case("moved", (before, turned(before, names), [])))
    for _ in range(3):
        before, names = state(), rng.sample(SWITCHES, 4)
        still = [name for name in SWITCHES if name not in names]
        cases.append(Case("named", (before, turned(before, names), [names[0], names[1], still[0]])))
    before = state()
    gone = {name: value for name, value in before.items() if name != "allow_tf32"}
    cases += [Case("edges", (before, dict(before), [])), Case("edges", ({}, {}, ["enabled"])),
              Case("edges", (before, gone, [])), Case("edges", (gone, before, ["enabled"]))]
    return cases


def moved_reference(before: dict[str, Any], inside: dict[str, Any], named: list[str]) -> list[str]:
    """Names, sorted, whose value differs or that only one side has, without those named."""
    missing = object()
    return sorted(name for name in {*before, *inside} - set(named)
                  if before.get(name, missing) != inside.get(name, missing))


# --- 04-t-suspect -----------------------------------------------------------------------------------------

def suspect_cases(rng: random.Random) -> list[Case]:
    """Both small, one large, both large; errors exactly at the limit; results without a number."""
    def small(allowed: float) -> float:
        return allowed * rng.uniform(0.05, 0.9)

    def large(allowed: float) -> float:
        return allowed * rng.uniform(1.2, 1e4)

    cases = []
    for _ in range(3):
        allowed = rng.choice([1e-6, 1e-5, 2e-3])
        for first in (small, large):
            for second in (small, large):
                cases.append(Case("two errors", (first(allowed), second(allowed), allowed)))
        cases += [Case("limit", (allowed, small(allowed), allowed)), Case("limit", (large(allowed), allowed, allowed)),
                  Case("no number", (None, small(allowed), allowed)),
                  Case("no number", (small(allowed), None, allowed)), Case("no number", (None, None, allowed))]
    return cases


def suspect_reference(error_on: float | None, error_off: float | None, allowed: float) -> str:
    """Which path is beyond what is allowed; None (no number came out) is beyond it too."""
    bad_on, bad_off = (error is None or error > allowed for error in (error_on, error_off))
    if bad_on and bad_off:
        return "elsewhere"
    return "cudnn" if bad_on else "plain" if bad_off else "rounding"


TASKS = [
    Task(id="04-t-moved", name="moved_unasked", cases=moved_cases, reference=moved_reference, parts={
        "moved": Part(2, both("Wrong where several switches moved and none was named.", "多个开关动了、又都没点过名时不对。")),
        "named": Part(1, both("Wrong where some of those that moved had been named.", "动了的开关里有一部分点过名时不对。")),
        "edges": Part(1, both("Wrong where nothing moved, or where only one side knows a switch.",
                              "什么都没动，或某个开关只有一边有时不对。"))}),
    Task(id="04-t-suspect", name="suspect", cases=suspect_cases, reference=suspect_reference, parts={
        "two errors": Part(2, both("Wrong where both errors are clearly small or large.", "两个误差明显小或明显大时不对。")),
        "limit": Part(1, both("Wrong where an error is exactly what is allowed.", "误差恰好等于允许值时不对。")),
        "no number": Part(1, both("Wrong where a run gave no number.", "有一次运行没给出数字时不对。"))}),
]
