"""Interview questions: the learner answers aloud, compares with model answers of 30 seconds and 3 minutes, and rates the own
answer by criteria.

They are in ``interview.yaml`` of a lesson's folder. Each is an ``Item`` whose options are the criteria, so that a rating is an
answer like any other: same log, same schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from course.core.i18n import LANGUAGES, Text, both, pick
from course.questions import schema
from course.questions.items import BankError, Item, Option

SPOKEN = "spoken"
"""The kind of such an item."""
NONE = both("None of these yet", "一条都还没说到")
FLUENCY = {1: both("with help", "看了提示"), 2: both("with pauses", "有些停顿"), 3: both("fluently", "说得流利")}
"""What the learner says of the speaking, in place of a confidence."""
MOST_WORDS = {"en": 90, "zh": 170}
"""The longest 30-second answer: English words at 150 to 180 a minute, Chinese characters at 300 to 340."""


@dataclass(frozen=True)
class Spoken(Item):
    """One interview question. short: the answer of 30 seconds. full: the points of the answer of 3 minutes, in order; learners
    add an example and their own numbers. options: the criteria, each right, and as the last one "none of these".
    """

    short: Text = ""
    full: tuple[Text, ...] = ()


_LIST = {"type": "array", "items": schema.TEXT, "minItems": 3}
SCHEMA = schema.object_of(
    ["id", "lesson", "asks", "short", "full", "criteria", "source"],
    id={"type": "string", "pattern": r"^\d\d-i(-[a-z0-9]+)+$"},
    lesson={"type": "string", "pattern": r"^\d\d_[a-z0-9_]+$"},
    asks=schema.TEXT,
    short=schema.TEXT,
    full=_LIST,
    criteria=_LIST,
    source={"type": "string", "minLength": 1},
)


def parse_spoken(raw: Mapping[str, Any], where: str) -> Spoken:
    """The question of one YAML entry. Raises BankError with every fault and its field where it violates the schema."""
    name = raw.get("id", "?") if isinstance(raw, Mapping) else "?"
    faults = [
        f"{where}, item {name}, field {field or '(all)'}: {what}." for field, what in schema.violations(raw, SCHEMA)
    ]
    faults = faults or [f"{where}, item {name}, {what}" for what in _too_long(raw["short"])]
    if faults:
        raise BankError("\n".join(faults))
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


def _too_long(short: Text) -> Iterator[str]:
    for code in LANGUAGES:
        text = pick(short, code)
        length = sum("\u4e00" <= sign <= "\u9fff" for sign in text) if code == "zh" else len(text.split())
        if length > MOST_WORDS[code]:
            yield f"field short: {length} words in {code}, more than 30 seconds hold; at most {MOST_WORDS[code]}."
