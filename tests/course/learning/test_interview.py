"""Interview questions: complete in both languages, nothing given away before it was said, and back by the schedule of the cards."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

import course
from course.cards.card_spoken import SpokenCard
from course.core.i18n import LANGUAGES, pick, speaking
from course.core.markup import plain
from course.learning.marking import Response, mark
from course.learning.review import plan
from course.questions.bank import Bank
from course.questions.lint import language_faults
from course.verbs import state
from course.verbs.interviewing import following

BANK = Bank()
QUESTIONS = BANK.interview()
START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)


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
    rate(log, thin, 0, START)
    rate(log, whole, len(whole.correct), START, confidence=3)
    later = START + timedelta(days=2)
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
    again = SpokenCard(item, log=log, bank=BANK, text=False)
    assert again.behind.layout.display is None and again.model.value
    again.reopen()
    assert again.behind.layout.display == "none" and again.model.value == ""


def test_the_verb_asks_and_reveals(monkeypatch, capsys):
    monkeypatch.setattr(state, "now", state.State(lesson="15_review"))
    monkeypatch.setenv("COURSE_TEXT", "1")
    item = QUESTIONS[0]
    course.interview()
    assert plain(pick(item.stem)) in capsys.readouterr().out
    course.interview(item.id, reveal=True)
    assert plain(pick(item.short)) in capsys.readouterr().out
    course.interview("05-revisit")
    course.interview(count=0)
    said = capsys.readouterr().out
    assert "no interview question" in said and "number of questions" in said
