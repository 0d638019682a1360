"""Sentence, picture and settled bet of 07-documented: our rounding against a number PyTorch's documentation prints."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from course.i18n import Text, both, t
from course.lessons.l05_cudnn_benchmark.findings import NOTHING
from course.timing.stats import median

SIDE, LARGEST = 10240, 0.1747
"""notes/cuda of PyTorch's documentation, "benchmark data (on A100)": randn(SIDE, SIDE) @ randn(SIDE, SIDE) with TF32
allowed; the largest error of an entry against float64."""
WAYS = {"rounded": both("rounded to the nearest", "舍入到最近"), "cut": both("cut off", "直接截断")}
NEAR, FAR = 0.1, 0.4
"""Within a tenth of the printed number a way explains it; off by more than four tenths it does not."""


def largest_of(entries: int) -> float:
    """The size, in standard deviations, that the largest of so many normal errors exceeds in one case of two."""
    return NormalDist().inv_cdf(1 - math.log(2) / (2 * entries))


def _foretold(record: Any) -> dict[str, list[float]]:
    """way -> for each draw the largest error to expect among SIDE * SIDE entries."""
    times = largest_of(SIDE * SIDE)
    found: dict[str, list[float]] = {}
    for row in record.rows:
        found.setdefault(row["way"], []).append(times * row["typical"])
    return found if set(found) == set(WAYS) else {}


def documented(record: Any) -> Text:
    found = {way: f"{median(values):.2f}" for way, values in _foretold(record).items()}
    if not found:
        return NOTHING
    answer = {"a": both("Only rounding explains the number.", "只有舍入解释得了这个数。"),
              "b": both("Only cutting explains the number.", "只有截断解释得了这个数。"),
              "c": both("Both explain the number.", "两种都解释得了这个数。")}.get(
                  settle_documented(record)["07-bet-page"] or "", both("Neither explains it.", "两种都解释不了。"))
    return both(f"Largest error to expect in the documentation's product: {found['rounded']} if inputs are rounded to 10 "
                f"bits, {found['cut']} if they are cut off there. The A100 showed {LARGEST:.2f}. {answer['en']}",
                f"文档里的那个乘积，最大误差应为：输入舍入到 10 位时 {found['rounded']}，直接截断时 {found['cut']}。"
                f"A100 上是 {LARGEST:.2f}。{answer['zh']}")


def draw_documented(record: Any, ax: Any) -> None:
    from course.figures import samples
    from course.figures.style import guide

    found = _foretold(record)
    samples(ax, {t(name["en"], name["zh"]): found.get(way, []) for way, name in WAYS.items()}, "",
            what=t("largest error to expect; a dot is one draw", "预计的最大误差，一个点是一次抽样"))
    ax.axvline(LARGEST, color=guide(), linestyle="--", linewidth=1.3)
    ax.annotate(t(f"the documentation, on an A100: {LARGEST}", f"文档，A100 上：{LARGEST}"), (LARGEST, 0.5),
                xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_xlim(left=0)


def settle_documented(record: Any) -> dict[str, str | None]:
    off = {way: abs(median(values) / LARGEST - 1) for way, values in _foretold(record).items()}
    if not off:
        return {"07-bet-page": None}
    fits = {way for way, error in off.items() if error < NEAR}
    clear = all(error < NEAR or error > FAR for error in off.values())
    answer = {frozenset({"rounded"}): "a", frozenset({"cut"}): "b", frozenset(WAYS): "c"}.get(frozenset(fits))
    return {"07-bet-page": answer if clear else None}
