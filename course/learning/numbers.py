"""Numbers as people type them."""

from __future__ import annotations

import re
import unicodedata

from course.core.i18n import t
from course.core.tables import clip
from course.learning.session import AnswerError

_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")


def parse_number(text: str) -> float:
    """The number typed: 3, 2.5e6, 1,234,567, full-width digits.

    Raises AnswerError otherwise, also for nan, inf, and a comma before decimals (0,125).
    """
    clean = unicodedata.normalize("NFKC", str(text)).strip().replace("_", "").replace(" ", "").replace("−", "-")
    if _THOUSANDS.fullmatch(clean):
        clean = clean.replace(",", "")
    try:
        value = float(clean)
        if value - value == 0:
            return value
    except ValueError:
        pass
    shown = clip(text)
    raise AnswerError(
        t(
            f"“{shown}” is not a number. Write for example 3, 0.25 or 2.5e6, with a point for decimals.",
            f"“{shown}”不是数字。请写成 3、0.25 或 2.5e6 这样的形式，小数点用“.”。",
        )
    )
