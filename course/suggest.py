"""What a mistyped name probably meant: one rule and one sentence for the whole course. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from course.i18n import t


def nearest(typed: object, known: Iterable[object], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names most like ``typed``, best first, at most ``most``; cutoff: how alike, 0 to 1."""
    return get_close_matches(str(typed), [str(name) for name in known], most, cutoff)


def did_you_mean(typed: object, known: Iterable[object], most: int = 1, cutoff: float = 0.6) -> str:
    """A sentence with the nearest known names, to follow another sentence; empty where none is near."""
    near = nearest(typed, known, most, cutoff)
    if not near:
        return ""
    english, chinese = (joint.join(near) for joint in ('" or "', "”或“"))
    return t(f' Did you mean "{english}"?', f"是不是想写“{chinese}”？")
