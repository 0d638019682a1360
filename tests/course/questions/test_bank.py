"""The whole question bank: every item well made, every key true, every option answering for itself."""

from __future__ import annotations

import pytest
import yaml

from course import flags
from course.core.catalog import BY_ID, LESSONS
from course.core.i18n import LANGUAGES, pick
from course.experiment import base
from course.learning.marking import Response, feedback, mark
from course.questions.bank import Bank
from course.questions.items import every, with_key
from course.questions.lint import lint_items
from course.questions.verify import run_verify
from tests.conftest import ROOT

BANK = Bank()
PRACTICE = BANK.items()
KEYS = {
    lesson.id: yaml.safe_load((ROOT / f"grader/lessons/l{lesson.id}/keys.yaml").read_text("utf-8"))
    for lesson in LESSONS
    if lesson.checkpoint
}
GRADED = [
    with_key(one, KEYS[one.lesson][one.id]) for item in BANK.items(checkpoint=True) for one in every(item)
]  # of a place on the exam all questions that can stand there; variants: tests/course/questions/test_variants.py


def ids(item):
    return item.id


def test_the_files_are_sound_and_pass_the_item_lint():
    assert BANK.faults() == []
    assert lint_items([*PRACTICE, *GRADED], BANK.misconceptions()) == []


@pytest.mark.parametrize("lesson", [one for one in LESSONS if one.checkpoint], ids=ids)
def test_a_checkpoint_asks_five_things_or_more_and_each_has_a_key(lesson):
    assert len([item for item in GRADED if item.lesson == lesson.id]) >= 5
    assert set(KEYS[lesson.id]) == {item.id for item in GRADED if item.lesson == lesson.id}


@pytest.mark.slow
@pytest.mark.parametrize("item", [i for i in (*PRACTICE, *GRADED) if i.verify], ids=ids)
def test_the_key_is_what_a_run_says_and_the_switches_are_restored(item):
    before = flags.read()
    outcome = run_verify(item, base.restored)
    assert outcome.ok, outcome
    assert flags.read() == before


@pytest.mark.parametrize("item", [*PRACTICE, *GRADED], ids=ids)
def test_every_option_explains_itself_in_both_languages(item):
    assert item.lesson in BY_ID
    if item.kind == "number":
        responses = [Response(number=item.number.value)]
        responses += [Response(number=(trap.low + trap.high) / 2) for trap in item.number.traps]
    else:
        responses = [Response((option.id,)) for option in item.options]
    for response in responses:
        lines = feedback(item, response)
        assert len(lines) >= max(1, len(item.options))
        for line in lines:
            for code in LANGUAGES:
                assert pick(line.why, code).strip()


@pytest.mark.parametrize("item", [i for i in (*PRACTICE, *GRADED) if i.kind != "predict"], ids=ids)
def test_the_key_itself_gets_full_marks_and_a_wrong_option_does_not(item):
    if item.kind == "number":
        right = Response(number=item.number.value)
        wrong = [Response(number=(trap.low + trap.high) / 2) for trap in item.number.traps]
    else:
        right = Response(tuple(item.order or item.correct))
        wrong = [Response((option.id,)) for option in item.options if option.id not in right.options]
    assert mark(item, right).state == "correct"
    for response in wrong:
        assert mark(item, response).state == "incorrect"


@pytest.mark.parametrize("item", [i for i in PRACTICE if i.kind == "predict"], ids=ids)
def test_every_bet_is_settled_by_an_experiment_that_exists(item):
    assert base.get(item.experiment).lesson == item.lesson
