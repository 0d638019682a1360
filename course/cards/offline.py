"""Practice questions on a web page without a kernel: plain data for the scripts in ``static``, which need no framework and no network.

A page marks by the rules of ``course.learning.marking`` (``static/marking.js``) and keeps the answers in the browser
(``static/answers.js``).
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course.cards.offline_words import words
from course.core.i18n import LANGUAGES, Text, pick, speaking
from course.core.markup import inline, paragraphs
from course.core.version import __version__
from course.learning.reporting import number_words
from course.questions.items import Item
from course.questions.wording import pairs

STATIC = Path(__file__).resolve().parent / "static"
CARD_SCRIPTS = ("marking.js", "answers.js", "card.js", "live.js")
"""What one card needs on any page."""
KINDS = ("single", "multiple", "number", "order")


def showable(items: Iterable[Item]) -> list[Item]:
    """The questions that the page can show: those it can mark, and bets."""
    return [
        item for item in items if not item.checkpoint and (item.kind in KINDS and item.keyed or item.kind == "predict")
    ]


def _html(text: Text) -> dict[str, str]:
    return {code: inline(pick(text, code)) for code in LANGUAGES}


def item_data(item: Item) -> dict[str, Any]:
    """One question as plain data; texts are HTML in both languages."""
    data: dict[str, Any] = {
        "id": item.id,
        "lesson": item.lesson,
        "concept": item.concept,
        "kind": item.kind,
        "experiment": item.experiment,
        "stem": {code: paragraphs(pick(item.stem, code)) for code in LANGUAGES},
        "right": list(item.order if item.kind == "order" else item.correct),
        "options": [_option_data(item, place) for place in range(len(item.options))],
    }
    if item.code:
        data["code"] = {code: html.escape(pick(item.code, code).strip("\n")) for code in LANGUAGES}
    if item.kind == "order":
        data["groups"] = pairs(item)
    if item.kind == "number":
        data["number"] = _number_data(item)
    return data


def _option_data(item: Item, place: int) -> dict[str, Any]:
    option = item.options[place]
    data: dict[str, Any] = {"id": option.id, "text": _html(option.text)}
    if item.kind != "predict":  # an experiment settles a bet; its explanations would give the result away
        data |= {"why": _html(option.why), "belief": option.misconception}
    return data


def _number_data(item: Item) -> dict[str, Any]:
    number, said = item.number, {}
    for code in LANGUAGES:
        with speaking(code):
            said[code] = inline(number_words(number))
    return {
        "value": number.value,
        "low": number.low,
        "high": number.high,
        "unit": _html(number.unit),
        "words": said,
        "why": _html(number.why),
        "traps": [
            {"low": trap.low, "high": trap.high, "why": _html(trap.why), "belief": trap.misconception}
            for trap in number.traps
        ],
    }


def page_data(items: Iterable[Item], beliefs: Mapping[str, Text], language: str) -> dict[str, Any]:
    """Everything the cards of a page know in one language, as plain data. beliefs: misconception id -> statement."""
    data = {
        "words": words(),
        "items": [item_data(item) for item in showable(items)],
        "beliefs": {one: _html(text) for one, text in beliefs.items()},
    }
    return {"version": __version__, "language": language, **_cut(data, [language])}


def _cut(data: Any, languages: Sequence[str]) -> Any:
    """The data with every text in these languages alone."""
    if isinstance(data, list):
        return [_cut(one, languages) for one in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == set(LANGUAGES):
        return {code: data[code] for code in languages}
    return {key: _cut(value, languages) for key, value in data.items()}


def read(name: str) -> str:
    """A file of ``static``."""
    return (STATIC / name).read_text("utf-8")
