"""What the toys and helpers of the lessons say of an argument they cannot use: one sentence, in the learner's language.

Each function raises ValueError. name: of the argument, as it is written in the call.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from reprlib import repr as short
from typing import Any

from course.core.i18n import Text, both, t


def need(right: bool, name: str | Text, wanted: Text, value: Any) -> None:
    """The argument must be right. wanted: what it has to be."""
    if not right:
        named = {"en": name, "zh": name} if isinstance(name, str) else name
        raise ValueError(
            t(
                f"{named['en']} must be {wanted['en']}, not {short(value)}",
                f"{named['zh']}应为{wanted['zh']}，现在是 {short(value)}",
            )
        )


def of_type(name: str, value: Any, kind: type) -> None:
    """The argument must be of this type."""
    need(isinstance(value, kind), name, both(f"of type {kind.__name__}", f" {kind.__name__} 类型"), value)


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> None:
    """The argument must be a whole number, from low to high where they are given."""
    right = isinstance(value, int) and not isinstance(value, bool)
    right = right and (low is None or low <= value) and (high is None or value <= high)
    wanted = both("a whole number", "整数")
    if high is not None:
        wanted = both(f"a whole number from {low} to {high}", f" {low} 到 {high} 的整数")
    elif low is not None:
        wanted = both(f"a whole number from {low} on", f"不小于 {low} 的整数")
    need(right, name, wanted, value)


def number(name: str | Text, value: Any, low: float = -math.inf) -> float:
    """The argument as a float; with ``low`` finite and not below it."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last for a tensor of many values
        found = math.nan
    wanted = (
        both("a number", "一个数") if low == -math.inf else both(f"a number from {low:g} on", f"不小于 {low:g} 的数")
    )
    need(low <= found < math.inf, name, wanted, value)
    return found


def function(name: str, value: Any) -> None:
    """The argument must be something to call."""
    wanted = both("a function without arguments, such as `lambda: f(x)`", "不带参数的函数，例如 `lambda: f(x)`")
    need(callable(value), name, wanted, value)


def one_of(what: Text, value: Any, known: Collection[str]) -> None:
    """The argument must be one of these names. what: what they are names of."""
    names = ", ".join(known)
    need(value in list(known), what, both(f"one of {names}", f"其中之一：{names}"), value)
