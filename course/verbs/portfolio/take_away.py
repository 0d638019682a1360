"""What a lesson leaves behind: at most five of its headlines, and what they mean for the learner's own code."""

from __future__ import annotations

from dataclasses import dataclass

from course.core.catalog import lesson_folder
from course.core.i18n import Text

MOST = 5


@dataclass(frozen=True)
class TakeAway:
    """experiments: those whose headlines are repeated at the end, in this order. own_code: what they mean for it."""

    experiments: tuple[str, ...]
    own_code: Text


def take_away(lesson_id: str) -> TakeAway | None:
    """What stands in ``take_away.yaml`` of a lesson, or None."""
    path = lesson_folder(lesson_id) / "take_away.yaml"
    if not path.exists():
        return None
    import yaml

    raw = yaml.safe_load(path.read_text("utf-8"))
    return TakeAway(tuple(raw["experiments"]), raw["own_code"])
