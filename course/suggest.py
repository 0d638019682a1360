"""One way to suggest the name somebody meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from course.i18n import t


def did_you_mean(typed: str, known: Iterable[str], cutoff: float) -> str:
    """A sentence with the nearest known name, or nothing; ``cutoff``: how alike it must be, 0 to 1."""
    near = get_close_matches(str(typed), known, 1, cutoff)
    return t(f" Did you mean `{near[0]}`?", f"是不是想写 `{near[0]}`？") if near else ""
