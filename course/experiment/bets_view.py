"""The bets in words: what was asked, what was bet, what came out."""

from __future__ import annotations

import re

from course.core.i18n import pick, t
from course.questions.items import Item


def answer_words(item: Item, answer: str | None) -> str:
    """An option in words, without a full stop at the end; marks for code and bold stay."""
    option = item.option(str(answer))
    return pick(option.text).rstrip(".。") if option else "–"


def outcome_words(item: Item, winner: str, won: bool) -> str:
    """What came out, after the bet."""
    return t("as you bet", "和你押的一样") if won else answer_words(item, winner)


SHORTEST = 90
"""A question shorter than this (a Chinese character counts twice) says too little without the sentence before it."""


def asked_words(item: Item) -> str:
    """The question of a bet, without the rest of its text: the last sentence that asks, else the last; with code marks."""
    text = pick(item.stem).replace("**", "").replace("\n", " ").strip()
    said = [one for one in re.split(r"(?<=[.?!])(?=\s)|(?<=[。？！])", text) if one.strip()]
    last = next(
        (place for place, one in reversed(list(enumerate(said))) if re.search(r"[?？]\W*$", one)), len(said) - 1
    )
    asked = ""
    while last >= 0 and sum(1 + (sign > "\u2e80") for sign in asked) < SHORTEST:
        asked, last = said[last] + asked, last - 1
    return asked.strip()
