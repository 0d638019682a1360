"""The code task of lesson 03 that measures: let fewer MACs lose."""

from __future__ import annotations

import math
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, inconclusive, incorrect
from course.exercises.checking import comparison
from course.exercises.slips import PLACEHOLDER


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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


CHECKS = {"03-lose": check_lose}
