"""The daily review: what it chooses, what it says after a day, a month, two hundred cards."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

import course
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.learning.progress import summary
from course.learning.review import due, greeting, plan
from course.learning.session import earlier
from course.questions.bank import Bank
from course.verbs import state
from tests.support import quiz_items as q

NOW = datetime(2026, 3, 18, 12, tzinfo=timezone.utc)  # a Wednesday


def big_bank(folder, lessons=5, each=40):
    """A bank of lessons x each questions, every one a concept of its own."""
    import yaml

    for number in range(1, lessons + 1):
        items = [
            {**q.SINGLE, "id": f"0{number}-n{place}", "lesson": f"0{number}_x", "concept": f"about-{number}-{place}"}
            for place in range(each)
        ]
        path = folder / f"l0{number}_x" / "items.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(yaml.safe_dump(items, allow_unicode=True), "utf-8")
    return Bank(folder)


def answered(item, verdict, days_ago, confidence=2):
    moment = (NOW - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return Entry(f"{item} {days_ago}", moment, "answer", item, ("a",), None, confidence, verdict)


# --- an answer that was taken back by an earlier version ---


def test_an_answer_taken_back_counts_nowhere_and_its_line_stays(bank, log):
    first = log.append("answer", "05-one", options=["b"], verdict="correct", confidence=3, at=NOW - timedelta(days=5))
    slip = log.append("answer", "05-one", options=["a"], verdict="incorrect", at=NOW - timedelta(days=2))
    log.append("answer", "05-many", options=["b"], verdict="incorrect", at=NOW - timedelta(days=2))
    assert sorted(due(log.entries(), bank, NOW)) == ["05-many", "05-one"]
    log.append("undo", slip.item, options=(slip.id,))
    assert due(log.entries(), bank, NOW) == ["05-many"]
    assert earlier(bank["05-one"], log).options == ("b",)
    assert [line.right for line in summary(log.entries(), bank, NOW).lessons] == [0, 1]
    assert len(log.path.read_text("utf-8").splitlines()) == 4
    assert AnswerLog(log.path).entries()[0] == first


# --- what a sitting holds, and what is said ---


def test_two_hundred_due_become_one_sitting_of_mixed_lessons(tmp_path):
    bank = big_bank(tmp_path / "big")
    entries = [answered(item.id, "incorrect", 20 - number / 100) for number, item in enumerate(bank.items())]
    found = plan(entries, bank, NOW)
    assert (found.due, found.waiting) == (12, 188)
    assert [item[:2] for item in found.items] == ["01", "02", "03", "04", "05"] * 2 + ["01", "02"]
    assert found.items[:2] == ("01-n0", "02-n0"), "of each lesson the longest overdue first"
    said = " ".join(greeting(found, NOW))
    assert "12 ideas to review today." in said and "nothing is lost" in said
    few = entries[:18]
    done = [*few, *(answered(item, "correct", 0) for item in plan(few, bank, NOW).items)]
    after = plan(done, bank, NOW)
    assert (after.due, after.waiting) == (0, 6)
    assert greeting(after, NOW) == ["Enough for today. 6 more come tomorrow."]
    assert summary(done, bank, NOW).due == 0 and summary(few, bank, NOW).due == 12


def test_lost_bets_stand_in_the_sitting_and_the_count(bank):
    moment = (NOW - timedelta(days=9)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    later = (NOW - timedelta(days=4)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    entries = [
        Entry("b", moment, "bet", "05-wager", ("a",), None, 2),
        Entry("s", moment, "settled", "05-wager", ("b",)),
        answered("05-one", "incorrect", 3),
    ]
    found = plan(entries, bank, NOW)
    assert found.items == ("05-wager", "05-one") and found.due == 2 == summary(entries, bank, NOW).due
    soon = plan([entries[0], Entry("s", later, "settled", "05-wager", ("b",))], bank, NOW)
    assert soon.items == () and "2026-03-21" in greeting(soon, NOW)[1]


def test_a_review_asks_nothing_from_a_lesson_not_met_yet(tmp_path):
    bank = Bank(q.write_bank(tmp_path / "shared", [{**q.SINGLE, "concept": "about-old"}]))
    assert due([answered("05-one", "incorrect", 5)], bank, NOW) == ["05-one"]
    assert due([answered("04-old", "incorrect", 5)], bank, NOW) == ["04-old"]
    both = [answered("04-old", "incorrect", 4), answered("05-one", "incorrect", 5)]
    assert due(sorted(both, key=lambda one: one.time), bank, NOW) == ["05-one"], "the one answered longest ago"


# --- the verb ---


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(state, "now", state.State())
    monkeypatch.setenv("COURSE_TEXT", "1")
    monkeypatch.setenv("COURSE_DEBUG", "1")


def test_the_warm_up_asks_what_is_due_and_a_right_answer_ends_it_for_today(kernel, capsys, monkeypatch):
    from course.verbs import questions

    item = next(one for one in state.now.bank.items("02_timing") if one.kind == "single")
    start = datetime.now(timezone.utc) - timedelta(days=3)

    def asked(days):
        monkeypatch.setattr(questions, "_now", lambda: (start + timedelta(days=days)).astimezone())
        for state.now.lesson in ("03_flops", "06_cudnn_deterministic"):
            course.review(due=2)
        return capsys.readouterr().out.count("[02-")

    state.now.log.append("answer", item.id, options=["x"], verdict="incorrect", at=start)
    assert asked(0) == asked(0.01) == 0 and asked(1.1) == 2
    again = due(state.now.log.entries(), state.now.bank, start + timedelta(days=1.1), "03_flops")[0]
    state.now.log.append("answer", again, options=["x"], verdict="correct", at=start + timedelta(days=1.1))
    assert asked(1.11) == asked(1.4) == 0


def test_what_progress_calls_due_is_what_review_asks_in_any_lesson(kernel, capsys):
    """Also the ideas of the lesson being read, and of the last one."""
    log = state.now.log
    for lesson in ("02_timing", "09_mkldnn"):
        item = next(one for one in state.now.bank.items(lesson) if one.kind == "single")
        log.append(
            "answer", item.id, options=["a"], verdict="incorrect", at=datetime.now(timezone.utc) - timedelta(days=9)
        )
    state.now.lesson = "02_timing"
    course.progress()
    assert ": 2. Run review()" in capsys.readouterr().out
    course.review()
    said = capsys.readouterr().out
    assert "2 ideas" in said and "[02-" in said and "[09-" in said
    course.finish()
    assert "Scheduled for review: 2 ideas. With review(): 2 today." in capsys.readouterr().out
