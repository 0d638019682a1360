"""Hidden tasks of checkpoint 03: MACs of a layer from its settings, and of a training step."""

from __future__ import annotations

import random

from course.i18n import both
from grader.task import Case, Part, Task

# --- layer_macs ----------------------------------------------------------------------------------------


def layer_cases(rng: random.Random) -> list[Case]:
    """Convolutions whose output has another size than the input, grouped ones, and transposed ones."""
    def drawn(kind: str, groups: int) -> tuple:
        kernel = rng.choice([2, 3, 5])
        stride = 2 if kind == "transposed" else rng.choice([1, 2, 3])
        return (kind, rng.choice([2, 3, 8]), groups * rng.choice([2, 3, 5]), groups * rng.choice([4, 7]),
                kernel, rng.randrange(11, 40), stride, rng.choice([0, 1]), groups)

    plain = [("conv", 1, 3, 8, 3, 17, 2, 0, 1), ("conv", 4, 6, 5, 3, 16, 2, 1, 1)]
    return ([Case("plain", args) for args in [*plain, *(drawn("conv", 1) for _ in range(4))]]
            + [Case("groups", drawn("conv", groups)) for groups in (2, 4, rng.choice([3, 8]))]
            + [Case("transposed", drawn("transposed", groups)) for groups in (1, 1, 2)])


def layer_reference(kind: str, n: int, c_in: int, c_out: int, kernel: int, size: int, stride: int,
                    padding: int, groups: int) -> int:
    """MACs of a square convolution, ordinary ("conv") or transposed; `size` is that of the input."""
    weights = c_in * c_out // groups * kernel * kernel
    side = size if kind == "transposed" else (size + 2 * padding - kernel) // stride + 1
    return n * side * side * weights


# --- step_macs -----------------------------------------------------------------------------------------

def step_cases(rng: random.Random) -> list[Case]:
    """Chains that are trained whole, frozen in front, and frozen in the middle or at the end."""
    def macs(count: int) -> list[int]:
        return [rng.randrange(10, 10_000) for _ in range(count)]

    def frozen(count: int, at: set[int]) -> list[bool]:
        return [place not in at for place in range(count)]

    whole = [Case("whole", (macs(count), [True] * count)) for count in (1, 2, rng.randrange(3, 8))]
    front = [Case("front", (macs(count), frozen(count, set(range(first))))) for count, first in
             ((2, 1), (5, rng.randrange(1, 4)), (6, 5))]
    inside = [Case("inside", (macs(5), frozen(5, at))) for at in ({2}, {1, 3}, {0, 2}, {4})]
    return whole + front + inside


def step_reference(macs: list[int], trained: list[bool]) -> int:
    """Forward, a weight gradient for each trained layer, an input gradient wherever something trained lies
    before.
    """
    total = 0
    for place, work in enumerate(macs):
        total += work * (1 + trained[place] + any(trained[:place]))
    return total


TASKS = [
    Task(id="03-t-layer", name="layer_macs", cases=layer_cases, reference=layer_reference, parts={
        "plain": Part(2, both("Plain convolutions: outputs (from size, stride and padding) times the "
                              "products in each; the batch counts.",
                              "普通卷积：输出个数（由尺寸、stride、padding 得出）乘以每个输出的乘积数，别忘了 batch。")),
        "groups": Part(1, both("Groups: each output sums over the channels of its own group.",
                               "分组：每个输出只对自己组内的通道求和。")),
        "transposed": Part(1, both("Transposed: each position of the input meets the whole kernel.",
                                   "转置卷积：输入的每个位置都与整个卷积核相乘。"))}),
    Task(id="03-t-step", name="step_macs", cases=step_cases, reference=step_reference, parts={
        "whole": Part(2, both("All layers trained: three times the forward, except the first, which needs no "
                              "gradient of its input.",
                              "全部训练：前向的三倍；第一层除外，它不用求输入的梯度。")),
        "front": Part(1, both("Frozen in front: no gradient travels into layers before the first trained "
                              "one.",
                              "前面冻结：梯度不会传进第一个训练层之前的那些层。")),
        "inside": Part(1, both("Frozen behind a trained layer: no weight gradient, but the input gradient "
                               "passes through.",
                               "冻结层前面还有训练层：不求权重梯度，但输入梯度必须穿过去。"))}),
]
