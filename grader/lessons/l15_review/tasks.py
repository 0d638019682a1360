"""Hidden cases of the exam: the searches of a session, and what paired timings allow to claim."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

# --- 15-t-searches ----------------------------------------------------------------------------------------


def session_cases(rng: random.Random) -> list[Case]:
    """Sizes that come back, the switch flipped before and after they are seen, and processes that end."""

    def shapes(count: int) -> list[list[int]]:
        """Different inputs; among them two that differ in the batch alone, and two in the side alone."""
        batch, side = rng.randint(2, 60), rng.randint(20, 300)
        found = [[batch, side], [batch + rng.randint(1, 9), side], [batch, side + rng.randint(1, 9)]]
        while len(found) < count:
            fresh = [rng.randint(70, 99), rng.randint(310, 500)]
            if fresh not in found:
                found.append(fresh)
        return found

    def often(found: list[list[int]]) -> list[list[int]]:
        """Each of them, and some again."""
        return [*found, *(rng.choice(found) for _ in range(rng.randint(2, 6)))]

    cases = []
    for _ in range(4):
        cases.append(Case("sizes", (["on", *often(shapes(rng.randint(3, 7)))],)))
        early, late = shapes(3), [[100 + k, rng.randint(1, 15)] for k in range(rng.randint(2, 4))]
        cases.append(Case("flip", ([*often(early), "on", *often([*early, *late])],)))
        third = [[200 + k, rng.randint(1, 15)] for k in range(rng.randint(2, 4))]
        cases.append(Case("flip", (["on", *often(early), "off", *often(late), "on", *often([*late, *early, *third])],)))
        first, second = shapes(4), [[100 + k, rng.randint(1, 15)] for k in range(rng.randint(1, 3))]
        again = ["restart", *second, "on", *often([*first[:2], *second])]
        cases.append(Case("restart", (["on", *often(first), *again],)))
    one = shapes(3)
    return [
        *cases,
        Case("sizes", (["on"],)),
        Case("sizes", (["on", "on", *one[:1], "on", *one[:1]],)),
        Case("flip", ([*one],)),
        Case("restart", (["on", "restart", *one],)),
        Case("restart", (["on", *one, "restart", "on", *one],)),
    ]


# --- 15-t-claim -------------------------------------------------------------------------------------------


def claim_cases(rng: random.Random) -> list[Case]:
    """Clear ones with a bad reading, a machine that drifts, too few pairs, and ties."""

    def pairs(part: str, befores: list[float], ratios: list[float]) -> Case:
        places = list(range(len(ratios)))
        rng.shuffle(places)
        return Case(part, ([befores[k] for k in places], [round(befores[k] * ratios[k], 6) for k in places]))

    def spread(count: int) -> list[float]:
        """Readings of a before far apart, so that the pairs alone show the ratio."""
        return [4.0, 24.0, *(round(rng.uniform(5, 20), 3) for _ in range(count - 2))]

    def around(middle: float, count: int) -> list[float]:
        return [round(middle * rng.uniform(0.98, 1.02), 4) for _ in range(count)]

    cases = []
    for _ in range(4):
        count = rng.randint(10, 16)
        cases += [
            pairs("clear", spread(count), [rng.uniform(6, 9), *around(rng.uniform(0.7, 0.92), count - 1)]),
            pairs("clear", spread(count), [rng.uniform(0.05, 0.2), *around(rng.uniform(1.1, 1.4), count - 1)]),
            pairs("clear", [10.0] * count, [*around(1.2, 3), *around(0.8, count - 3)]),
        ]
        drifting = [round(5 * 1.25**step, 4) for step in range(count)]
        cases += [
            pairs("drift", drifting, around(rng.uniform(0.85, 0.94), count)),
            pairs("drift", drifting, around(rng.uniform(1.07, 1.2), count)),
            pairs("drift", drifting, [1.3, 1.25, *around(0.8, count - 2)]),
        ]
    few = rng.randint(2, 8)
    return [
        *cases,
        Case("few", ([], [])),
        pairs("few", spread(8), around(0.6, 8)),
        pairs("few", spread(few), around(1.7, few)),
        pairs("few", spread(9), around(0.8, 9)),
        pairs("few", spread(9), around(1.3, 9)),
        pairs("few", spread(12), [1.0] * 12),
        pairs("few", spread(11), [*around(0.8, 9), 1.0, 1.0]),
        pairs("few", spread(11), [*around(1.2, 9), 1.0, 1.0]),
    ]


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="15-t-searches", name="count_searches", cases=session_cases, parts=PARTS["15-t-searches"]),
    Task(id="15-t-claim", name="claim", cases=claim_cases, parts=PARTS["15-t-claim"]),
]
