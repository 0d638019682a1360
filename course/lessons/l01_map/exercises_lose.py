"""The code task of lesson 01 that measures: make the advice lose that asking for deterministic costs nothing on a CPU."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import Any

from course.core.i18n import both
from course.core.verdict import Verdict, correct, incorrect
from course.exercises.checking import comparison, same_work, too_few_rounds, watched

PRICES = 4  # a gap of fewer prices of the empty block may be that block alone


def _price_of_asking_ms() -> float:
    """Milliseconds that the polite request takes around nothing, here and now."""
    import torch

    from course.timing import measure

    def nothing() -> None:
        with torch.backends.mkldnn.flags(deterministic=True):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(nothing, max_time=0.05).median_ms


def check_make_it_lose(evidence: Any) -> Verdict:
    """A Comparison whose interval excludes 1, or (without oneDNN) the two states as a dict."""
    from torch.backends import mkldnn

    if isinstance(evidence, Mapping) and not mkldnn.is_available():
        return _check_states(evidence)
    pairs = getattr(evidence, "pairs", None)
    if not pairs:
        return incorrect(
            both(
                "Hand in what `compare(...)` gives back: `my_comparison = compare({...})`.",
                "请交上 `compare(...)` 的返回值：`my_comparison = compare({...})`。",
            ),
            reason="no-comparison",
        )
    if len(pairs) != 1:
        return incorrect(
            both(
                "Compare two functions: one plain, one inside `flags(deterministic=True)`.",
                "比较两个函数：一个原样，一个放进 `flags(deterministic=True)`。",
            ),
            reason="two-functions",
        )
    if fault := _not_the_request(evidence):
        return fault
    pair = next(iter(pairs.values()))
    interval = {"ratio": pair.ratio, "low": pair.low, "high": pair.high}
    if few := too_few_rounds(evidence):
        return few
    if pair.low <= 1 <= pair.high:
        return Verdict(
            "inconclusive",
            messages=(
                both(
                    f"The interval [{pair.low:.3f}, {pair.high:.3f}] contains 1: this run shows no difference. "
                    "Choose an operation that oneDNN computes (a convolution, an LSTM), or measure longer.",
                    f"区间 [{pair.low:.3f}, {pair.high:.3f}] 包含 1：这次测不出差别。"
                    "换一个由 oneDNN 计算的算子（卷积、LSTM），或者测久一点。",
                ),
            ),
            evidence=interval,
            reason="undecided",
        )
    price_ms, gap_ms = _price_of_asking_ms(), abs(pair.ratio - 1) * evidence.medians_ms[evidence.baseline]
    if gap_ms < PRICES * price_ms:
        return incorrect(
            both(
                f"The gap of {gap_ms * 1e3:.3g} µs is about what the `with` line itself takes ({price_ms * 1e3:.3g} µs, "
                "around nothing at all): that is Python, no kernel. "
                "Give it more work, and work that oneDNN does.",
                f"相差 {gap_ms * 1e3:.3g} µs，"
                f"跟 `with` 这一行本身的开销（什么都不做也要 {price_ms * 1e3:.3g} µs）差不多：这是 Python 的耗时，"
                "不是 kernel 的。"
                "请加大工作量，并选 oneDNN 会算的算子。",
            ),
            reason="price",
            **interval,
        )
    return correct(
        both(
            f"Time ratio {pair.ratio:.2f}, interval [{pair.low:.2f}, {pair.high:.2f}]: without 1. "
            "So `deterministic=True` was not the only thing that changed. The advice lost.",
            f"耗时比 {pair.ratio:.2f}，区间 [{pair.low:.2f}, {pair.high:.2f}] 不含 1。"
            "可见变的不只是 `deterministic=True`。这条建议输了。",
        ),
        **interval,
    )


def _not_the_request(evidence: Any) -> Verdict | None:
    """What is wrong with the two functions themselves: the same work, one of them inside the request; None if nothing."""
    found = comparison(evidence)
    if found is None:
        return incorrect(
            both(
                "Hand in what `compare(...)` gave back for two functions.",
                "请交上 `compare(...)` 比较两个函数的返回值。",
            ),
            reason="no-comparison",
        )
    steps = [watched(call, "mkldnn.deterministic") for call in found.functions.values()]
    asked = [sorted({step.switches["mkldnn.deterministic"] for step in one}) for one in steps]
    if not all(steps):
        return incorrect(
            both("One of the two functions computes nothing with torch.", "两个函数里有一个没有用 torch 算任何东西。"),
            reason="no-work",
        )
    if sorted(asked) != [[False], [True]]:
        return incorrect(
            both(
                "The request is not what differs: "
                "in one function every operation should run inside `torch.backends.mkldnn.flags(deterministic=True)`, "
                "in the other none.",
                "两者的差别不在那句请求上："
                "应当一个函数的每个算子都在 `torch.backends.mkldnn.flags(deterministic=True)` 里运行，另一个都不在。",
            ),
            reason="switch",
        )
    if not same_work(*steps):
        return incorrect(
            both(
                "The two functions do not compute the same, so their times say nothing about the request.",
                "两个函数算的不是同一件事，耗时就说明不了那句请求。",
            ),
            reason="other-work",
        )
    return None


def _check_states(states: Mapping[str, Any]) -> Verdict:
    """{"named": [...], "before": {...}, "inside": {...}}: a switch moved that was not named."""
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        before, inside = states["before"], states["inside"]
        moved = [name for name in before if before[name] != inside[name] and name not in states["named"]]
        if moved:
            return correct(
                both(f"Not named and yet moved: {', '.join(moved)}.", f"没写却动了：{'、'.join(moved)}。"), moved=moved
            )
        return incorrect(
            both("In these two states nothing moved that was not named.", "这两个状态之间，没写出来的开关都没有动。"),
            reason="nothing-moved",
        )
    return incorrect(
        both(
            'Use the keys "named" (a list), "before" and "inside" (switch -> value).',
            "字典里要有 “named”（列表）、“before” 和 “inside”（开关 -> 值）这三个 key。",
        ),
        reason="no-states",
    )


CHECKS = {"01-make-it-lose": check_make_it_lose}
