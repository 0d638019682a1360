"""The bets: their outcomes, the hit rate of each confidence, lost bets that return."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest

from course.core.plain_text import text_of
from course.learning.bets import Level, levels, placed_bets, returns
from course.learning.entry import Entry, stamp
from course.learning.progress import summary
from course.questions.bank import Bank
from course.verbs.bets import bets_page
from course.verbs.progress import progress_html
from tests.course.learning.test_quiz_log import START
from tests.support import quiz_items as q

WAGER = "05-wager"


@pytest.fixture
def bank(tmp_path):
    return Bank(q.write_bank(tmp_path / "bank", [q.SINGLE, q.MULTIPLE, q.PREDICT]))


def said(event, item, day, *options, verdict=None, confidence=None, record=None):
    return Entry(
        str(uuid.uuid4()),
        stamp(START + timedelta(days=day)),
        event,
        item,
        options,
        None,
        confidence,
        verdict,
        record=record,
    )


def bet(choice="b", day=0, confidence=3):
    return said("bet", WAGER, day, choice, confidence=confidence)


def told(*bets):
    return text_of(bets_page(*bets))


def came(option, day=1, record="live 2026-03-02T09:00:00Z Xeon"):
    return said("settled", WAGER, day, *([option] if option else []), record=record)


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([bet()], "open"),
        ([bet(), came(None)], "inconclusive"),
        ([bet(), came("b")], "won"),
        ([bet(), came("a")], "lost"),
        ([bet(), came("a"), came(None, 2)], "lost"),
        ([bet(), came("a"), came("b", 2)], "won"),
        ([came("b", -1), bet()], "late"),
        ([came(None, -1), bet(), came("b")], "won"),
    ],
)
def test_the_state_of_a_bet(bank, entries, expected):
    [found] = placed_bets(sorted(entries, key=lambda one: one.time), bank)
    assert found.state == expected and found.choice == "b"
    assert bool(levels([found])) is (expected in ("won", "lost"))


def test_the_hit_rate_of_each_confidence_counts_settled_bets_alone(bank):
    late, silent = placed_bets([came("b", -1), bet()], bank), placed_bets([bet(confidence=None), came("b")], bank)
    assert levels(late) == [] and "Not counted: 1." in told(late)
    [won], [lost] = placed_bets([bet(), came("b")], bank), placed_bets([bet(), came("a")], bank)
    guess = replace(lost, confidence=1)
    found = [guess, won, won, lost, *silent]
    assert levels(found) == [Level(3, 2, 3), Level(1, 0, 1), Level(None, 1, 1)]
    assert "You won 3 of 5 bets." in told(found)
    for line in ("certain 3 2 67%", "a guess 1 0 0%", "not said 1 1 100%"):
        assert line in " ".join(told(found).split()), line


def test_a_lost_bet_returns_after_a_week_until_it_is_answered_right(bank):
    entries = [bet("b"), came("a", 1)]

    def due(day):
        return [one.item for one in returns(entries, bank) if one.due <= START + timedelta(days=day)]

    assert due(7.9) == [] and due(8) == [WAGER]
    entries.append(said("answer", WAGER, 9, "b", verdict="incorrect"))
    assert due(15.9) == [] and due(16) == [WAGER]
    entries.append(said("answer", WAGER, 17, "a", verdict="correct"))
    assert due(400) == [] and returns(entries, bank) == []
    for harmless in ([bet("a"), came("a")], [bet()], [bet(), came(None)], [came("a", -1), bet()]):
        assert returns(harmless, bank) == []
    assert returns([bet(), came("a")], bank, "05_x") == []
    assert [one.item for one in returns([bet(), came("a")], bank, "06_y")] == [WAGER]


def test_progress_tells_done_due_and_ready(bank):
    entries = [
        bet("b"),
        came("a"),
        said("answer", "05-one", 3, "b", verdict="correct", confidence=3),
        said("answer", "05-many", 3, "a", "c", verdict="correct", confidence=3),
        said("check", "05-run", 3, verdict="correct"),
    ]
    found = summary(entries, bank, START + timedelta(days=8.5))
    fourth, fifth = found.lessons
    assert fifth.ready and fifth.started and not fifth.done and fifth.solved == 1 and fifth.due == 1
    assert not fourth.started and not fourth.ready and found.due == 1
    assert all(words in progress_html(found) for words in ("looks ready", "in progress", "not started"))
