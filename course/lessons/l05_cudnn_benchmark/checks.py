"""The checks of lesson 05: each judges what the learner made and says, in a sentence, what to do next."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from course.i18n import both
from course.verdict import Verdict, correct, inconclusive, incorrect, partly

LEAST_ROUNDS = 5


# --- count_searches ---------------------------------------------------------------------------------------

def _shapes(*pairs: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    return [(batch, 3, size, size) for batch, size in pairs]


SHAPE_CASES = {
    "loop": _shapes(*[(16, size) for size in (128, 256, 512)] * 4),
    "fixed": _shapes(*[(32, 224)] * 5),
    "last batch": _shapes(*[(32, 224)] * 3, (8, 224), *[(32, 224)] * 3, (8, 224)),
    "empty": [],
}


def check_count_searches(count_searches: Callable[[list[tuple]], int]) -> Verdict:
    """A loop of sizes, one shape, a small last batch, nothing at all."""
    for name, shapes in SHAPE_CASES.items():
        expected, got = len(set(shapes)), count_searches(list(shapes))
        if got == expected and not isinstance(got, bool):
            continue
        return _wrong_count(name, shapes, got, expected)
    return correct(both("One search for each different shape, however often it comes back.",
                        "每种不同的形状搜索一次，回来多少次都一样。"))


def _wrong_count(name: str, shapes: list[tuple], got: Any, expected: int) -> Verdict:
    if shapes and got == len(shapes):
        return incorrect(both(f"{got} is one search a call. A shape that comes back is found in the cache.",
                              f"{got} 表示每次调用都搜索。回头再来的形状在缓存里就能找到。"))
    if name == "loop":
        return incorrect(both(
            f"Three sizes, four times over: {expected} searches, not {got!r}. A change of size is a search "
            f"only when the size is new.",
            f"三种尺寸重复四遍：应是 {expected} 次搜索，不是 {got!r}。只有没见过的尺寸才要搜索。"))
    if name == "last batch" and got == 1:
        return incorrect(both("Same height and width, but another batch: the whole shape is in the key.",
                              "高宽相同，但 batch 不同：整个形状都在键里。"))
    return incorrect(both(f"For {shapes!r} there are {expected} searches, not {got!r}.",
                          f"对 {shapes!r}，应有 {expected} 次搜索，不是 {got!r}。"))


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
            return partly(0.5, 1.0, both(
                f"The arithmetic is right. One case is left: {slow_ms:g} ms without and {fast_ms:g} ms with "
                f"the search gain nothing, so the answer is `None`, not {got!r}.",
                f"算法对了，还剩一种情况：不搜索 {slow_ms:g} ms、搜索后 {fast_ms:g} ms，没有任何收益，"
                f"应返回 `None`，而不是 {got!r}。"))
    return correct(both("Search cost over gain per step, rounded up; `None` where nothing is gained.",
                        "搜索成本除以每步收益，向上取整；没有收益就是 `None`。"))


def _wrong_bill(bill: tuple[float, float, float], got: Any, expected: int) -> Verdict:
    search_ms, slow_ms, fast_ms = bill
    case = both(f"search {search_ms:g} ms, {slow_ms:g} → {fast_ms:g} ms a step",
                f"搜索 {search_ms:g} ms，每步 {slow_ms:g} → {fast_ms:g} ms")
    gain = slow_ms - fast_ms
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        if got == expected - 1 and search_ms / gain % 1:
            return incorrect(both(f"{case['en']}: after {got} steps the search is still behind. Round up.",
                                  f"{case['zh']}：走了 {got} 步还没追平。要向上取整。"))
        if math.isclose(got, search_ms / gain):
            return partly(0.5, 1.0, both(f"{case['en']}: {got:g} is the right quotient. Steps are whole: "
                                         f"round up.",
                                         f"{case['zh']}：商 {got:g} 是对的。步数是整数：向上取整。"))
    return incorrect(both(f"{case['en']}: expected {expected}, and it was {got!r}. Each step gains {gain:g} "
                          f"ms.",
                          f"{case['zh']}：应为 {expected}，得到 {got!r}。每步省下 {gain:g} ms。"))


# --- search_here ------------------------------------------------------------------------------------------

def _state() -> dict[str, Any]:
    import torch

    cudnn = torch.backends.cudnn
    return {name: getattr(cudnn, name) for name in ("enabled", "benchmark", "deterministic", "allow_tf32")}


@contextlib.contextmanager
def _set(**wanted: bool) -> Iterator[None]:
    """Some cuDNN switches for one block, put back whatever the learner's function left behind."""
    import torch

    before = _state()
    try:
        for name, value in wanted.items():
            setattr(torch.backends.cudnn, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(torch.backends.cudnn, name, value)


class Planned(Exception):
    """Raised by the check inside the learner's block."""


def _crash() -> None:
    raise Planned


def check_search_here(search_here: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Look at the switches inside the block, at the value handed back, and at what is left behind."""
    with _set(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        before = _state()
        inside = search_here(_state)
        after_normal = _state()
    with _set(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        with contextlib.suppress(Planned):
            search_here(_crash)
        after_crash = _state()
    if not isinstance(inside, Mapping):
        return incorrect(both("Hand back what `run()` returned.", "请把 `run()` 的返回值返回出来。"))
    if not inside["benchmark"]:
        return incorrect(both("Inside the block `benchmark` is still False, so nothing would be searched.",
                              "块内 `benchmark` 仍是 False，什么也不会搜索。"))
    if not inside["enabled"]:
        return incorrect(both("Inside the block cuDNN is off: `flags` sets `enabled=False` unless you say "
                              "otherwise. A search in a library that is switched off finds little.",
                              "块内 cuDNN 被关掉了：`flags` 默认 `enabled=False`。库都关了，还搜索什么呢。"))
    if after_normal != before or after_crash != before:
        when = both("after an exception", "抛出异常之后") if after_normal == before else both("afterwards", "之后")
        return partly(0.5, 1.0, both(f"Inside all is well, but {when['en']} the switches are not what they "
                                     f"were.",
                                     f"块内都对，但{when['zh']}开关没有恢复原样。"))
    for name in ("deterministic", "allow_tf32"):
        if inside[name] != before[name]:
            return partly(0.5, 1.0, both(
                f"cuDNN is on and searches. But `{name}` was {before[name]} outside and is {inside[name]} "
                f"inside: hand it over too.",
                f"cuDNN 开着，也在搜索。但外面 `{name}` 是 {before[name]}，块内变成了 {inside[name]}：把它也传"
                f"进去。"))
    return correct(both("cuDNN on, searching, the two others untouched, everything back afterwards.",
                        "cuDNN 开着，在搜索，另外两个不变，结束后全部恢复。"))


# --- make it lose -----------------------------------------------------------------------------------------

def check_make_it_lose(race: Any) -> Verdict:
    """Accept on evidence: the interval of time(on) / time(off) lies above 1, from enough rounds."""
    try:
        low, high, rounds = (_field(race, name) for name in ("low", "high", "rounds"))
    except (AttributeError, KeyError, TypeError):
        return incorrect(both("`race` should be what `compare` gave back for \"off\" and \"on\".",
                              "`race` 应是 `compare` 对 \"off\" 和 \"on\" 的返回结果。"))
    if getattr(race, "baseline", "off") != "off":
        return incorrect(both("The baseline is \"off\", so that a ratio above 1 means: the search costs.",
                              "基准应是 \"off\"，这样比值大于 1 才表示搜索亏了。"))
    if rounds < LEAST_ROUNDS:
        return inconclusive(both(f"Only {rounds} rounds: give it more time with `max_time=`.",
                                 f"只有 {rounds} 轮：用 `max_time=` 多给些时间。"))
    if low > 1:
        return correct(both(f"Accepted: the interval [{low:.2f}, {high:.2f}] lies above 1. The search lost, "
                            f"on evidence.",
                            f"通过：区间 [{low:.2f}, {high:.2f}] 整个在 1 之上。搜索确实输了，有据可查。"),
                       low=low, high=high)
    if high < 1:
        return incorrect(both(f"Here the search won: [{low:.2f}, {high:.2f}] lies below 1. Give it less to "
                              f"gain: fewer steps, or more new sizes.",
                              f"这次搜索赢了：[{low:.2f}, {high:.2f}] 在 1 之下。让它少赚一点：减少步数，或增加新尺寸。"))
    return inconclusive(both(f"[{low:.2f}, {high:.2f}] contains 1: undecided. A clearer schedule, or more "
                             f"time, settles it.",
                             f"[{low:.2f}, {high:.2f}] 包含 1：未定。换一个更极端的安排，或多给些时间。"))


def _field(race: Any, name: str) -> float:
    return race[name] if isinstance(race, Mapping) else getattr(race, name)
