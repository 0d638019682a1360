"""The one code task of lesson 00: three numbers whose sum depends on the order."""

from __future__ import annotations

import math
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect, not_attempted


def check_my_numbers(numbers: Any) -> Verdict:
    """Three finite numbers; as float32, (a + b) + c and a + (b + c) must differ."""
    import torch

    if any(value is Ellipsis for value in numbers):
        return not_attempted(
            both(
                "The three dots are still there: put three numbers in their places.", "三个省略号还在：请换成三个数。"
            ),
            reason="placeholder",
        )
    if len(numbers) != 3:
        return incorrect(
            both(f"Three numbers are needed, and there are {len(numbers)}.", f"需要三个数，现在有 {len(numbers)} 个。"),
            reason="count",
        )
    if {abs(float(value)) for value in numbers} & {1e8}:
        return incorrect(
            both(
                "A hundred million is taken: it stands in the cell above. Find numbers of your own.",
                "一亿已经有主了，就是上面单元格里的那个数。请找自己的数。",
            ),
            reason="taken",
        )
    a, b, c = torch.tensor([float(value) for value in numbers], dtype=torch.float32)
    left, right = ((a + b) + c).item(), (a + (b + c)).item()
    if not (math.isfinite(left) and math.isfinite(right)):
        return incorrect(
            both(
                "Infinity is too easy: choose numbers whose sums stay finite.",
                "无穷大太容易了：请选一组和仍然有限的数。",
            ),
            reason="infinite",
        )
    if left == right:
        return incorrect(
            both(
                f"Both orders give {left:g}. Take a number so large that a small one gets lost in it.",
                f"两种顺序都得到 {left:g}。取一个很大的数，大到能把小的数“吞掉”。",
            ),
            reason="same-sums",
        )
    return correct(
        both(
            f"(a + b) + c is {left:g}, a + (b + c) is {right:g}. Same numbers, two answers.",
            f"(a + b) + c 得 {left:g}，a + (b + c) 得 {right:g}。同样的数，两个答案。",
        )
    )


CHECKS = {"00-my-numbers": check_my_numbers}
