"""Words that the findings of all lessons share: lists, medians with their interval, the sentence for too little data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.i18n import Text, both, t
from course.timing.render import bracketed, too_few
from course.timing.stats import interval_or_none, median

FEW = 6  # fewer repeats decide no bet
NOTHING = both("Inconclusive: too few rows came back. Run it again.", "无法判定：返回的数据太少。请再运行一次。")
TOO_NOISY = both("Too noisy here to tell.", "这里噪声太大，说不准。")
"""The headline where nothing can be told; the block adds why, and the next step."""
TOO_FEW = both("Too few rounds to tell.", "轮数太少，说不准。")
CUT_SHORT = both("The run ended too early to tell.", "运行结束得太早，还说不准。")
EMPTY = both("Nothing was measured before the run ended.", "运行结束前什么都没测到。")
FAULT = both(
    "Something in the course is broken here, not on your machine.", "这里是课程本身出了错，不是你的机器有问题。"
)
"""The headline where complete rows could not be read: an error of the course, never told as noise."""
OPEN = (TOO_NOISY, TOO_FEW, CUT_SHORT, EMPTY, FAULT)
"""The headlines that claim nothing."""
VERDICTS = {
    "faster": both("faster", "更快"),
    "slower": both("slower", "更慢"),
    "same": both("no difference", "没差别"),
    "undecided": both("undecided", "无法判定"),
}
"""What `compare` says, in words."""


def word(text: Text) -> str:
    """A two-language text in the language of the figure."""
    return t(text["en"], text["zh"])


def joined(names: Sequence[str], code: str) -> str:
    """A list in words, with the comma of the language."""
    return (", " if code == "en" else "、").join(names)


def middle(values: Sequence[float], digits: int = 3) -> str:
    """Median and 95 % interval of it as text, 3.1 [2.9, 3.4]; of too few values their range, 3.1 (2.9–3.4)."""
    return spread(values, lambda value: f"{value:.{digits}g}")


def spread(values: Sequence[float], said: Callable[[float], str]) -> str:
    """As ``middle``, every number written by ``said``."""
    value, interval = said(median(values)), interval_or_none(values)
    if interval:
        return bracketed(value, said(interval.low), said(interval.high))
    low, high = said(min(values)), said(max(values))
    return value if low == high else f"{value} ({low}–{high})"


def with_interval(row: dict, code: str) -> str:
    """``ratio`` of a row with its interval, 0.57 [0.56, 0.60]; where it has none, that the rounds are too few to tell."""
    if row["low"] is None:
        return too_few(row["rounds"])[code]
    return ratio_of(row)


def ratio_of(row: Mapping[str, Any], form: str = ".2f") -> str:
    """``ratio`` of a row with its interval, 0.57 [0.56, 0.60]; alone where it has none."""
    value = f"{row['ratio']:{form}}"
    return value if row["low"] is None else bracketed(value, f"{row['low']:{form}}", f"{row['high']:{form}}")


def sci(value: float) -> str:
    """A number in two digits: 0.00029 -> 2.9e-04, 12.3 -> 12, 2234 -> 2,200."""
    if abs(value) >= 100:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:.2g}" if abs(value) >= 0.01 else f"{value:.1e}"


def groups(rows: Sequence[dict], key: str) -> dict[Any, list[dict]]:
    """The rows by their value of ``key``, in order of appearance."""
    found: dict[Any, list[dict]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def doubtful(settled: dict[str, Any]) -> Text:
    """What to say first where the record decides nothing; empty where it decides."""
    if None not in settled.values():
        return both("", "")
    return both(
        "Inconclusive, the machine was too busy or the time too short; run it again. ",
        "无法判定：机器太忙或时间不够，请再运行一次。",
    )
