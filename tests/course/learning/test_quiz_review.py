"""The daily review: what it chooses, what it says after a day, a month, two hundred cards; interview questions, which come back with it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

import course
from course.cards.card_spoken import SpokenCard
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.markup import plain
from course.learning.entry import Entry
from course.learning.log import AnswerLog
from course.learning.marking import Response, mark
from course.learning.progress import summary
from course.learning.review import due, greeting, plan
from course.learning.session import earlier
from course.questions.bank import Bank
from course.questions.lint import language_faults
from course.verbs import state
from course.verbs.interviewing import following
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
    pytest.importorskip(
        "torch"
    )  # this file also runs beside Colab's widgets, without torch: nobody finishes a lesson there
    course.finish()
    assert "Scheduled for review: 2 ideas. With review(): 2 today." in capsys.readouterr().out


def test_what_comes_back_within_the_day_is_not_given_a_date_that_looks_like_now(bank):
    asked = plan([answered("05-one", "incorrect", 0.9)], bank, NOW)
    assert "comes back later today." in " ".join(greeting(asked, NOW))


# --- interview questions: complete, and nothing is given away before it was said ---

BANK = Bank()
QUESTIONS = BANK.interview()


def rate(log, item, met, at, confidence=2):
    """A rating that ticked so many criteria, given at that moment."""
    options = item.correct[:met] or item.options[-1:][0].id
    verdict = mark(item, Response(tuple(options)))
    log.append(
        "answer",
        item.id,
        options=tuple(options),
        verdict=verdict.state,
        confidence=confidence,
        lesson=item.lesson,
        at=at,
    )


def test_there_are_twenty_and_each_is_whole_in_both_languages():
    assert len(QUESTIONS) >= 20 and not BANK.faults()
    for item in QUESTIONS:
        texts = [item.stem, item.short, *item.full, *(one.text for one in item.options)]
        assert not [fault for text in texts for fault in language_faults(item.id, text)]
        assert item.source and 3 <= len(item.correct) <= 5 and len(item.full) >= 3


@pytest.mark.parametrize("met, state_", [(4, "correct"), (2, "partly"), (1, "incorrect"), (0, "incorrect")])
def test_a_rating_is_marked_by_the_criteria_met(met, state_):
    item = next(one for one in QUESTIONS if len(one.correct) == 4)
    chosen = item.correct[:met] or (item.options[-1].id,)
    assert mark(item, Response(chosen)).state == state_


def test_what_was_thin_comes_back_before_what_is_new_and_daily_review_brings_it(log):
    thin, whole = QUESTIONS[3], QUESTIONS[5]
    rate(log, thin, 0, NOW)
    rate(log, whole, len(whole.correct), NOW, confidence=3)
    later = NOW + timedelta(days=2)
    entries = log.entries()
    assert following(entries, BANK, later, 2) == [thin.id, QUESTIONS[0].id]
    assert thin.id in plan(entries, BANK, later).items and whole.id not in plan(entries, BANK, later).items
    every = following(entries, BANK, later, 99)
    assert len(every) == len(QUESTIONS) and every[-1] == whole.id


def test_nothing_of_the_answer_is_told_before_it_was_said(log):
    for item in QUESTIONS[:3]:
        for language in LANGUAGES:
            with speaking(language):
                shown = str(SpokenCard(item, log=log, bank=BANK, text=True))
                told = [plain(pick(text)) for text in (item.short, *item.full, *(one.text for one in item.options))]
                assert plain(pick(item.stem)) in shown and not [text for text in told if text in shown]


def test_the_card_uncovers_the_answers_by_its_button_and_keeps_the_rating(log, monkeypatch):
    monkeypatch.setattr("course.cards.widgets.DOUBLE_CLICK_S", -1)
    item = QUESTIONS[0]
    spoken = SpokenCard(item, log=log, bank=BANK, text=False)
    assert spoken.model.value == "" and spoken.behind.layout.display == "none"
    assert pick(item.options[0].text) not in spoken.saved_copy()["text/html"]
    spoken.show_button.click()
    assert plain(pick(item.full[-1]))[-20:] in spoken.model.value and spoken.behind.layout.display is None
    spoken.input.toggle(item.correct[0])
    spoken.because.value = "permission, process"
    spoken.buttons[3].click()
    entry = log.entries()[-1]
    assert (entry.event, entry.item, entry.options, entry.verdict, entry.because) == (
        "answer", item.id, item.correct[:1], "incorrect", "permission, process",
    )  # fmt: skip
    assert plain(pick(item.options[1].text)) in spoken.say.value  # what to add next time
    assert plain(pick(item.full[-1]))[-20:] in str(spoken)
    again = SpokenCard(item, log=log, bank=BANK, text=False)
    assert again.behind.layout.display is None and again.model.value
    again.reopen()
    assert again.behind.layout.display == "none" and again.model.value == ""


def test_the_verb_asks_and_reveals(kernel, capsys):
    item = QUESTIONS[0]
    course.interview()
    assert plain(pick(item.stem)) in capsys.readouterr().out
    course.interview(item.id, reveal=True)
    assert plain(pick(item.short)) in capsys.readouterr().out
    course.interview("05-revisit")
    course.interview(count=0)
    said = capsys.readouterr().out
    assert "no interview question" in said and "number of questions" in said
