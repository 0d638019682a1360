"""Protects who answers in the book: a page marks as the notebooks do, compared on every question and every answer."""

from __future__ import annotations

import itertools
import random

import pytest

from course.cards import offline
from course.cards.offline import showable
from course.cards.typed import parse_number
from course.core.i18n import LANGUAGES, speaking
from course.core.markup import inline
from course.learning.marking import Response, mark, misconceptions_of
from course.learning.reporting import report
from course.learning.session import AnswerError
from course.questions.bank import load_bank
from grader.book import cards


@pytest.fixture(scope="module")
def bank():
    return load_bank()


@pytest.fixture
def open_deck(bank, fresh_page, tmp_path):
    """Open a page with every question, as the book puts them on its pages, without a network."""

    def opened(language="en"):
        data = cards.script(bank, [item.id for item in bank.items()], (), language)
        scripts = "".join(f"<script>{one}</script>" for one in (data, *map(offline.read, offline.CARD_SCRIPTS)))
        file = tmp_path / f"{language}.html"
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><body>{scripts.replace("</script", "</script")}</body>', "utf-8"
        )
        fresh_page.context.set_offline(True)
        fresh_page.goto(file.as_uri())
        return fresh_page

    return opened


def responses(item, draw):
    """Every choice, every kind of number, many orders."""
    ids = [one.id for one in item.options]
    if item.kind in ("single", "multiple"):
        return [Response(chosen) for size in range(len(ids) + 1) for chosen in itertools.combinations(ids, size)]
    if item.kind == "order":
        orders = [item.order, tuple(reversed(item.order)), tuple(ids), *((one,) for one in ids)]
        orders += [item.order[:place] + item.order[place + 1 :] for place in range(len(item.order))]
        orders += [tuple(draw.sample(ids, draw.randint(1, len(ids)))) for _ in range(80)]
        return [Response(one) for one in orders]
    number = item.number
    values = [number.value, number.low, number.high, number.low * 0.999 - 1e-9, number.high * 1.001 + 1e-9, 0.0, 1.0]
    values += [number.value * factor for factor in (-1, 0.1, 0.3, 0.7, 1.5, 2, 3.3, 12, 1000, 1e6, 1e9, 1 / 3)]
    values += [1e308, 1e-308]
    values += [value for trap in number.traps for value in (trap.low, trap.high, (trap.low + trap.high) / 2)]
    return [Response(number=float(value)) for value in values]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_page_marks_and_tells_every_question_as_the_course_does(bank, open_deck, code):
    """Every item x every choice (numbers, orders): same verdict, points, headline, sentences, beliefs."""
    draw = random.Random(5)
    items = [item for item in showable(bank.items()) if item.kind != "predict"]
    assert {item.id for item in items} == {item.id for item in bank.items() if item.kind != "predict"}
    asked = [(item, response) for item in items for response in responses(item, draw)]
    deck = open_deck(code)
    found = deck.evaluate(
        """asked => asked.map(([id, options, number]) => {
            const item = byId.get(id), response = { options, number }, verdict = mark(item, response);
            const { head, messages } = told(item, response, verdict);
            return [verdict.state, verdict.points, beliefsOf(item, response), head, ...messages]; })""",
        [(item.id, response.options, response.number) for item, response in asked],
    )
    assert len(found) == len(asked) > 1500
    for (item, response), page in zip(asked, found, strict=True):
        verdict = mark(item, response)
        with speaking(code):
            said = report(item, response, verdict)
        lines = [said.headline, *said.messages] if verdict.state != "not attempted" else [said.headline]
        marked = [verdict.state, verdict.points, misconceptions_of(item, response)]
        assert page == [*marked, *map(inline, lines)], (item.id, response)
    unseen = deck.evaluate(
        """ids => ids.map((id) => byId.get(id)).filter((item) => {
            const asked = articleHtml(item, null, { options: [], typed: "" });
            return item.options.some((one) => !asked.includes(pick(one.text))); }).map((item) => item.id)""",
        [item.id for item in items],
    )
    assert unseen == [], "every option can be chosen"


def test_numbers_are_read_as_the_course_reads_them(open_deck):
    typed = (
        "3| 2.5e6 |1,234,567|1,234.5|９．４|−2|1_000|.5|1.|+4|1e-3|1,5|nine||0x10|inf|nan|1e999|--1|1 "
        "000|12,34,567|1,234,56|3 %|0,125|1234,567|-1,234.|+12,345|,123|1,234e3"
    ).split("|")

    def course(text):
        try:
            return parse_number(text)
        except AnswerError:
            return None

    assert open_deck().evaluate("typed => typed.map(parseNumber)", typed) == [course(one) for one in typed]
