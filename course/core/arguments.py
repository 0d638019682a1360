"""What the toys and helpers of the lessons say of an argument they cannot use: one sentence, in the learner's language.

Each function raises ValueError. name: of the argument, as it is written in the call.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from reprlib import repr as short
from typing import Any

from course.core.i18n import Text, pick, t

NOT_A_FLOAT = (TypeError, ValueError, OverflowError, RuntimeError)
"""What float() raises for what it cannot use, a tensor of many values too."""


def of_type(name: str, value: Any, kind: type) -> None:
    """The argument must be of this type."""
    if not isinstance(value, kind):
        raise ValueError(
            t(
                f"{name} must be of type {kind.__name__}, not {short(value)}",
                f"{name} 应为 {kind.__name__} 类型，现在是 {short(value)}",
            )
        )


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> None:
    """The argument must be a whole number, from low to high where they are given."""
    right = isinstance(value, int) and not isinstance(value, bool)
    if right and (low is None or low <= value) and (high is None or value <= high):
        return
    english, chinese = "", "整数"
    if high is not None:
        english, chinese = f" from {low} to {high}", f" {low} 到 {high} 的整数"
    elif low is not None:
        english, chinese = f" from {low} on", f"不小于 {low} 的整数"
    raise ValueError(
        t(f"{name} is a whole number{english}, not {short(value)}", f"{name} 应为{chinese}，现在是 {short(value)}")
    )


def several(name: str, value: Any, example: str) -> None:
    """The argument must be a list or something else with several values."""
    if not isinstance(value, Iterable):
        raise ValueError(
            t(
                f"{name} is a list such as {example}, not {short(value)}",
                f"{name} 应为列表，例如 {example}，现在是 {short(value)}",
            )
        )


def number(name: str, value: Any) -> float:
    """The argument as a float."""
    try:
        return float(value)
    except NOT_A_FLOAT:
        raise ValueError(
            t(f"{name} is a number, not {short(value)}", f"{name} 应为一个数，现在是 {short(value)}")
        ) from None


def milliseconds(what: Text, value: Any) -> float:
    """A duration as a float: finite and not negative. what: what takes so long."""
    try:
        found = float(value)
    except NOT_A_FLOAT:
        found = math.nan
    if not 0 <= found < math.inf:
        raise ValueError(
            t(
                f"{what['en']} cannot take {short(value)} ms: give 0 or more milliseconds",
                f"{what['zh']}的时长不能是 {short(value)} ms：请给 0 或更大的毫秒数",
            )
        )
    return found


def function(name: str, value: Any) -> None:
    """The argument must be something to call."""
    if not callable(value):
        raise ValueError(
            t(
                f"{name} is a function without arguments, such as `lambda: f(x)`, not {short(value)}",
                f"{name} 应为不带参数的函数，例如 `lambda: f(x)`，现在是 {short(value)}",
            )
        )


def one_of(what: Text, value: Any, known: Collection[str]) -> None:
    """The argument must be one of these names. what: what they are names of."""
    if value not in list(known):
        names = ", ".join(known)
        raise ValueError(
            t(
                f"there is no {what['en']} {short(value)} here; take one of {names}",
                f"这里没有 {short(value)} 这种{pick(what, 'zh')}；可选的有 {names}",
            )
        )
