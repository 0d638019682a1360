"""Marking of every kind of item, feedback for every option, and what becomes of the learner's own reason."""

from __future__ import annotations

import json
import math

import pytest

from course.cards.cards import Card as practice
from course.cards.typed import answer
from course.core.i18n import pick
from course.learning.entry import parse, to_line
from course.learning.log import AnswerLog
from course.learning.marking import Response, feedback, mark, mark_bet, misconceptions_of
from course.learning.reporting import report
from course.learning.transfer import export_to, import_from
from course.questions.bank import Bank
from course.questions.items import with_key
from tests.support import quiz_items as q


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return Bank(q.write_bank(tmp_path_factory.mktemp("bank")))


def verdict(bank, item_id, *options, number=None):
    return mark(bank[item_id], Response(options, number))


@pytest.mark.parametrize(
    ("item", "chosen", "state", "points"),
    [
        ("05-one", "b", "correct", 1),
        ("05-one", "a", "incorrect", 0),
        ("05-one", "ab", "incorrect", 0),
        ("05-one", "z", "incorrect", 0),
        ("05-one", "", "not attempted", 0),
        ("05-many", "ac", "correct", 1),
        ("05-many", "ca", "correct", 1),
        ("05-many", "a", "partly", 0.5),
        ("05-many", "acb", "partly", 0.5),  # a wrong choice takes a point back, never below zero
        ("05-many", "ab", "incorrect", 0),
        ("05-many", "bd", "incorrect", 0),
        ("05-many", "abcd", "incorrect", 0),
        ("05-many", "", "not attempted", 0),
        ("05-lines", "cad", "correct", 1),
        ("05-lines", "cda", "partly", 0.67),
        ("05-lines", "ca", "partly", 0.67),
        ("05-lines", "cabd", "partly", 0.67),
        ("05-lines", "dac", "partly", 0.33),
        ("05-lines", "b", "incorrect", 0),
        ("05-lines", "bd", "incorrect", 0),
    ],
)
def test_options_are_marked_by_the_rules_of_their_kind(bank, item, chosen, state, points):
    found = verdict(bank, item, *chosen)
    assert (found.state, found.points) == (state, points) and (found.messages or item == "05-one")


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (9.4e6, "correct"),
        (9.4e6 / 1.1, "correct"),
        (9.4e6 * 1.1, "correct"),
        (9.4e6 * 1.11, "incorrect"),
        (4.7e6, "incorrect"),
        (-9.4e6, "incorrect"),
        (math.inf, "incorrect"),
        (math.nan, "not attempted"),
    ],
)
def test_number(bank, value, state):
    assert verdict(bank, "05-count", number=value).state == state


def test_a_number_says_which_trap_or_which_way(bank):
    trapped = Response(number=4.7e6)
    assert mark(bank["05-count"], trapped).messages == (), "it is said once, in a line of its own"
    assert pick(feedback(bank["05-count"], trapped)[0].why) == "half of it"
    assert "1,000" in pick(verdict(bank, "05-count", number=9.4e9).messages[0])
    assert "about 94" in pick(verdict(bank, "05-count", number=1e5).messages[0])
    assert pick(verdict(bank, "05-count", number=0).messages[0]) == "Too small."
    assert misconceptions_of(bank["05-count"], Response(number=4.7e6)) == ["first-belief"]
    assert misconceptions_of(bank["05-count"], Response(number=9.4e6)) == []


def test_a_bet_is_open_until_the_experiment_decides(bank):
    item = bank["05-wager"]
    assert mark(item, Response(("a",))).state == "inconclusive"
    assert mark_bet(item, Response(("a",)), "a").state == "correct"
    assert mark_bet(item, Response(("a",)), "b").state == "incorrect"
    assert mark_bet(item, Response(), "b").state == "not attempted"
    assert [line.right for line in feedback(item, Response(("a",)))] == [None, None, None]
    assert [line.right for line in feedback(item, Response(("a",)), "b")] == [False, True, False]


def test_checkpoint_items_are_marked_once_a_key_is_merged_in(bank):
    with pytest.raises(ValueError, match="key"):
        mark(bank["05-c-one"], Response(("b",)))
    item = with_key(bank["05-c-one"], q.KEYS["05-c-one"])
    assert mark(item, Response(("b",))).points == 2 == mark(item, Response(("b",))).max_points
    assert mark(item, Response(())).state == "not attempted"
    item = with_key(bank["05-c-lines"], q.KEYS["05-c-lines"])
    assert mark(item, Response(("c", "b"))).points == 1.33
    item = with_key(bank["05-c-count"], q.KEYS["05-c-count"])
    assert mark(item, Response(number=3.0)).points == 2 and mark(item, Response(number=4.0)).points == 0


def test_the_report_names_the_belief_of_the_chosen_option_only(bank):
    item, response = bank["05-one"], Response(("a",), None, 3)
    found = report(item, response, mark(item, response), q.BELIEFS)
    assert [line.belief for line in found.lines] == ["the first belief", "", ""]
    assert found.lines[0].state == "your choice, not right" and found.lines[1].state == "right"
    assert 'observe("05-run")' in found.next_step and found.messages == ()
    bet = report(bank["05-wager"], Response(("a",)), mark_bet(bank["05-wager"], Response(("a",)), None), q.BELIEFS)
    assert bet.lines == ()


def told(bank, log, item_id, *options, **more):
    said: list[str] = []
    answer(item_id, *options, log=log, bank=bank, write=said.append, **more)
    return "\n".join(said)


# --- because ---


@pytest.mark.usefixtures("quick_hands")
def test_the_reason_is_kept_and_set_beside_the_right_one(bank, log):
    card = practice("05-one", bank=bank, log=log, text=False)
    assert card.because.layout.visibility == "hidden", "asked for only once something is chosen"
    card.input.rows["b"].button.click()
    assert card.because.layout.visibility is None
    card.because.value = "  the size\nwas new "
    card.buttons[3].click()
    assert log.entries()[-1].because == "the size was new"
    beside = "“because the size was new”. Is it one of the reasons above?"
    assert beside in card.say.value and beside in card.saved_copy()["text/html"] and beside in str(card)
    again = practice("05-one", bank=bank, log=AnswerLog(log.path), text=False)
    assert beside in again.say.value and again.because.value == "the size was new"
    again.retry()
    assert again.because.value == "" and "tbq-own" not in again.say.value
    assert "“because I saw it”" in told(bank, log, "05-one", "b", because="I saw it", confidence=3)


@pytest.mark.usefixtures("quick_hands")
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


@pytest.mark.usefixtures("quick_hands")
def test_what_a_learner_writes_is_shown_as_text(bank, log):
    card = practice("05-one", bank=bank, log=log, text=False)
    card.because.value = "<img src=x onerror=alert(1)>"
    card.input.rows["b"].button.click()
    card.buttons[3].click()
    assert "<img" not in card.say.value + card.saved_copy()["text/html"]
