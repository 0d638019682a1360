"""What follows from the rows: a verdict on each setting, which to take together, one sentence for all. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from course.experiment.reading import CUT_SHORT, EMPTY
from course.experiment.rows import kind_of
from course.figures.kinds import times
from course.i18n import Text, both, t
from course.tables import clip

ALIKE = 0.05
"""A likely range within this share of 1 is no difference that is worth a line."""
LOST = 10
"""So many times the error of the step as it is: a digit is lost."""
FLOOR, FLOOR_AS_IS = 1e-6, 1e-5
"""Smallest error that counts as one: with a float64 run, and where the step as it is stands for the truth."""

Row = Mapping[str, Any]


def verdict_of(row: Row) -> str:
    """take | digits (faster, but a digit or more is lost) | same | slower | unsure | untried."""
    if row.get("why"):
        return "untried"
    if row.get("low") is None:
        return "unsure"
    kind = kind_of(row)
    if kind == "faster":
        return "digits" if loses(row) else "take"
    near = 1 - ALIKE <= row["low"] and row["high"] <= 1 + ALIKE
    return "same" if kind == "undecided" and near else {"undecided": "unsure"}.get(kind, kind)


def loses(row: Row) -> bool:
    """Whether the result is off by far more than that of the step as it is; where nobody can tell, whether fewer digits are the point."""
    error = row.get("error")
    if error is None:
        return bool(row.get("lossy"))
    return bool(error > LOST * max(row.get("error_as_is") or 0, FLOOR if row.get("float64") else FLOOR_AS_IS))


def verdict_words(row: Row) -> str:
    """The verdict on a row in the reader's language."""
    if row.get("late_s") and row.get("ratio") is None:
        need = math.ceil(row["late_s"])
        return t(f"no time left: it needs {need} s more", f"没时间试了：还要 {need} 秒")
    return {
        "take": t("take it", "用它"),
        "digits": t("faster, but other digits: your decision", "更快，但数字变了：由你决定"),
        "same": t("no difference", "没差别"),
        "slower": t("slower", "更慢"),
        "unsure": _unsure_words(row),
        "untried": t(f"could not be tried: {clip(row.get('why'), 70)}", f"没能试：{clip(row.get('why'), 70)}"),
    }[verdict_of(row)]


def _unsure_words(row: Row) -> str:
    if row.get("low") is None:
        return t("too little measured to tell", "测得太少，说不准")
    if row["high"] < 1:
        return t("probably faster: give it more time", "多半更快：多给些时间再试")
    return t("probably slower", "多半更慢") if row["low"] > 1 else t("cannot be told yet", "还说不准")


def winners(rows: Sequence[Row]) -> list[Row]:
    """The faster settings, the best first, one of each family."""
    found: dict[str, Row] = {}
    for row in sorted((row for row in rows if verdict_of(row) in ("take", "digits")), key=lambda row: row["ratio"]):
        found.setdefault(row["family"], row)
    return list(found.values())


def advised(rows: Sequence[Row], together: Row | None) -> tuple[list[Row], Row | None]:
    """The settings to paste, and the row that says what they bring: all winners where that is the fastest, else the best alone."""
    found = winners(rows)
    if (
        len(found) > 1
        and together
        and verdict_of(together) in ("take", "digits")
        and together["ratio"] < found[0]["ratio"]
    ):
        return found, together
    return found[:1], found[0] if found else None


def headline(rows: Sequence[Row], together: Row | None, stopped: bool) -> Text:
    """What came out, in one sentence."""
    settings, row = advised(rows, together)
    if row is None:
        verdicts = [verdict_of(one) for one in rows]
        if not any(one.get("low") for one in rows):
            return EMPTY if stopped or not rows else both("Too little was measured to tell.", "测得太少，还说不准。")
        if "unsure" in verdicts or stopped:
            return CUT_SHORT if stopped else both("Nothing is known to help yet.", "还没发现有用的设置。")
        return both("Nothing here helps: your step runs best as it is.", "试过的都没用：保持现状就好。")
    count = len(settings)
    number = both(*_NUMBERS.get(count, (str(count), f" {count} ")))
    gain = 1 / row["ratio"]
    if gain < 1.3:
        part = f"{(1 - row['ratio']) * 100:.0f}"
        said = both(
            f"{number['en']} setting{'s save' if count > 1 else ' saves'} {part} % of your step's time",
            f"{number['zh']}项设置省下 {part}% 的时间",
        )
    else:
        twice = times(gain)
        fast = "twice as fast" if twice == "2" else f"{twice} times as fast"
        said = both(
            f"{number['en']} setting{'s make' if count > 1 else ' makes'} your step {fast}",
            f"{number['zh']}项设置让速度变成 {twice} 倍",
        )
    end = _digits_words(row)
    return both(f"{said['en']}; {end['en']}.", f"{said['zh']}，{end['zh']}。")


_NUMBERS = {1: ("One", "一"), 2: ("Two", "两"), 3: ("Three", "三"), 4: ("Four", "四"), 5: ("Five", "五")}
_DIGITS = (
    ("first", "一"), ("second", "二"), ("third", "三"), ("fourth", "四"), ("fifth", "五"), ("sixth", "六"), ("seventh", "七")
)  # fmt: skip


def _digits_words(row: Row) -> dict[str, str]:
    if not loses(row):
        return both("results stay as exact", "结果一样准")
    error = row.get("error")
    if not error or not math.isfinite(error):
        return both("but results differ", "但结果变了")
    english, chinese = _DIGITS[min(max(math.floor(-math.log10(error)), 0), len(_DIGITS) - 1)]
    return both(f"results move in the {english} digit", f"结果从第{chinese}位开始变")


def pays_after(row: Row) -> int | None:
    """After how many steps the price of the first call is paid back; None where there is none, or nothing to pay with."""
    price, base, ratio = row.get("price_ms") or 0, row.get("base_ms") or 0, row.get("ratio") or 1
    gain = base * (1 - ratio)
    return math.ceil(price / gain) if price > base and gain > 0 else None
