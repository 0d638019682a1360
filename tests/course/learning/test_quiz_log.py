"""The answer log: append-only, tolerant, mergeable; spacing and progress from it; answers to what the course no longer has."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest

import course
from course.cards.anki import export
from course.core.i18n import LANGUAGES, speaking
from course.core.suggest import _gone, no_longer
from course.experiment import base
from course.game import cases
from course.learning import log as log_module
from course.learning.bets import placed_bets, settle
from course.learning.entry import Entry
from course.learning.log import AnswerLog, answer_log
from course.learning.marking import Response
from course.learning.progress import summary
from course.learning.review import due
from course.learning.session import AnswerError, earlier, submit
from course.learning.transfer import import_from
from course.questions.bank import load_bank
from course.questions.items import UnknownItem
from course.verbs import state
from course.verbs.progress import progress_html

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)


def test_an_entry_comes_back_as_it_was_written(log):
    written = log.append("answer", "05-one", options=["b"], confidence=2, verdict="correct", points=1.0, lesson="05_x")
    assert AnswerLog(log.path).entries() == [written] == log.entries()
    line = json.loads(log.path.read_text("utf-8"))
    assert line["schema"] == 1 and line["time"].endswith("Z") and line["version"]
    with pytest.raises(ValueError, match="event"):
        log.append("party", "05-one")


def test_an_unsaved_answer_goes_along_when_course_home_moves(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    answer_log().append("answer", "05-one", options=["a"])
    assert "the next answer saves both" in answer_log().take_notices()[0]
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "elsewhere"))
    answer_log().append("answer", "05-many", options=["a"])
    saved = AnswerLog(tmp_path / "elsewhere" / "answers.jsonl").entries()
    assert [entry.item for entry in saved] == ["05-one", "05-many"] and answer_log().take_notices() == []


def test_a_clock_set_back_leaves_the_last_answer_the_last(bank, log, monkeypatch):
    moment = [START]
    monkeypatch.setattr(log_module, "now", lambda: moment[0])
    submit(bank["05-one"], Response(("a",)), log)
    submit(bank["05-wager"], Response(("b",)), log)
    moment[0] -= timedelta(minutes=10)
    submit(bank["05-one"], Response(("b",)), log)
    settle(bank["05-wager"], "b", log)
    again = AnswerLog(log.path)
    assert (
        earlier(bank["05-one"], again).options == ("b",) and summary(again.entries(), bank, START).lessons[1].right == 1
    )
    [bet] = placed_bets(again.entries(), bank)
    assert bet.state == "won", "a bet is not placed after its own result"
    log.append("answer", "05-many", options=["a"])
    assert log.entries()[0].item == "05-many", "other questions keep the time of the clock"


def test_a_bet_locks_and_is_settled_once(bank, log):
    item = bank["05-wager"]
    assert settle(item, "a", log).state == "not attempted"
    submit(item, Response(("b",), None, 2), log)
    with pytest.raises(AnswerError, match="locked"):
        submit(item, Response(("a",)), log)
    assert earlier(item, log).options == ("b",)
    assert settle(item, None, log).state == "inconclusive"
    assert settle(item, "b", log).state == "correct" == settle(item, "b", log).state
    assert [entry.event for entry in log.entries()] == ["settled", "bet", "settled", "settled"]
    with pytest.raises(ValueError, match="no option"):
        settle(item, "z", log)


def entry(item, verdict, day, confidence=2, options=("a",)):
    moment = (START + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return Entry(f"{item}{day}", moment, "answer", item, options, None, confidence, verdict)


def test_wrong_answers_come_back_sooner_and_the_plan_is_deterministic(bank):
    entries = [entry("05-one", "incorrect", 0), entry("05-many", "correct", 0, 3, ("a", "c"))]
    soon, later = START + timedelta(days=1.1), START + timedelta(days=30)
    assert due(entries, bank, START) == []
    assert due(entries, bank, soon) == ["05-one"]
    assert due(entries, bank, later) == ["05-one", "05-many"] == due(entries, bank, later)
    assert due(entries, bank, later, lesson="05_x") == []
    assert due(entries, bank, later, lesson="06_y") == ["05-one", "05-many"]


def test_a_second_try_within_the_hour_does_not_count_as_a_review(bank):
    quick = [entry("05-one", "incorrect", 0), entry("05-one", "correct", 0.01, 3)]
    assert due(quick, bank, START + timedelta(days=2)) == ["05-one"]


def test_progress_counts(bank):
    entries = [
        entry("05-one", "incorrect", 0),
        entry("04-old", "incorrect", 0, options=("b",)),
        entry("05-many", "correct", 0, options=("a", "c")),
        entry("05-gone", "correct", 0),
        Entry("f", "2026-03-02T00:00:00.000000Z", "finish", "04_w"),
    ]
    found = summary(entries, bank, START + timedelta(days=3))
    fourth, fifth = found.lessons
    assert (fourth.total, fourth.answered, fourth.right, fourth.due, fourth.done) == (1, 1, 0, 1, True)
    assert (fifth.total, fifth.answered, fifth.right, fifth.done, fifth.checkpoint_total) == (4, 2, 1, False, 4)
    assert "04_w" in progress_html(found)


@contextmanager
def an_ordinary_user():
    """Root can write anywhere: be nobody for a while where the tests run as root."""
    if os.name == "nt" or os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_an_answer_that_is_not_on_the_disk_is_not_called_saved(tmp_path, monkeypatch):
    """A full disk, quota or a disk that fails says so only when it is asked to sync."""
    for number, saved in ((errno.ENOSPC, False), (errno.EDQUOT, False), (errno.EIO, False), (errno.EINVAL, True)):

        def refuse(file, number=number):
            raise OSError(number, os.strerror(number))

        log = AnswerLog(tmp_path / f"{number}.jsonl")
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", refuse)
            log.append("answer", "01-one", options=["a"])
        assert bool(log.pending) != saved and bool(log.take_notices()) != saved
        log.append("answer", "01-two", options=["b"])
        assert not log.pending and {one.item for one in AnswerLog(log.path).entries()} == {"01-one", "01-two"}


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
