"""The practice questions and the knowledge cards as one web page that works offline: no framework, no network, answers kept in the browser.

The page marks by the rules of ``course.learning.marking`` (``static/marking.js``) and writes lines of the course's own
log (``static/answers.js``), so that ``python -m course.cards merge`` brings them into a learner's notebooks.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course.cards.knowledge_view import CSS, card_html
from course.cards.offline_words import words
from course.catalog import BY_ID
from course.i18n import LANGUAGES, Text, pick, speaking
from course.learning.reporting import number_words
from course.look import css
from course.markup import inline, paragraphs
from course.questions.items import Item
from course.questions.knowledge import Knowledge
from course.questions.wording import pairs
from course.version import __version__

STATIC = Path(__file__).resolve().parent / "static"
CARD_SCRIPTS = ("marking.js", "voice.js", "answers.js", "card.js", "live.js")
"""What one card needs on any page."""
SCRIPTS = ("theme.js", *CARD_SCRIPTS, "boxes.js", "sitting.js", "deck.js")
KINDS = ("single", "multiple", "number", "order")


def showable(items: Iterable[Item]) -> list[Item]:
    """The questions that the page can show: those it can mark, and bets, on a scale on one of its marks."""
    return [
        item for item in items if not item.checkpoint and (item.kind in KINDS and item.keyed or item.kind == "predict")
    ]


def choices(item: Item) -> list[str]:
    """What a learner chooses among: ids of options, or the marks of a scale."""
    return [f"{stop:g}" for stop in item.slider.stops] if item.slider else [one.id for one in item.options]


def _html(text: Text) -> dict[str, str]:
    return {code: inline(pick(text, code)) for code in LANGUAGES}


def item_data(item: Item) -> dict[str, Any]:
    """One question as plain data; texts are HTML in both languages."""
    data: dict[str, Any] = {
        "id": item.id,
        "lesson": item.lesson,
        "concept": item.concept,
        "kind": item.kind,
        "difficulty": item.difficulty,
        "experiment": item.experiment,
        "stem": {code: paragraphs(pick(item.stem, code)) for code in LANGUAGES},
        "right": list(item.order if item.kind == "order" else item.correct),
        "options": [_option_data(item, place) for place in range(len(item.options))],
    }
    if item.slider:
        data |= {"scale": True, "options": [{"id": one, "text": _html(item.slider.unit)} for one in choices(item)]}
    if item.step:
        data["step"] = _html(item.step)
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


def _lessons(items: list[Item]) -> list[dict[str, Any]]:
    ids = dict.fromkeys(item.lesson for item in items)
    titles = {one: BY_ID[one].question if one in BY_ID else "" for one in ids}
    return [{"id": one, "title": _html(title)} for one, title in titles.items()]


def _cards(cards: Iterable[Knowledge]) -> list[dict[str, Any]]:
    """The knowledge cards as data: their HTML in both languages."""
    found: list[dict[str, Any]] = []
    for card in cards:
        shown = {}
        for code in LANGUAGES:
            with speaking(code):
                shown[code] = card_html(card)
        found.append({"id": card.id, "lesson": card.lesson, "html": shown})
    return found


def page_data(
    items: Iterable[Item],
    beliefs: Mapping[str, Text],
    language: str,
    cards: Iterable[Knowledge] = (),
    languages: Sequence[str] = LANGUAGES,
) -> dict[str, Any]:
    """Everything the page knows, as plain data. beliefs: misconception id -> statement."""
    shown = showable(items)
    data = {
        "words": words(),
        "lessons": _lessons(shown),
        "items": [item_data(item) for item in shown],
        "beliefs": {one: _html(text) for one, text in beliefs.items()},
        "cards": _cards(cards),
    }
    return {"version": __version__, "language": language, "languages": list(languages), **_cut(data, languages)}


def _cut(data: Any, languages: Sequence[str]) -> Any:
    """The data with every text in these languages alone."""
    if isinstance(data, list):
        return [_cut(one, languages) for one in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == set(LANGUAGES):
        return {code: data[code] for code in languages}
    return {key: _cut(value, languages) for key, value in data.items()}


def build(
    items: Iterable[Item],
    beliefs: Mapping[str, Text],
    language: str = "",
    cards: Iterable[Knowledge] = (),
    languages: Sequence[str] = LANGUAGES,
    links: str = "",
) -> str:
    """The whole page, opening in ``language`` (empty: the browser's); deterministic. links: HTML beside its title."""
    data = json.dumps(page_data(items, beliefs, language, cards, languages), ensure_ascii=False, separators=(",", ":"))
    scripts = "\n".join(f"<script>\n{read(name)}</script>" for name in SCRIPTS)
    style = css(STATIC / "card.css", STATIC / "deck.css", CSS)
    parts = {"style": style, "links": links, "data": data.replace("<", "\\u003c"), "scripts": scripts}
    page = read("deck.html")
    for name, content in parts.items():
        page = page.replace("{{" + name + "}}", content, 1)
    return page


def read(name: str) -> str:
    """A file of ``static``."""
    return (STATIC / name).read_text("utf-8")
