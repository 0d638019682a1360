"""Code tasks of lesson 07: round a number, find who decides, allow TF32 for one call, ruin a product.

The checks of the practice tasks stand in ``precision_checks``. The last three entries are the visible smoke
tests of the checkpoint: they look at form, not at the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l07_precision import checks
from course.verdict import Verdict, correct, incorrect

LESSON = "07_precision"

ROUND_TO = Exercise(
    id="07-round-to", lesson=LESSON, name="round_to", minutes=5,
    title=both("Round a number to a few mantissa bits", "把一个数舍入到几位尾数"),
    hints=(
        both("`math.frexp(x)` gives a fraction from 0.5 to 1 and an exponent. Which of the two must be rounded?",
             "`math.frexp(x)` 给出 0.5 到 1 之间的尾数和一个指数。该舍入哪一个？"),
        both("Scale the fraction up until the bits to keep stand before the point, `round`, scale back.",
             "把尾数放大，让要保留的位都在小数点前，`round` 一下，再缩回去。"),
        both("The factor is `2 ** (bits + 1)`: one bit stands in front of the stored ones. `math.ldexp` scales back.",
             "放大倍数是 `2 ** (bits + 1)`：存下的位前面还有一位。`math.ldexp` 负责缩回去。"),
    ),
    solution='''import math

def round_to(x, bits):
    fraction, exponent = math.frexp(x)
    whole = round(fraction * 2 ** (bits + 1))
    return math.ldexp(whole, exponent - bits - 1)
''',
    why=both("The exponent is kept, so the error is relative to the number: half a step at most, `2**-(bits + 1)`.",
             "指数不变，所以误差是相对的：最多半步，即 `2**-(bits + 1)`。"),
    check=checks.check_round_to,
)

IN_FORCE = Exercise(
    id="07-in-force", lesson=LESSON, name="in_force", minutes=5,
    title=both("Which value is in force at a leaf?", "叶子上生效的是哪个值？"),
    hints=(
        both("Walk upwards: the leaf, its branch, the root.", "往上走：叶子、分支、根。"),
        both('The branch of "cuda.matmul" is what stands before the point: `leaf.split(".")[0]`.',
             '"cuda.matmul" 的分支就是点号前面的部分：`leaf.split(".")[0]`。'),
        both("Return the first of the three stored values that is not \"none\"; if there is none, \"none\".",
             "三个存储值里，返回第一个不是 \"none\" 的；都是的话返回 \"none\"。"),
    ),
    solution='''def in_force(stored, leaf):
    for node in (leaf, leaf.split(".")[0], "root"):
        if stored[node] != "none":
            return stored[node]
    return "none"
''',
    why=both("Nothing is copied down the tree when you set the root. Each reading walks up.",
             "设置根的时候，并没有往下复制。每次读取都是往上找。"),
    check=checks.check_in_force,
)

WITH_TF32 = Exercise(
    id="07-with-tf32", lesson=LESSON, name="with_tf32", minutes=6,
    title=both("Allow TF32 for one call and nothing else", "只在一次调用里允许 TF32"),
    hints=(
        both("One leaf decides for matrix products on CUDA. Remember what it holds before you change it.",
             "CUDA 矩阵乘由一片叶子决定。改之前先记住它原来的值。"),
        both("`try: return run()` and `finally:` put the old value back.",
             "`try: return run()`，再在 `finally:` 里把旧值放回去。"),
        both("The leaf is `torch.backends.cuda.matmul.fp32_precision`.",
             "那片叶子是 `torch.backends.cuda.matmul.fp32_precision`。"),
    ),
    solution='''import torch

def with_tf32(run):
    leaf = torch.backends.cuda.matmul
    before = leaf.fp32_precision
    leaf.fp32_precision = "tf32"
    try:
        return run()
    finally:
        leaf.fp32_precision = before
''',
    why=both("A leaf gives the narrowest permission there is. (What is read may be inherited; putting it back then "
             "stores it in the leaf. `course.flags.using` knows the difference.)",
             "叶子是最窄的许可。（读出来的可能是继承值，放回去就成了叶子自己的值。`course.flags.using` 分得清。）"),
    check=checks.check_with_tf32,
)

MAKE_IT_LOSE = Exercise(
    id="07-make-it-lose", lesson=LESSON, name="cases", minutes=8,
    title=both("One product that TF32 ruins, one that it leaves alone", "一个被 TF32 毁掉的乘积，一个毫发无伤的"),
    hints=(
        both("What did the neighbours far from the origin have that those near it had not?",
             "离原点远的邻居，有什么是近处没有的？"),
        both("A row like [1000.3, -1000.1] times a column of ones: the answer is small, the terms are large.",
             "一行 [1000.3, -1000.1] 乘一列 1：答案很小，各项很大。"),
        both("Harmless: random numbers around 0, or numbers that 10 bits hold exactly, such as 3 and 0.5.",
             "无害的：0 附近的随机数，或 10 位就能精确表示的数，如 3 和 0.5。"),
    ),
    solution='''import torch

cases = {"ruined": (torch.tensor([[1000.3, -1000.1]]), torch.ones(2, 1)),
         "harmless": (torch.randn(64, 64), torch.randn(64, 64))}
''',
    why=both("Rounding is relative to each term. If the answer is much smaller than its terms, it is relative to the "
             "wrong thing.",
             "舍入误差相对于每一项。答案若远小于各项，这个“相对”就找错了对象。"),
    check=checks.check_cases,
)


# --- the checkpoint's visible smoke tests: the form of an answer, nothing about its value -----------------

def _form_of_spacing(spacing: Callable[..., Any]) -> Verdict:
    got = spacing(3.0, 10)
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        return correct(both("The form is right: it gives back one number.", "形式正确：返回的是一个数。"))
    return incorrect(both(f"One number is expected, not {got!r}.", f"应返回一个数，而不是 {got!r}。"))


def _form_of_leaves(tf32_leaves: Callable[..., Any]) -> Verdict:
    got = tf32_leaves({"cuda.matmul": "tf32"})
    if isinstance(got, list) and all(isinstance(one, str) for one in got):
        return correct(both("The form is right: it gives back a list of names.", "形式正确：返回的是名字列表。"))
    return incorrect(both(f"A list of names is expected, not {got!r}.", f"应返回名字列表，而不是 {got!r}。"))


REPORT_FIELDS = ("reference", "errors", "tolerance", "low", "high", "claim")


def _form_of_report(report: Any) -> Verdict:
    if not isinstance(report, Mapping):
        return incorrect(both("`report` is a dictionary.", "`report` 应是字典。"))
    missing = [name for name in REPORT_FIELDS if name not in report]
    if missing:
        return incorrect(both(f"Still missing in the report: {', '.join(missing)}.",
                              f"报告里还缺：{'、'.join(missing)}。"))
    return correct(both("All fields are there.", "字段齐全。"))


EXERCISES = [
    ROUND_TO, IN_FORCE, WITH_TF32, MAKE_IT_LOSE,
    Exercise(id="07-t-spacing", lesson=LESSON, name="spacing", check=_form_of_spacing,
             title=both("The gap between neighbouring numbers", "相邻两数的间隔")),
    Exercise(id="07-t-leaves", lesson=LESSON, name="tf32_leaves", check=_form_of_leaves,
             title=both("Which leaves may use TF32?", "哪些叶子可以用 TF32？")),
    Exercise(id="07-t-report", lesson=LESSON, name="report", check=_form_of_report,
             title=both("Report an error", "报告一次误差测量")),
]
