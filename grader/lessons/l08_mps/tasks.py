"""Hidden cases of checkpoint 08: which device to use, and what a step with fallbacks costs."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

KINDS = ("cuda", "mps", "xpu")


# --- 08-t-device ------------------------------------------------------------------------------------------


def device_cases(rng: random.Random) -> list[Case]:
    """No wish on machines with and without usable devices; wishes that can be met; wishes that cannot."""

    def some() -> int:
        return rng.randint(1, 200)

    def others(built: str) -> str:
        return rng.choice([kind for kind in KINDS if kind != built])

    cases = [Case("automatic", (kind, usable, None)) for kind in KINDS for usable in (some(), 1, 0)]
    cases += [Case("automatic", (None, 0, None))]
    cases += [Case("wish", (kind, some(), kind)) for kind in KINDS]
    cases += [Case("wish", (kind, usable, "cpu")) for kind in KINDS for usable in (some(), 0)]
    cases += [Case("wish", (None, 0, "cpu"))]
    cases += [Case("refuse", (kind, 0, kind)) for kind in KINDS]
    cases += [Case("refuse", (built, usable, others(built))) for built in KINDS for usable in (some(), 0)]
    return [*cases, Case("refuse", (None, 0, rng.choice(KINDS))), Case("refuse", ("cuda", some(), "cuda"))]


# --- 08-t-step --------------------------------------------------------------------------------------------


def step_cases(rng: random.Random) -> list[Case]:
    """Everything native; some operations fall back; some would but may not; 0 is off, nothing to do."""

    def times() -> list:
        return [rng.randint(1, 40) / 4, rng.randint(1, 90) / 4, rng.randint(1, 20) / 4]

    def some(count: int) -> list:
        return [[True, *times()] for _ in range(count)]

    def missing() -> list:  # what it would take on the device is known, and does not count
        return [False, *times()]

    def mixed() -> list:
        ops = [*some(rng.randint(2, 4)), *(missing() for _ in range(rng.randint(2, 3)))]
        return rng.sample(ops, len(ops))

    return [
        Case("native", (some(rng.randint(2, 6)), None)),
        Case("native", (some(rng.randint(2, 6)), "1")),
        Case("fallback", (mixed(), "1")),
        Case("fallback", ([missing(), *some(2)], "1")),
        Case("fallback", ([missing()], str(rng.randint(2, 20)))),
        Case("error", (mixed(), None)),
        Case("error", ([*some(4), missing()], None)),
        Case("error", ([missing(), *some(2)], None)),
        Case("error", (some(rng.randint(3, 6)), None)),
        Case("edges", (mixed(), "0")),
        Case("edges", (some(2), "0")),
        Case("edges", ([], None)),
        Case("edges", ([], "1")),
    ]


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="08-t-device", name="choose_device", cases=device_cases, parts=PARTS["08-t-device"]),
    Task(id="08-t-step", name="step_ms", cases=step_cases, parts=PARTS["08-t-step"]),
]
