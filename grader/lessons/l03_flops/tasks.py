"""Hidden tasks of checkpoint 03: MACs of a layer from its settings, and of a training step."""

from __future__ import annotations

import random

from course.i18n import both
from grader.task import Case, Part, Task

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


TASKS = [
    Task(
        id="03-t-layer",
        name="layer_macs",
        cases=layer_cases,
        parts={
            "plain": Part(
                2,
                both(
                    "Plain convolutions: outputs (from size, stride and padding) times the products in each; the batch counts.",
                    "普通卷积：输出个数（由尺寸、stride、padding 得出）乘以每个输出的乘积数，别忘了 batch。",
                ),
            ),
            "groups": Part(
                1,
                both(
                    "Groups: each output sums over the channels of its own group.",
                    "分组：每个输出只对自己组内的通道求和。",
                ),
            ),
            "transposed": Part(
                1,
                both(
                    "Transposed: each position of the input meets the whole kernel.",
                    "转置卷积：输入的每个位置都与整个卷积核相乘。",
                ),
            ),
        },
    ),
    Task(
        id="03-t-step",
        name="step_macs",
        cases=step_cases,
        parts={
            "whole": Part(
                2,
                both(
                    "All layers trained: three times the forward, except the first, which needs no gradient of its input.",
                    "全部训练：前向的三倍；第一层除外，它不用求输入的梯度。",
                ),
            ),
            "front": Part(
                1,
                both(
                    "Frozen in front: no gradient travels into layers before the first trained one.",
                    "前面冻结：梯度不会传进第一个训练层之前的那些层。",
                ),
            ),
            "inside": Part(
                1,
                both(
                    "Frozen behind a trained layer: no weight gradient, but the input gradient passes through.",
                    "冻结层前面还有训练层：不求权重梯度，但输入梯度必须穿过去。",
                ),
            ),
        },
    ),
]
