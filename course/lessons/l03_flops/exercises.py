"""Code tasks of lesson 03: count a convolution, bound a layer's time, and let fewer MACs lose."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.checking import comparison
from course.i18n import Text, both
from course.slips import PLACEHOLDER
from course.verdict import Verdict, correct, inconclusive, incorrect


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _near(value: float, expected: float) -> bool:
    return math.isclose(value, expected, rel_tol=1e-6)


# --- 03-conv-macs --------------------------------------------------------------------------------------

CONVS = (
    (1, 16, 32, 3, 30, 28, 1),
    (4, 16, 32, 3, 30, 28, 1),
    (1, 16, 32, 3, 30, 28, 4),
    (2, 24, 24, 5, 7, 9, 24),
    (1, 3, 64, 7, 112, 112, 1),
)


def check_conv_macs(conv_macs: Callable[..., Any]) -> Verdict:
    """Five convolutions: plain, in a batch, grouped, depthwise, and with another kernel."""
    for n, c_in, c_out, kernel, height, width, groups in CONVS:
        answer = conv_macs(n, c_in, c_out, kernel, height, width, *([groups] if groups > 1 else []))
        if answer is None or answer is ...:
            return PLACEHOLDER
        if not _is_number(answer):
            return incorrect(
                both("It should give back one number, the MACs.", "它应当返回一个数：MACs。"), reason="no-number"
            )
        truth = n * height * width * c_out * (c_in // groups) * kernel * kernel
        if not _near(answer, truth):
            reason, said = _conv_reason(answer, truth, n, kernel, groups, n * height * width * c_out)
            return incorrect(said, reason=reason, answer=answer, truth=truth)
    return correct(
        both(
            "Right for all five, batch, groups and depthwise included.",
            "五个卷积都正确，包括 batch、分组和逐通道卷积。",
        )
    )


def _conv_reason(answer: float, truth: int, n: int, kernel: int, groups: int, outputs: int) -> tuple[str, Text]:
    factors = [
        (
            2,
            "flops",
            both(
                "Twice as many: those are FLOPs; a MAC is one multiply with its add.",
                "多了一倍：这是 FLOPs；一次乘法加一次加法合为 1 个 MAC。",
            ),
        ),
        (
            1 / n,
            "batch",
            both("The batch is missing: every image needs the work again.", "漏了批大小：每张图都要重算一遍。"),
        ),
        (
            groups,
            "groups",
            both(
                "The groups are missing: each output sees only its own group of input channels.",
                "漏了分组：每个输出只看自己组内的输入通道。",
            ),
        ),
        (
            1 / groups,
            "groups-twice",
            both(
                "The groups were divided out twice: the output channels are all still there.",
                "分组除了两次：输出通道一个也没少。",
            ),
        ),
        (
            1 / kernel,
            "square",
            both("The filter is square: it has kernel x kernel weights.", "卷积核是方的：共 kernel x kernel 个权重。"),
        ),
        (
            1 / kernel**2,
            "filter",
            both(
                "The filter is missing: each output sums over its kernel x kernel weights.",
                "漏了卷积核：每个输出要对 kernel x kernel 个权重求和。",
            ),
        ),
    ]
    for factor, reason, said in factors:
        if factor != 1 and _near(answer, truth * factor):
            return reason, said
    if _near(answer, truth + outputs):
        return "bias", both(
            "The bias is in it: an addition without a multiplication is no MAC.",
            "把偏置也算进去了：没有乘法的加法不是 MAC。",
        )
    return "wrong-count", both(
        f"For one of the convolutions it gives {answer:,} where {truth:,} is right: outputs times the products summed in each.",
        f"其中一个卷积得到 {answer:,}，正确的是 {truth:,}：输出个数乘以每个输出累加的乘积数。",
    )


# --- 03-least-ms ---------------------------------------------------------------------------------------

LAYERS = ((50e6, 1e6, 100.0, 20.0), (1e6, 40e6, 100.0, 20.0), (2e6, 3e6, 100.0, 75.0))


def check_least_ms(least_ms: Callable[..., Any]) -> Verdict:
    """A layer limited by arithmetic, one limited by memory, one at the bend of the roof."""
    for macs, moved, peak, bandwidth in LAYERS:
        answer = least_ms(macs, moved, peak, bandwidth)
        if answer is None or answer is ...:
            return PLACEHOLDER
        if not _is_number(answer):
            return incorrect(
                both("It should give back one number, the milliseconds.", "它应当返回一个数：毫秒数。"),
                reason="no-number",
            )
        compute, memory = 2 * macs / (peak * 1e6), moved / (bandwidth * 1e6)
        if not _near(answer, max(compute, memory)):
            reason, said = _least_reason(answer, compute, memory)
            return incorrect(said, reason=reason, answer=answer)
    return correct(both("Right on both sides of the bend, and at it.", "拐点两侧和拐点上都正确。"))


def _least_reason(answer: float, compute: float, memory: float) -> tuple[str, Text]:
    known = [
        (
            max(compute / 2, memory),
            "mac-is-two",
            both(
                "The arithmetic is half of what it should be: a MAC is two FLOPs.",
                "计算时间少了一半：1 个 MAC 等于 2 个 FLOP。",
            ),
        ),
        (
            compute + memory,
            "sum",
            both(
                "The two overlap: while numbers travel, others are multiplied. Take the longer one.",
                "两者可以重叠：一边搬数据，一边做乘法。取较长的那个。",
            ),
        ),
        (
            max(compute, memory) / 1e3,
            "seconds",
            both("These are seconds; milliseconds are wanted.", "这是秒；要的是毫秒。"),
        ),
        (
            compute,
            "memory-longer",
            both(
                "This is the time of the arithmetic, but here the memory takes longer: the layer waits for the longer one.",
                "这是计算的时间，而这里内存更慢：这一层要等较长的那个。",
            ),
        ),
        (
            memory,
            "arithmetic-longer",
            both(
                "This is the time of the memory, but here the arithmetic takes longer: the layer waits for the longer one.",
                "这是内存的时间，而这里计算更慢：这一层要等较长的那个。",
            ),
        ),
    ]
    for value, reason, said in known:
        if _near(answer, value):
            return reason, said
    return "wrong-time", both(
        f"It gives {answer:.4g} ms; arithmetic alone takes {compute:.4g} ms, memory alone {memory:.4g} ms. "
        "Mind that 1 GFLOP/s is 1e9 operations in 1000 ms.",
        f"得到 {answer:.4g} ms；单算计算要 {compute:.4g} ms，单算内存要 {memory:.4g} ms。"
        f"注意 1 GFLOP/s 是 1000 ms 里 1e9 次运算。",
    )


# --- 03-lose -------------------------------------------------------------------------------------------

LEAST_SAVING = 0.95


def check_lose(evidence: Any) -> Verdict:
    """Accept fewer MACs that an interval shows to be slower, or the same within the gate."""
    from course.flops import count

    wanted = {"more_macs", "fewer_macs", "comparison"}
    if not isinstance(evidence, dict) or not wanted <= evidence.keys():
        return incorrect(
            both(
                'Hand in a dict with "more_macs", "fewer_macs" and "comparison", as above.',
                '请交一个字典，包含 "more_macs"、"fewer_macs" 和 "comparison"，如上面的单元格。',
            ),
            reason="no-dictionary",
        )
    more, fewer, fair = (evidence[name] for name in ("more_macs", "fewer_macs", "comparison"))
    if any(part is ... or part is None for part in (more, fewer, fair)):
        return PLACEHOLDER
    low, high = getattr(fair, "low", None), getattr(fair, "high", None)
    if not all(map(_is_number, (more, fewer, low, high))):
        return incorrect(
            both(
                "The two counts should be numbers and `comparison` what `compare` gave back for two functions.",
                "两个统计应为数，`comparison` 应为 `compare` 比较两个函数的返回值。",
            ),
            reason="no-comparison",
        )
    found = {"more_macs": more, "fewer_macs": fewer, "low": low, "high": high}
    if not 0 < fewer < LEAST_SAVING * more:
        return incorrect(
            both(
                f"{fewer:,} MACs are not clearly fewer than {more:,}: the candidate should save at least 5 %, and do some work.",
                f"{fewer:,} 并不明显少于 {more:,} 个 MAC：候选至少要省 5%，而且不能没有工作量。",
            ),
            **found,
            reason="no-saving",
        )
    raced = comparison(fair)
    if raced is None:
        return incorrect(
            both(
                "`comparison` should be what `compare` gave back for two functions.",
                "`comparison` 应是 `compare` 比较两个函数的返回值。",
            ),
            reason="no-comparison",
            **found,
        )
    (candidate,) = raced.pairs
    for name, told, said in ((raced.baseline, more, "more_macs"), (candidate, fewer, "fewer_macs")):
        again = count(raced.functions[name]).macs
        if not math.isclose(again, told, rel_tol=0.01):
            return incorrect(
                both(
                    f"`{said}` is {told:,}, but `{name}` of the comparison makes {again:,} MACs: "
                    "count what was raced, the baseline being the one with more.",
                    f"`{said}` 是 {told:,}，而比赛里的 “{name}” 有 {again:,} 个 MAC：请统计参赛的函数，基准是 MACs 多的一方。",
                ),
                reason="counts",
                **found,
            )
    return _judge_interval(low, high, getattr(fair, "verdict", None), fewer / more, found)


def _judge_interval(low: float, high: float, verdict: Any, share: float, found: dict[str, Any]) -> Verdict:
    if low > 1:
        return correct(
            both(
                f"It lost: {share:.0%} of the MACs, {low:.3f} to {high:.3f} times the time.",
                f"它输了：MACs 只有 {share:.0%}，耗时却是 {low:.3f} 至 {high:.3f} 倍。",
            ),
            **found,
        )
    if high >= 1 and verdict == "same":
        return correct(
            both(
                f"No gain: {share:.0%} of the MACs, and the same time within the gate.",
                f"没有收益：MACs 只有 {share:.0%}，耗时在阈值内一样。",
            ),
            **found,
        )
    if high >= 1:
        return inconclusive(
            both(
                f"The interval, {low:.3f} to {high:.3f}, holds 1 and is wide: nobody knows. "
                "Give `compare` more `max_time`, or make the candidate worse.",
                f"区间 {low:.3f} 至 {high:.3f} 包含 1 而且很宽：还不知道结果。请加大 `max_time`，或者让候选更糟。",
            ),
            **found,
            reason="undecided",
        )
    return incorrect(
        both(
            f"This time fewer MACs were faster, {low:.3f} to {high:.3f}. "
            "Look for work that moves many bytes for each product.",
            f"这次 MACs 少的确实更快：{low:.3f} 至 {high:.3f}。请找每次乘法都要搬很多字节的任务。",
        ),
        **found,
        reason="faster",
    )


CHECKS = {"03-conv-macs": check_conv_macs, "03-least-ms": check_least_ms, "03-lose": check_lose}
