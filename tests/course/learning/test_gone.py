"""A learner's old log: answers to what the course no longer has harm nothing, and no word of it is lost."""

from __future__ import annotations

import json

import pytest

import course
from course.cards.anki import export
from course.core.i18n import LANGUAGES, speaking
from course.core.suggest import _gone, no_longer
from course.experiment import base
from course.game import cases
from course.learning.log import AnswerLog
from course.learning.progress import summary
from course.learning.transfer import import_from
from course.questions.bank import load_bank
from course.questions.items import UnknownItem
from course.verbs import state

LISTED = _gone()
BANK = load_bank()
STAMP = {"time": "2026-03-01T09:00:00Z", "version": "0.1.0", "schema": 1, "lesson": "05_cudnn_benchmark"}
LINES = [
    {"id": "1", "event": "answer", "item": "05-limit", "options": ["b"], "verdict": "incorrect", "points": 0.0},
    {"id": "2", "event": "bet", "item": "05-bet-winners", "options": ["b"], "confidence": 3},
    {"id": "3", "event": "settled", "item": "05-bet-winners", "options": ["a"], "verdict": "incorrect", "points": 0.0},
    {"id": "4", "event": "answer", "item": "05-revisit", "options": ["b"], "verdict": "incorrect", "points": 0.0},
    {"id": "5", "event": "move", "item": "10-photo", "verdict": "correct", "points": 10.0},
]


@pytest.fixture
def old_log(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text("".join(json.dumps(STAMP | line) + "\n" for line in LINES), "utf-8")
    return path


def test_what_is_gone_is_gone_and_what_it_points_to_exists():
    known = (
        {one.id for one in (*BANK.items(), *BANK.items(checkpoint=True))} | set(base.load_all()) | set(cases.cases())
    )
    assert not set(LISTED) & known
    assert set(filter(None, LISTED.values())) <= known


@pytest.mark.parametrize("code", LANGUAGES)
def test_an_old_log_opens_everywhere(code, old_log, capsys):
    with speaking(code):
        merged = import_from(state.now.log, old_log)
        assert merged.new == len(LINES) and len(state.now.log.entries()) == len(LINES)
        course.review()
        course.bets()
        course.progress()
        course.lesson("05_cudnn_benchmark")
        course.finish()
        found = summary(state.now.log.entries(), BANK)
        assert next(one.answered for one in found.lessons if one.lesson == "05_cudnn_benchmark") == 1
        assert export(BANK.items(), code)
    kept = {one.id for one in AnswerLog(state.now.log.path).entries()}
    assert {one["id"] for one in LINES} <= kept, "nothing is lost"
    assert "Traceback" not in capsys.readouterr().out


def test_who_asks_for_it_by_name_is_told_what_became_of_it(capsys):
    with pytest.raises(UnknownItem, match="no longer in the course.*stays in your log"):
        BANK["05-limit"]
    with pytest.raises(base.ExperimentError, match="09-bits is no longer in the course. What it showed is in 04-bits"):
        base.get("09-bits")
    for name in ("photo", "10-photo"):
        with pytest.raises(cases.CaseError, match="10-photo is no longer in the course"):
            cases.find(name)
    course.check("12-which-line")
    assert "12-which-line is no longer in the course" in capsys.readouterr().out
    assert no_longer("05-limmit") == ""
