"""Code tasks of lesson 05 that run or measure: mend a trap, make the search lose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

from course.checking import Planned, comparison, crash, cudnn_state, not_lost, switched
from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly

# --- search_here ------------------------------------------------------------------------------------------

SITUATIONS = (
    {"enabled": True, "benchmark": False, "deterministic": True, "allow_tf32": False},
    {"enabled": True, "benchmark": True, "deterministic": False, "allow_tf32": True},
    {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": False},
)


def check_search_here(search_here: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """In three situations: the switches inside the block, the value handed back, and what is left behind."""
    verdict = None
    for before in SITUATIONS:
        with switched(**before):
            inside = search_here(cudnn_state)
            after_normal = cudnn_state()
        with switched(**before):
            with contextlib.suppress(Planned):
                search_here(crash)
            after_crash = cudnn_state()
        verdict = _searched(before, inside, after_normal, after_crash)
        if verdict.state != "correct":
            break
    return verdict


def _searched(
    before: dict[str, bool], inside: Any, after_normal: dict[str, bool], after_crash: dict[str, bool]
) -> Verdict:
    if not isinstance(inside, Mapping):
        return incorrect(
            both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"), reason="no-result"
        )
    if not inside["benchmark"]:
        return incorrect(
            both(
                "Inside the block `benchmark` is still False, so nothing would be searched.",
                "块内 `benchmark` 仍是 False，什么也不会搜索。",
            ),
            reason="no-search",
        )
    if not inside["enabled"]:
        return incorrect(
            both(
                "Inside the block cuDNN is off: `flags` sets `enabled=False` unless you say otherwise. "
                "A search in a library that is switched off finds little.",
                "块内 cuDNN 被关掉了：`flags` 默认 `enabled=False`。库都关了，还搜索什么呢。",
            ),
            reason="cudnn-off",
        )
    if after_normal != before or after_crash != before:
        when = both("after an exception", "抛出异常之后") if after_normal == before else both("afterwards", "之后")
        return partly(
            0.5,
            1.0,
            both(
                f"Inside all is well, but {when['en']} the switches are not what they were (`benchmark` may have been True before).",
                f"块内都对，但{when['zh']}开关没有恢复原样（`benchmark` 之前也可能是 True）。",
            ),
            reason="left-behind",
        )
    for name in ("deterministic", "allow_tf32"):
        if inside[name] != before[name]:
            return partly(
                0.5,
                1.0,
                both(
                    "cuDNN is on and searches. "
                    f"But `{name}` was {before[name]} outside and is {inside[name]} inside: hand over what it holds at that moment.",
                    f"cuDNN 开着，也在搜索。但外面 `{name}` 是 {before[name]}，块内变成了 {inside[name]}：把它当时的值传进去。",
                ),
                reason="neighbours",
            )
    return correct(
        both(
            "cuDNN on, searching, the two others untouched, everything back afterwards.",
            "cuDNN 开着，在搜索，另外两个不变，结束后全部恢复。",
        )
    )


# --- make it lose -----------------------------------------------------------------------------------------


def check_make_it_lose(race: Any) -> Verdict:
    """Accept on evidence: the interval of time(on) / time(off) lies above 1, from enough rounds."""
    raced = comparison(race)
    if raced is None:
        return incorrect(
            both(
                '`race` should be what `compare` gave back for "off" and "on".',
                '`race` 应是 `compare` 对 "off" 和 "on" 的返回结果。',
            ),
            reason="no-comparison",
        )
    if raced.baseline != "off":
        return incorrect(
            both(
                'The baseline is "off", so that a ratio above 1 means: the search costs.',
                '基准应是 "off"，这样比值大于 1 才表示搜索亏了。',
            ),
            reason="baseline",
        )
    off, on = (_schedule(raced.functions[name]) for name in ("off", *raced.pairs))
    if (
        {searches for searches, _ in off} != {False}
        or {searches for searches, _ in on} != {True}
        or ([size for _, size in off] != [size for _, size in on])
    ):
        return incorrect(
            both(
                "The two sides should run one schedule: the same sizes in the same order, off without a search, on with it.",
                "两边应跑同一个安排：尺寸和顺序相同，off 不搜索，on 搜索。",
            ),
            reason="schedule",
        )
    won = both(
        "Here the search won. Give it less to gain: fewer steps, or more new sizes.",
        "这次搜索赢了。让它少赚一点：减少步数，或增加新尺寸。",
    )
    if verdict := not_lost(raced, won):
        return verdict
    low, high = raced.low, raced.high
    return correct(
        both(
            f"Accepted: the interval [{low:.2f}, {high:.2f}] lies above 1. The search lost, on evidence.",
            f"通过：区间 [{low:.2f}, {high:.2f}] 整个在 1 之上。搜索确实输了，有据可查。",
        ),
        low=low,
        high=high,
    )


def _schedule(run: Callable[[], Any]) -> list[tuple[bool, int]]:
    """(benchmark, size) of every step of the toy in one run, as the toy itself sees them."""
    from course.toy_search import ToyConv

    steps, real = [], ToyConv.__call__

    def look(self: Any, x: Any, weight: Any) -> Any:
        steps.append((self.benchmark, x.shape[-1]))
        return real(self, x, weight)

    with mock.patch.object(ToyConv, "__call__", look):
        run()
    return steps


CHECKS = {"05-search-here": check_search_here, "05-make-it-lose": check_make_it_lose}
