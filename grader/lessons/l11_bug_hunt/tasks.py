"""Hidden cases of checkpoint 11: whether a repair is one, and which suspect a series of runs convicts."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

SWITCHES = ("mkldnn.enabled", "cudnn.benchmark", "torch.num_threads", "cudnn.deterministic")
SUSPECTS = ("switch", "dtype", "layout", "threads", "seed", "driver")

# --- 11-t-verdict -------------------------------------------------------------------------------------------


def verdict_cases(rng: random.Random) -> list[Case]:
    """Good repairs; other outputs; a symptom that stays; a switch left over; several at once, where the order decides."""

    def output() -> list[float]:
        return [round(rng.uniform(-3, 3), 3) for _ in range(rng.randint(2, 4))]

    def state(ratio: float, values: list[float], left: bool = False) -> dict:
        return {"ratio": ratio, "output": values, "left": {rng.choice(SWITCHES): rng.random() < 0.5} if left else {}}

    def moved(values: list[float], by: float) -> list[float]:
        place = rng.randrange(len(values))
        return [one + by * (number == place) for number, one in enumerate(values)]

    def slow() -> float:
        return round(rng.uniform(1.6, 4.0), 2)

    def fine() -> float:
        return round(rng.uniform(0.9, 1.1), 2)

    limit, cases = 1.15, []
    for _ in range(2):
        same = output()
        cases += [
            Case("repaired", (state(slow(), same, rng.random() < 0.5), state(fine(), moved(same, 4e-5)), limit)),
            Case("output", (state(slow(), same), state(fine(), moved(same, rng.choice((-0.3, 0.3)))), limit)),
            Case("symptom", (state(slow(), same), state(slow(), same), limit)),
            Case("left", (state(slow(), same), state(fine(), same, True), limit)),
            Case("order", (state(slow(), same), state(slow(), moved(same, -0.5), True), limit)),
            Case("order", (state(slow(), same), state(slow(), same, True), limit)),
        ]
    same = output()
    return [
        *cases,
        Case("repaired", (state(slow(), same), state(1.5, same), 1.5)),
        Case("repaired", (state(slow(), [0.0, 1.5]), state(fine(), [1e-4, 1.5]), limit)),
        Case("symptom", (state(slow(), same), state(1.3, same), 1.2)),
        Case("repaired", (state(slow(), same), state(slow(), same), limit)),  # no part has one answer throughout
        *(Case(part, (state(slow(), same), state(fine(), same), limit)) for part in ("output", "symptom", "left")),
        Case("output", (state(slow(), same), state(fine(), same[:-1]), limit)),
        Case("output", (state(slow(), same), state(fine(), [*same, 0.0]), limit)),
        Case("output", (state(slow(), same), state(fine(), []), limit)),
    ]


# --- 11-t-culprit -------------------------------------------------------------------------------------------


def culprit_cases(rng: random.Random) -> list[Case]:
    """One is convicted; none is; two are; only in company; the control is missing or shows nothing; a run contradicts."""

    def names(count: int) -> list[str]:
        return rng.sample(SUSPECTS, count)

    def mixed(*runs: list) -> tuple:
        return (rng.sample([list(one) for one in runs], len(runs)),)

    cases, control = [], [[], True]
    drawn = names(6)
    for a, b, c in (drawn[:3], drawn[3:]):  # two others are to blame: no part has one answer throughout
        cases += [
            Case("one", mixed(control, [[a], True], [[b], False], [[c], True])),
            Case("one", mixed(control, control, [[a], True], [[b], False], [[b], False])),
            Case("none", mixed(control, [[a], True], [[b], True])),
            Case("none", mixed(control, [[a], False], [[b], False], [[c], True])),
            Case("company", mixed(control, [[a], True], [[b, c], False])),
            Case("company", mixed(control, [[a], False], [[b, c], False], [[a, b], True])),
            Case("control", mixed([[a], False], [[b], True])),
            Case("control", mixed([[], False], [[a], False], [[b], True])),
            Case("control", mixed(control, [[], False], [[a], False])),
            Case("again", mixed(control, [[a], False], [[a], True], [[b], True])),
            Case("again", mixed(control, [[a], False], [[a], True], [[b], False])),
        ]
    return [
        *cases,
        Case("control", ([],)),
        Case("none", ([control],)),
        *(Case(part, mixed(control, [[a], False], [[b], True])) for part in ("control", "none")),  # one is convicted
    ]


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="11-t-verdict", name="verdict", cases=verdict_cases, parts=PARTS["11-t-verdict"]),
    Task(id="11-t-culprit", name="culprit", cases=culprit_cases, parts=PARTS["11-t-culprit"]),
]
