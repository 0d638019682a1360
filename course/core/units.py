"""How figures are written: times and quantities with a unit, ratios with as many decimals as their interval deserves, points.

And in words, as people say them: 43 % less, twice as long, 1 in 340, 6.1 ms.
"""

from __future__ import annotations

from course.core.i18n import Text, both, pick, t


def format_ms(ms: float) -> str:
    """A time with three significant figures and a unit that suits: 812 ms, 3.10 ms, 41.2 µs, 85.0 ns."""
    for limit, scale, unit in ((1e-3, 1e6, "ns"), (1.0, 1e3, "µs"), (1e3, 1.0, "ms")):
        if ms < limit * 0.9995:
            return f"{_three(ms * scale)} {unit}"
    return f"{_three(ms / 1e3)} s"


def _three(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"


def scaled(value: float, unit: str) -> str:
    """A quantity with three significant figures and a decimal prefix: 1.20 GFLOP/s, 25.1 GB/s."""
    for limit, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit * 0.9995:
            return f"{_three(value / limit)} {prefix}{unit}"
    return f"{value:.0f} {unit}" if value == int(value) else f"{_three(value)} {unit}"


def format_points(points: float) -> str:
    """Points as a mark shows them, in either language: to the hundredth, no zeros at the end: 6.25, 0.67, 13, 100.5."""
    return f"{round(points, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def format_ratio(ratio: float, low: float, high: float) -> tuple[str, str, str]:
    """A ratio and the ends of its interval, all with the same number of digits."""
    digits = 4 if high - low < 0.004 else 3
    if high < 0.1 or high >= 10:
        return f"{ratio:.3g}", f"{low:.3g}", f"{high:.3g}"
    return f"{ratio:.{digits}f}", f"{low:.{digits}f}", f"{high:.{digits}f}"


# --- in words ---

SAME = 0.02
"""Ratios no further from 1 are called the same."""
LEAST_SHARE = 0.1
"""A smaller ratio is said as a part, 1/31, not in per cent."""


def ratio_words(ratio: float) -> str:
    """A ratio of times as people say it: 43 % less, the same, 7 % more, 2.1× as long."""
    if abs(ratio - 1) <= SAME:
        return t("the same", "一样")
    if ratio < LEAST_SHARE:
        return t(f"1/{times(1 / ratio)} of it", f"降到 1/{times(1 / ratio)}")
    if ratio < 1:
        return t(f"{(1 - ratio) * 100:.0f} % less", f"省 {(1 - ratio) * 100:.0f}%")
    if ratio < 1.95:
        return t(f"{(ratio - 1) * 100:.0f} % more", f"多 {(ratio - 1) * 100:.0f}%")
    return t(f"{times(ratio)}× as long", f"{times(ratio)} 倍时间")


def time_change(ratio: float) -> str:
    """The same with its noun: 1/31 of the time, 43 % less time, the same time, 7 % more time, twice as long."""
    if abs(ratio - 1) <= SAME:
        return t("the same time", "耗时不变")
    if ratio < 1:
        return pick(less_time(ratio))
    if ratio < 1.95:
        return t(f"{100 * ratio - 100:.0f} % more time", f"多花 {100 * ratio - 100:.0f}% 的时间")
    return pick(fold(ratio, "{} as long", "要花{}的时间"))


def less_time(ratio: float) -> Text:
    """The time that is saved, for a ratio below 1: 43 % less time, 1/31 of the time."""
    if ratio < LEAST_SHARE:
        return both(f"1/{times(1 / ratio)} of the time", f"耗时降到 1/{times(1 / ratio)}")
    return both(f"{100 - 100 * ratio:.0f} % less time", f"省 {100 - 100 * ratio:.0f}% 的时间")


def times(ratio: float) -> str:
    """How many times, without more digits than people say: 2.1, 10, 45, 130."""
    said = float(f"{ratio:.2g}")
    return f"{said:g}" if said < 10 else f"{said:,.0f}"


def one_in(error: float) -> str:
    """A relative error as people say it: 1 in 340; exact for 0."""
    if not error:
        return t("exact", "无误差")
    if error >= 0.5:
        return f"{error:.2g}"
    part = f"{float(f'{1 / error:.2g}'):,.0f}"
    return t(f"1 in {part}", f"{part} 分之一")


def fold(ratio: float, en: str, zh: str, whole: bool = False) -> Text:
    """A sentence in which ``{}`` becomes how many times: twice, 2.1 times, 45 times; 两倍, 2.1 倍. whole: from 3 on without decimals.

    zh has no space before ``{}``: only a digit needs one.
    """
    number = f"{ratio:.0f}" if whole and 3 <= ratio < 20 else times(ratio)
    said = ("twice", "两倍") if number == "2" else (f"{number} times", f" {number} 倍")
    return both(en.replace("{}", said[0]), zh.replace("{}", said[1]))


def time_words(seconds: float) -> str:
    """6.1 ms, 0.12 s, 2.3 s: never a power of ten."""
    for unit, factor in (("µs", 1e6), ("ms", 1e3), ("s", 1)):
        if seconds * factor < 99.5:
            return f"{float(f'{seconds * factor:.2g}'):g} {unit}"
    return f"{seconds / 60:.0f} min"
