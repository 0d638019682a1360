"""Code tasks of lesson 16: the cheaper of two orders, sums in 16 bits, who flushes, and an int8 layer that loses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.checking import not_lost, race_in
from course.i18n import Text, both
from course.lessons.l16_rest.int8_race import int8_layers
from course.slips import PLACEHOLDER, data
from course.verdict import Verdict, correct, incorrect

# --- best_order -----------------------------------------------------------------------------------------------

CHAINS: dict[str, tuple[tuple[int, int, int, int], Text]] = {
    "vector-last": ((1000, 1000, 1000, 1), both("Only one column is wanted in the end.", "最后只要一列。")),
    "vector-first": ((1, 1000, 1000, 1000), both("The first matrix has one row.", "第一个矩阵只有一行。")),
    "adapter": ((1024, 8, 1024, 16), both("The middle is narrow on one side only.", "中间只有一侧是窄的。")),
    "narrow-middle": ((64, 2, 64, 64), both("Count both products of either order.", "两种顺序的两次乘法都要数。")),
    "second-product": ((10, 100, 5, 50), both("The second product counts as well.", "第二次乘法也要算进去。")),
    "small-intermediate": (
        (15, 2, 20, 200),
        both("Count multiplications, not the numbers that are kept in between.", "数的是乘法，不是中间结果的大小。"),
    ),
    "tie": ((7, 7, 7, 7), both('Equally many: the written order, "left".', "一样多时，用书写顺序 “left”。")),
}


def fewest(a: int, b: int, c: int, d: int) -> tuple[str, int]:
    """The cheaper order for A (a×b) @ B (b×c) @ C (c×d), and its multiplications; "left" where both cost the same."""
    left, right = a * b * c + a * c * d, b * c * d + a * b * d
    return ("left", left) if left <= right else ("right", right)


def check_best_order(best_order: Callable[[int, int, int, int], Any]) -> Verdict:
    """Chains in which every usual short cut goes wrong once."""
    for name, (sizes, look) in CHAINS.items():
        got = data(best_order(*sizes))
        if got is None or got is Ellipsis or got == [] or isinstance(got, list) and (None in got or Ellipsis in got):
            return PLACEHOLDER
        if not isinstance(got, list) or len(got) != 2 or got[0] not in ("left", "right"):
            return incorrect(
                both(
                    f'Two things are expected, such as `("left", 2000)`, not {got!r}.',
                    f'应返回两样，例如 `("left", 2000)`，而不是 {got!r}。',
                ),
                reason="form",
            )
        order, count = fewest(*sizes)
        if got != [order, count]:
            return incorrect(
                both(
                    f"Sizes {sizes}: you say {got[0]} with {got[1]} multiplications; it is {order} with {count}. {look['en']}",
                    f"尺寸 {sizes}：你的答案是 {got[0]}，{got[1]} 次乘法；应是 {order}，{count} 次。{look['zh']}",
                ),
                reason=name,
            )
    return correct(
        both(
            "Seven chains, seven times the cheaper order. That is all the search does; it only has more orders to look at.",
            "七条链，七次都选对。找顺序做的就是这件事，只不过要看的顺序更多。",
        )
    )


# --- dot_in_16_bits -------------------------------------------------------------------------------------------

LOW, HIGH = -32768, 32767
DOTS: dict[str, tuple[list[int], list[int], Text]] = {
    "small": ([1, 2, 3, 4], [10, 20, 30, 40], both("Nothing is cut off here.", "这里什么也不会被削掉。")),
    "largest": ([255] * 6, [127] * 6, both("Each pair ends at 32767.", "每一对到 32767 为止。")),
    "total": (
        [200, 100] * 4,
        [100, 100] * 4,
        both(
            "Only the pairs pass through 16 bits; the sum of the pairs is exact.",
            "只有每一对要过 16 位，各对之和是准确的。",
        ),
    ),
    "one-fits": (
        [255, 255],
        [127, 1],
        both("One product of 255 × 127 fits; two may not.", "一个 255 × 127 放得下，两个就不一定。"),
    ),
    "negative": ([255] * 4, [-128] * 4, both("There is an end below, too: -32768.", "下面也有尽头：-32768。")),
    "cancels": ([255, 255], [127, -127], both("A pair is added first and cut off then.", "先把一对加起来，再削。")),
    "odd": ([255, 255, 10], [127, 127, 3], both("The last one may stand alone.", "最后一个可能落单。")),
    "nothing": ([], [], both("No numbers: the sum is 0.", "一个数也没有：和是 0。")),
}


def saturated(inputs: list[int], weights: list[int]) -> int:
    """The sum of products in pairs, each pair cut off at the ends of a signed 16-bit number, as without VNNI."""
    products = [x * w for x, w in zip(inputs, weights, strict=True)]
    return sum(max(LOW, min(HIGH, sum(products[i : i + 2]))) for i in range(0, len(products), 2))


def check_dot(dot_in_16_bits: Callable[[list[int], list[int]], int]) -> Verdict:
    """Sums that fit, saturate above and below, cancel within a pair, or end with a number alone."""
    for name, (inputs, weights, look) in DOTS.items():
        got = data(dot_in_16_bits(list(inputs), list(weights)))
        if got is None or got is Ellipsis:
            return PLACEHOLDER
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return incorrect(
                both(f"A number is expected, not {got!r}.", f"应返回一个数，而不是 {got!r}。"), reason="form"
            )
        true = saturated(inputs, weights)
        if not math.isclose(got, true, abs_tol=0.5):
            return incorrect(
                both(
                    f"inputs {inputs}, weights {weights}: {true} is expected, not {got}. {look['en']}",
                    f"输入 {inputs}，权重 {weights}：应是 {true}，而不是 {got}。{look['zh']}",
                ),
                reason=name,
            )
    return correct(
        both(
            "That is the old instruction. Six pairs of 255 × 127 lose half of their sum, and nothing overflows: it saturates.",
            "老指令就是这样算的。一串 255 × 127 的和丢了一半，可没有溢出报错，它只是饱和了。",
        )
    )


# --- share_kept -----------------------------------------------------------------------------------------------

STORIES: dict[str, tuple[list[str], int, float, Text]] = {
    "never": (["threads"], 2, 1.0, both("Nobody asked to flush.", "没人要求清零。")),
    "late": (
        ["threads", "set"],
        2,
        0.5,
        both("The calling thread flushes its own part.", "调用的线程只清零自己那份。"),
    ),
    "late-of-four": (
        ["threads", "set"],
        4,
        0.75,
        both("One part of four is the caller's.", "四份里有一份是调用者的。"),
    ),
    "early": (["set", "threads"], 4, 0.0, both("New threads inherit.", "新线程会继承。")),
    "taken-back": (
        ["set", "threads", "unset"],
        4,
        0.25,
        both(
            "The others keep what they inherited; the caller took it back.", "其他线程保留继承来的；调用者自己取消了。"
        ),
    ),
    "both-ways": (
        ["set", "unset", "threads"],
        3,
        1.0,
        both("It is off when the threads start.", "线程启动时是关着的。"),
    ),
    "no-large-operation": (["set"], 2, 0.0, both("The multiplication itself starts them.", "乘法本身就会启动线程。")),
    "alone": (["threads", "set"], 1, 0.0, both("One thread is the caller.", "只有一个线程，就是调用者。")),
    "again": (
        ["threads", "set", "unset", "set"],
        5,
        0.8,
        both("The caller's last word counts.", "调用者最后一次说了算。"),
    ),
}


def check_share_kept(share_kept: Callable[[list[str], int], float]) -> Verdict:
    """Stories in every order of the three events, with one thread, two and more."""
    for name, (events, threads, true, look) in STORIES.items():
        got = data(share_kept(list(events), threads))
        if got is None or got is Ellipsis:
            return PLACEHOLDER
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return incorrect(
                both(f"A share is expected, not {got!r}.", f"应返回一个比例，而不是 {got!r}。"), reason="form"
            )
        if not math.isclose(got, true, abs_tol=1e-6):
            return incorrect(
                both(
                    f"{events}, {threads} threads: {true:g} is kept, not {got:g}. {look['en']}",
                    f"{events}，{threads} 个线程：留下 {true:g}，而不是 {got:g}。{look['zh']}",
                ),
                reason=name,
            )
    return correct(
        both(
            "Right in every order: each thread has its own switch, and is born with its creator's.",
            "每种先后都对：开关是每个线程一份，出生时抄的是创建者的。",
        )
    )


# --- make it lose ---------------------------------------------------------------------------------------------


def check_losing(losing: Any) -> Verdict:
    """Accept on evidence: time(int8) / time(float32) wholly above 1, enough rounds, and one layer on both sides."""
    raced = race_in(losing, "int8_race(...)", "float32", "int8")
    if isinstance(raced, Verdict):
        return raced
    engine = int8_layers(raced)
    if engine is None:
        return incorrect(
            both(
                "Both sides should be the same layer, once in float32 and once in int8: let `int8_race` build them.",
                "两边应是同一个层，一次 float32，一次 int8：请让 `int8_race` 来搭。",
            ),
            reason="layers",
        )
    if engine == "qnnpack":
        return incorrect(
            both(
                "qnnpack loses here, you know that from the experiment. Find a layer with which this machine's default engine loses.",
                "qnnpack 会输，实验里已经看到了。请让本机的默认引擎输一次。",
            ),
            reason="qnnpack",
        )
    won = both(
        "int8 won. What costs the same, however small the layer is?", "int8 赢了。想一想，层再小，有哪样开销是不变的？"
    )
    if verdict := not_lost(raced, won):
        return verdict
    low, high = raced.low, raced.high
    return correct(
        both(
            f"Accepted: here int8 takes {low:.2f} to {high:.2f} times as long as float32.",
            f"通过：这里 int8 的耗时是 float32 的 {low:.2f} 到 {high:.2f} 倍。",
        )
    )


CHECKS = {
    "16-best-order": check_best_order,
    "16-sixteen-bits": check_dot,
    "16-share-kept": check_share_kept,
    "16-make-it-lose": check_losing,
}
