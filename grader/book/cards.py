"""The cards of a page as data for the script that marks them, and what a result shows after each bet."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from course.cards.offline import page_data, showable
from course.cards.render import static_html
from course.core.i18n import speaking
from course.experiment import base
from course.figures.block import STYLE, Block, bet_html, html_of
from course.learning.marking import Response
from course.learning.session import place_bet
from course.questions.bank import Bank
from course.questions.items import Item
from course.verbs import state
from course.verbs.experiments import block_of, reported
from grader.book import clean


def script(bank: Bank, ids: Iterable[str], below: Iterable[str], language: str) -> str:
    """``deck`` for the questions of a page in one language. below: those bets whose result stands on it."""
    items = showable(filter(None, map(bank.get, dict.fromkeys(ids))))
    deck = page_data(items, bank.misconceptions(), language)
    held = json.dumps(deck["items"])
    deck["beliefs"] = {one: text for one, text in deck["beliefs"].items() if f'"{one}"' in held}
    for item in deck["items"]:
        item["below"] = item["id"] in below
    return f"const deck = {json.dumps(deck, ensure_ascii=False, separators=(',', ':'))};\nconst view = {{ language: deck.language }};\n"


def bet_items(bank: Bank, experiment: str) -> list[Item]:
    """The bets on an experiment that a page can take."""
    lesson = base.get(experiment).lesson
    return [one for one in showable(bank.items(lesson)) if one.kind == "predict" and one.experiment == experiment]


def unanswered(item: Item, language: str) -> str:
    """HTML of a card without a script: its text alone."""
    with speaking(language):
        return clean.CALL_OF_CARD.sub("</div>", clean.STYLE.sub("", static_html(item)))


def after_bet(item: Item, option: str, language: str) -> str:
    """HTML of the picture and the words of a result as a learner sees them who bet on that option."""
    experiment = base.get(item.experiment)
    with speaking(language), _fresh_log():
        place_bet(item, Response((option,), confidence=2), state.now.log)
        block = _block(experiment)
        drawn = f'<figure class="tbr-pic">{block.picture.html()}</figure>' if block.picture else ""
        return drawn + "".join(map(bet_html, block.bets))


def result(experiment: str, language: str) -> str:
    """HTML of a result without its style, as a learner sees it who has placed no bet."""
    with speaking(language), _fresh_log():
        return html_of(_block(base.get(experiment))).removeprefix(STYLE).replace(' role="status"', "", 1)


def _block(experiment: base.Experiment) -> Block:
    record = base.recording(experiment)
    return reported(experiment) if record is None else block_of(record, experiment)


@contextmanager
def _fresh_log() -> Iterator[None]:
    """The log of somebody who has answered nothing."""
    with tempfile.TemporaryDirectory() as home, patch.dict(os.environ, COURSE_HOME=home):
        yield
