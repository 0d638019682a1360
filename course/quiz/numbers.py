"""Numbers as people type them."""

from __future__ import annotations

import unicodedata

from course.i18n import t
from course.quiz.session import AnswerError


def parse_number(text: str) -> float:
    """The number typed: 3, 2.5e6, 1,234,567, full-width digits.

    Raises AnswerError otherwise, also for nan and inf.
    """
    clean = (
        unicodedata.normalize("NFKC", str(text)).strip().replace("_", "").replace(" ", "").replace("−", "-")
    )
    head, comma, tail = clean.partition(",")
    if comma and all(len(part.split(".")[0]) == 3 for part in tail.split(",")):
        clean = clean.replace(",", "")
    try:
        value = float(clean)
        if value - value == 0:
            return value
    except ValueError:
        pass
    raise AnswerError(
        t(
            f"“{text}” is not a number. Write for example 3, 0.25 or 2.5e6, with a point for decimals.",
            f"“{text}” 不是数字。请写成 3、0.25 或 2.5e6 这样的形式，小数点用“.”。",
        )
    )
