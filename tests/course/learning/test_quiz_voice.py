"""How an answer is answered, and what becomes of the learner's own reason."""

from __future__ import annotations

import json

import pytest

from course.cards.cards import card as practice
from course.cards.text import answer
from course.learning.bets import settle
from course.learning.entry import parse, to_line
from course.learning.log import AnswerLog
from course.learning.transfer import export_to, import_from

pytestmark = pytest.mark.usefixtures("quick_hands")


def told(bank, log, item_id, *options, **more):
    said: list[str] = []
    answer(item_id, *options, log=log, bank=bank, write=said.append, **more)
    return "\n".join(said)


def test_a_hit_is_praised_with_the_reason_and_says_the_same_again(bank, log):
    card = practice("05-one", bank=bank, log=log, text=False)
    card.input.rows["b"].button.click()
    card.buttons[3].click()
    said = card.say.value
    assert "🎯" in said and said.count("why of b") == 1 and "That is the right option" not in said
    assert practice("05-one", bank=bank, log=AnswerLog(log.path), text=False).say.value == said


# --- because ---


def test_the_reason_is_kept_and_set_beside_the_right_one(bank, log):
    card = practice("05-one", bank=bank, log=log, text=False)
    assert card.because.layout.visibility == "hidden", "asked for only once something is chosen"
    card.input.rows["b"].button.click()
    assert card.because.layout.visibility is None
    card.because.value = "  the size\nwas new "
    card.buttons[3].click()
    assert log.entries()[-1].because == "the size was new"
    beside = "“because the size was new”. The reason: why of b"
    assert beside in card.say.value and beside in card.saved_copy()["text/html"] and beside in str(card)
    again = practice("05-one", bank=bank, log=AnswerLog(log.path), text=False)
    assert beside in again.say.value and again.because.value == "the size was new"
    again.retry()
    assert again.because.value == "" and "tbq-own" not in again.say.value
    assert "“because I saw it”" in told(bank, log, "05-one", "b", because="I saw it", confidence=3)


def test_on_a_bet_the_line_is_there_from_the_start_and_stands_beside_the_result(bank, log):
    card = practice("05-wager", bank=bank, log=log, text=False)
    assert card.because.layout.visibility is None
    card.because.value = "because caches remember"
    card.input.rows["a"].button.click()
    card.buttons[2].click()
    assert "“because caches remember”" in card.say.value and "why of b" not in card.say.value
    settle(bank["05-wager"], "b", log)
    card.settle()
    assert "“because caches remember”. The reason: why of b" in card.say.value


def test_reasons_travel_with_the_log_and_old_logs_stay_valid(bank, log, tmp_path):
    told(bank, log, "05-one", "b", because="I saw it")
    file, _ = export_to(log, tmp_path / "mine.jsonl")
    other = AnswerLog(tmp_path / "other.jsonl")
    assert import_from(other, file).new == 1
    assert other.entries()[0].because == "I saw it"
    old = {"id": "1", "time": "2026-01-01T00:00:00.000000Z", "event": "answer", "item": "05-one", "options": ["b"]}
    entries, _, damaged = parse(json.dumps(old).encode())
    assert damaged == [] and entries["1"].because is None and b"because" not in to_line(entries["1"])
    long = told(bank, log, "05-one", "b", because="x" * 5000)
    assert len(log.entries()[-1].because) == 300 and long


def test_what_a_learner_writes_is_shown_as_text(bank, log):
    card = practice("05-one", bank=bank, log=log, text=False)
    card.because.value = "<img src=x onerror=alert(1)>"
    card.input.rows["b"].button.click()
    card.buttons[3].click()
    assert "<img" not in card.say.value + card.saved_copy()["text/html"]
