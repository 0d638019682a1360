"""Interview questions: the learner answers aloud, compares with model answers of 30 seconds and 3 minutes, and rates the own
answer by criteria.

They are in ``interview.yaml`` of a lesson's folder. Each is an ``Item`` whose options are the criteria, so that a rating is an
answer like any other: same log, same schedule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course.core.i18n import Text, both
from course.questions.items import Item, Option

SPOKEN = "spoken"
"""The kind of such an item."""
NONE = both("None of these yet", "一条都还没说到")
FLUENCY = {1: both("with help", "看了提示"), 2: both("with pauses", "有些停顿"), 3: both("fluently", "说得流利")}
"""What the learner says of the speaking, in place of a confidence."""


@dataclass(frozen=True)
class Spoken(Item):
    """One interview question. short: the answer of 30 seconds. full: the points of the answer of 3 minutes, in order; learners
    add an example and their own numbers. options: the criteria, each right, and as the last one "none of these".
    """

    short: Text = ""
    full: tuple[Text, ...] = ()


def parse_spoken(raw: Mapping[str, Any]) -> Spoken:
    """The question of one YAML entry."""
    criteria = [Option(letter, text, True) for letter, text in zip("abcdefgh", raw["criteria"], strict=False)]
    return Spoken(
        id=raw["id"],
        lesson=raw["lesson"],
        concept=raw["id"],
        kind=SPOKEN,
        stem=raw["asks"],
        options=(*criteria, Option("abcdefgh"[len(criteria)], NONE, False)),
        source=raw["source"],
        short=raw["short"],
        full=tuple(raw["full"]),
    )
