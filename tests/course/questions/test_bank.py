"""The whole question bank: every item well made, every key true, a sentence for every fault; claims that questions meet."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import yaml

from course.core.catalog import LESSONS
from course.experiment import base
from course.learning.marking import Response, mark
from course.questions.bank import Bank, load_bank
from course.questions.items import BankError, every, parse_item, with_key
from course.questions.lint import lint_items
from course.questions.verify import run_verify
from grader.project import Project, ProjectError, met_in, read_yaml
from tests.conftest import ROOT
from tests.support import quiz_items as q

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
def test_the_key_is_what_a_run_says(item):
    outcome = run_verify(item)
    assert outcome.ok, outcome


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


def test_a_faulty_item_names_file_item_field_and_leaves_the_others(tmp_path):
    broken = copy.deepcopy(q.SINGLE)
    del broken["options"][0]["why"]
    broken["colour"] = "red"
    bank = Bank(q.write_bank(tmp_path, [broken, q.MULTIPLE]))
    faults = "\n".join(bank.faults())
    assert "l05_x/items.yaml, item 05-one, field options[a]: 'why' is" in faults
    assert "'colour' was unexpected" in faults
    assert [item.id for item in bank.items("05_x")] == ["05-many"]
    with pytest.raises(BankError, match="05-one"):
        load_bank(tmp_path)
    with pytest.raises(BankError, match="options"):
        bank["05-one"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "06-one"}, "field id"),
        ({"id": "Five"}, "field id"),
        ({"kind": "guess"}, "field kind"),
        ({"stem": {"en": "only"}}, "field stem"),
        ({"options": [q.option("a", True), q.option("b", True)]}, "field options"),
        ({"options": [q.option("a", True), q.option("a")]}, "field options"),
        ({"kind": "order"}, "field order"),
        ({"kind": "number"}, "field number"),
    ],
)
def test_each_contradiction_has_its_sentence(change, words):
    with pytest.raises(BankError, match=words):
        parse_item({**q.SINGLE, **change}, "05_x.yaml")


@pytest.mark.parametrize("field", ["correct", "why", "misconception"])
def test_a_checkpoint_item_with_a_key_is_refused(field):
    leaking = copy.deepcopy(q.CHECKPOINT[0])
    leaking["options"][0][field] = True if field == "correct" else "first-belief"
    with pytest.raises(BankError, match="key"):
        parse_item(leaking, "x", checkpoint=True)
    with pytest.raises(BankError, match="key"):
        parse_item({**q.CHECKPOINT[3], "number": {"unit": q.both("s"), "value": 3}}, "x", checkpoint=True)


@pytest.mark.parametrize("text, word", [("- id: '05-one\n  lesson: [", "line"), ("one: two", "list")])
def test_broken_yaml_names_the_line(tmp_path, text, word):
    q.write_bank(tmp_path)
    (tmp_path / "l05_x/items.yaml").write_text(text, "utf-8")
    assert word in Bank(tmp_path).faults()[0]


def test_a_key_is_merged_in_and_must_fit(bank):
    item = with_key(bank["05-c-one"], q.KEYS["05-c-one"])
    assert item.correct == ("b",) and item.option("a").misconception == "first-belief" and item.points == 2
    assert with_key(bank["05-c-count"], q.KEYS["05-c-count"]).number.high == 3
    assert with_key(bank["05-c-lines"], q.KEYS["05-c-lines"]).order == ("c", "b", "a")
    for key, words in [
        ({"correct": ["z"], "source": "s"}, "z is not an option"),
        ({"source": "s"}, "field correct: is missing"),
        ({"correct": ["a", "b"], "source": "s"}, "one right option; all of them"),
        ({"correct": ["a"]}, "'source' is a required"),
    ]:
        with pytest.raises(BankError, match=words):
            with_key(bank["05-c-one"], key)


def test_lint_finds_each_fault_of_an_item(bank):
    item = bank["05-one"]
    a, b, c = item.options

    def found(*options, **more):
        return [one.rule for one in lint_items([replace(item, options=options, **more)], q.BELIEFS)]

    long = replace(b, text={"en": "the right one is by far the longest of all", "zh": "对"})
    assert "right-option-longest" in found(a, long, c)
    assert found(replace(a, misconception=None), b, c) == found(a, b, c), "a wrong option may state no belief"
    assert "misconception-of-right" in found(a, replace(b, misconception="first-belief"), c)
    assert "unknown-misconception" in found(replace(a, misconception="unheard-of"), b, c)
    assert "why-missing" in found(replace(a, why=""), b, c)
    assert "half-width" in found(a, b, c, stem={"en": "Why?", "zh": "为什么呢,你说"})
    assert "one-language" in found(a, b, c, stem="A sentence")
    assert "chinese-in-english" in found(a, b, c, stem={"en": "为什么", "zh": "为什么"})
    assert "same-options" in found(a, b, replace(c, text={"en": a.text["en"].upper() + " .", "zh": "丙"}))


@pytest.mark.parametrize(
    ("identity", "snippet", "said"),
    [
        ("05-one", "", "ok"),
        ("05-one", "result = ['a']", "computed ['a']"),
        ("05-one", "1 / 0", "ZeroDivisionError"),
        ("05-one", "x = 1", "variable"),
        ("05-one", "raise SystemExit", "SystemExit"),
        ("05-one", "import threading; threading.Event().wait()", "within 2 s"),
        ("05-count", "result = 9.4e6", "ok"),
        ("05-count", "result = 'nine'", "ValueError"),
        ("05-lines", "result = ['c', 'a', 'd']", "ok"),
        ("05-lines", "result = ['a', 'c', 'd']", "computed ['a', 'c', 'd']"),
    ],
)
def test_verify_snippets_are_run_and_compared(bank, identity, snippet, said):
    item = bank[identity]
    outcome = run_verify(replace(item, verify=snippet or item.verify), limit_s=2)
    assert outcome.ok is (said == "ok") and (outcome.ok or said in outcome.message), outcome


MET = met_in(Project())


def test_every_claim_is_well_made_and_met_by_a_practice_question():
    listed = read_yaml(Project().learner_folder / "misconceptions.yaml")
    known = [name for name, row in listed.items() if "truth" in row]
    assert len(known) >= 35 and [one for one in known if one not in MET] == []
    for name, row in listed.items():
        assert {*row} == {"en", "zh", "truth", "source"} if name in known else {*row} == {"en", "zh"}, name
        assert {*row.get("truth", ("en", "zh"))} == {"en", "zh"}, name


def test_a_file_of_ones_own_in_another_encoding_is_named_with_what_to_do(tmp_path):
    (tmp_path / "papers.yaml").write_bytes("15_review: {甲: 乙}".encode("gbk"))
    with pytest.raises(ProjectError, match="papers.yaml: this is not UTF-8; save"):
        read_yaml(tmp_path / "papers.yaml")
