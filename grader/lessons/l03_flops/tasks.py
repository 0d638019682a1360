"""Hidden tasks of checkpoint 03: MACs of a layer from its settings, and of a training step."""

from __future__ import annotations

import random

from grader.project.task import Case, Task, parts_beside

# --- 03-t-layer -------------------------------------------------------------------------------------------


def layer_cases(rng: random.Random) -> list[Case]:
    """Convolutions whose output has another size than the input, grouped ones, and transposed ones."""

    def drawn(kind: str, groups: int, padding: int = 1) -> tuple:
        return (
            kind,
            rng.choice([2, 3, 8]),
            groups * rng.choice([2, 3, 5]),
            groups * rng.choice([4, 7]),
            rng.choice([2, 3, 5]),
            rng.randrange(11, 40),
            2,
            padding,
            groups,
        )

    plain = [("conv", 1, 3, 8, 3, 17, 2, 0, 1), ("conv", 4, 6, 5, 3, 16, 2, 1, 1), ("conv", 2, 4, 6, 1, 20, 3, 0, 1)]
    return (
        [Case("plain", args) for args in [*plain, *(drawn("conv", 1, rng.choice([0, 1, 2])) for _ in range(3))]]
        + [Case("groups", drawn("conv", groups)) for groups in (2, 4, rng.choice([3, 8]))]
        + [Case("transposed", drawn("transposed", groups)) for groups in (1, 1, 2)]
    )


# --- 03-t-step --------------------------------------------------------------------------------------------


def step_cases(rng: random.Random) -> list[Case]:
    """Chains that are trained whole, frozen in front, and frozen in the middle or at the end."""

    def macs(count: int) -> list[int]:
        return [rng.randrange(10, 10_000) for _ in range(count)]

    def frozen(count: int, at: set[int]) -> list[bool]:
        return [place not in at for place in range(count)]

    whole = [Case("whole", (macs(count), [True] * count)) for count in (1, 2, rng.randrange(3, 8))]
    front = [
        Case("front", (macs(count), frozen(count, set(range(first)))))
        for count, first in ((2, 1), (5, rng.randrange(1, 4)), (6, 5))
    ]
    front.append(Case("front", (macs(3), [False] * 3)))
    inside = [Case("inside", (macs(5), frozen(5, at))) for at in ({2}, {1, 3}, {0, 2}, {4})]
    return whole + front + inside


PARTS = parts_beside(__file__)
TASKS = [
    Task(id="03-t-layer", name="layer_macs", cases=layer_cases, parts=PARTS["03-t-layer"]),
    Task(id="03-t-step", name="step_macs", cases=step_cases, parts=PARTS["03-t-step"]),
]
