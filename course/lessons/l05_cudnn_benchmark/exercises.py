"""Code tasks of lesson 05: count searches, find the break-even, mend a trap, make the search lose."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

from course.checking import Planned, comparison, crash, cudnn_state, not_lost, switched
from course.i18n import both
from course.verdict import Verdict, correct, incorrect, partly

# --- count_searches ---------------------------------------------------------------------------------------


def _shapes(*pairs: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    return [(batch, 3, size, size) for batch, size in pairs]


SHAPE_CASES = {
    "loop": _shapes(*[(16, size) for size in (128, 256, 512)] * 4),
    "fixed": _shapes(*[(32, 224)] * 5),
    "last batch": _shapes(*[(32, 224)] * 3, (8, 224), *[(32, 224)] * 3, (8, 224)),
    "one batch more": [(batch, 3, 224, 224) for batch in (1, 2, 1, 2)],
    "channels": [(8, channels, 64, 64) for channels in (3, 3, 4, 3)],
    "heights": [(8, 3, height, 64) for height in (64, 65, 64)],
    "widths": [(8, 3, 64, width) for width in (64, 65, 64)],
    "turned": [(8, 3, 48, 96), (8, 3, 96, 48), (8, 6, 48, 48)],
    "empty": [],
}


def check_count_searches(count_searches: Callable[[list[tuple]], int]) -> Verdict:
    """A loop of sizes, one shape, a small last batch, nothing at all."""
    for name, shapes in SHAPE_CASES.items():
        expected, got = len(set(shapes)), count_searches(list(shapes))
        if got == expected and not isinstance(got, bool):
            continue
        return _wrong_count(name, shapes, got, expected)
    return correct(
        both(
            "One search for each different shape, however often it comes back.",
            "每种不同的形状搜索一次，回来多少次都一样。",
        )
    )


def _wrong_count(name: str, shapes: list[tuple], got: Any, expected: int) -> Verdict:
    if shapes and got == len(shapes):
        return incorrect(
            both(
                f"{got} is one search a call. A shape that comes back is found in the cache.",
                f"{got} 表示每次调用都搜索。回头再来的形状在缓存里就能找到。",
            ),
            reason="every-call",
        )
    if name == "loop":
        return incorrect(
            both(
                f"Three sizes, four times over: {expected} searches, not {got!r}. "
                "A change of size is a search only when the size is new.",
                f"三种尺寸重复四遍：应是 {expected} 次搜索，不是 {got!r}。只有没见过的尺寸才要搜索。",
            ),
            reason="every-change",
        )
    if name == "last batch" and got == 1:
        return incorrect(
            both(
                "Same height and width, but another batch: the whole shape is in the key.",
                "高宽相同，但 batch 不同：整个形状都在 key 里。",
            ),
            reason="batch",
        )
    return incorrect(
        both(
            f"For {shapes!r} there are {expected} searches, not {got!r}.",
            f"对 {shapes!r}，应有 {expected} 次搜索，不是 {got!r}。",
        ),
        reason="wrong-count",
    )


# --- break_even_steps -------------------------------------------------------------------------------------

BILLS = [(900.0, 14.0, 11.0, 300), (10.0, 4.0, 1.0, 4), (1000.0, 8.0, 7.5, 2000), (0.0, 5.0, 4.0, 0)]


def check_break_even(break_even_steps: Callable[[float, float, float], int | None]) -> Verdict:
    """Whole results, a result to round up, no search cost; then no gain and a loss."""
    for search_ms, slow_ms, fast_ms, expected in BILLS:
        got = break_even_steps(search_ms, slow_ms, fast_ms)
        if got != expected or isinstance(got, bool):
            return _wrong_bill((search_ms, slow_ms, fast_ms), got, expected)
    for slow_ms, fast_ms in ((5.0, 5.0), (5.0, 6.0)):
        got = break_even_steps(100.0, slow_ms, fast_ms)
        if got is not None:
            return partly(
                0.5,
                1.0,
                both(
                    "The arithmetic is right. "
                    f"One case is left: {slow_ms:g} ms without and {fast_ms:g} ms with the search gain nothing, "
                    f"so the answer is `None`, not {got!r}.",
                    f"算法对了，还剩一种情况：不搜索 {slow_ms:g} ms、搜索后 {fast_ms:g} ms，没有任何收益，"
                    f"应返回 `None`，而不是 {got!r}。",
                ),
                reason="no-gain",
            )
    return correct(
        both(
            "Search cost over gain per step, rounded up; `None` where nothing is gained.",
            "搜索成本除以每步收益，向上取整；没有收益就是 `None`。",
        )
    )


def _wrong_bill(bill: tuple[float, float, float], got: Any, expected: int) -> Verdict:
    search_ms, slow_ms, fast_ms = bill
    case = both(
        f"search {search_ms:g} ms, {slow_ms:g} → {fast_ms:g} ms a step",
        f"搜索 {search_ms:g} ms，每步 {slow_ms:g} → {fast_ms:g} ms",
    )
    gain, shown = slow_ms - fast_ms, f"{got:g}" if isinstance(got, float) else repr(got)
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        if got == expected - 1 and search_ms / gain % 1:
            return incorrect(
                both(
                    f"{case['en']}: after {got} steps the search is still behind. Round up.",
                    f"{case['zh']}：走了 {got} 步还没追平。要向上取整。",
                ),
                reason="too-early",
            )
        if math.isclose(got, search_ms / gain):
            return partly(
                0.5,
                1.0,
                both(
                    f"{case['en']}: {got:g} is the right quotient. Steps are whole: round up.",
                    f"{case['zh']}：商 {got:g} 是对的。步数是整数：向上取整。",
                ),
                reason="no-whole-step",
            )
    return incorrect(
        both(
            f"{case['en']}: expected {expected}, and it was {shown}. Each step gains {gain:g} ms.",
            f"{case['zh']}：应为 {expected}，得到 {shown}。每步省下 {gain:g} ms。",
        ),
        reason="wrong-steps",
    )


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


CHECKS = {
    "05-count-searches": check_count_searches,
    "05-break-even": check_break_even,
    "05-search-here": check_search_here,
    "05-make-it-lose": check_make_it_lose,
}
