"""Questions with variants: drawn alike everywhere, each of them sound, different for two students, and without a way to the
key where the learner is. What a class gets for them: tests/grader/test_grading_papers.py.
"""

from __future__ import annotations

import copy
import json
from itertools import combinations
from statistics import mean

import pytest

from course.learning.marking import Response, mark
from course.questions.bank import Bank
from course.questions.expressions import FormulaError, compute
from course.questions.items import BankError, parse_item, redrawn, with_key
from course.questions.lint import SEEDS, lint_variants
from course.questions.variants import Paper, drawn, faults, is_template
from course.questions.verify import run_verify
from grader.authoring.question_check import checkpoint_findings
from grader.course.marks import CellMark
from grader.handin.answers import every_item, keyed_items
from grader.project import Project, checkpoint_items, keys
from grader.reporting.report import Row

PROJECT, BANK = Project(), Bank()
BELIEFS = BANK.misconceptions()
EXAM, SALT = "15_review", "0123456789abcdef"
LESSONS = PROJECT.checkpoints()
PRACTICE = [item for item in BANK.items() if item.varies]
GRADED = [(lesson, item) for lesson in LESSONS for item in every_item(PROJECT, lesson).values() if item.values]


def both(en, zh):
    return {"en": en, "zh": zh}


SUM = {
    "id": "05-c-sum",
    "lesson": "05_x",
    "concept": "sum",
    "kind": "number",
    "points": 1,
    "draw": {"n": {"from": 10, "to": 90}, "k": [2, 3, 5, 7]},
    "stem": both("What is {{n}} times {{k}}?", "{{n}} 乘 {{k}} 等于多少？"),
    "number": {"unit": both("(a number)", "（个数）")},
}
KEY = {
    "let": {"product": "n * k"},
    "number": {
        "value": "product",
        "traps": [{"low": "n + k", "high": "n + k", "why": both("Added: {{n + k}}.", "加了：{{n + k}}。")}],
    },
    "why": both("{{n}} x {{k}} = {{product}}.", "{{n}} x {{k}} = {{product}}。"),
    "source": "fixture",
}


def paper(student, lesson=EXAM, salt=SALT):
    return keyed_items(PROJECT, lesson, Paper(student, lesson, salt))


def right(item):
    return Response(number=float(item.number.value)) if item.number else Response(item.correct)


# --- formulas ---


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("n * (k - 1) // 3", 29),
        ("2 ** k + n % 7", 33),
        ("'big' if n > 20 and not k == 2 else 'small'", "big"),
        ("distinct(sizes + [n]) - distinct(sizes)", 1),
        ("sorted(sizes)[1] + len(sizes) + count(sizes, 224)", 224 + 3 + 2),
        ("rest or k", 5),
        ("1 < k <= 5", True),
        ("floor(log2(3000)) + ceil(0.2) + round(2.6)", 15),
    ],
)
def test_a_formula_is_computed(formula, value):
    assert compute(formula, {"n": 22, "k": 5, "rest": 0, "sizes": [224, 160, 224]}) == value


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "n << 9",
        "n.real",
        "(lambda: 1)()",
        "[n for n in sizes]",
        "sizes[0:1]",
        "missing + 1",
        "open('x')",
        "9 ** 9 ** 9",
        "n / 0",
        "max(n=1)",
        "n" * 500,
        "-" * 390 + "n + ",
    ],
)
def test_what_is_no_formula_is_refused_in_a_sentence(formula):
    """A question file can compute a number and cannot do anything."""
    with pytest.raises(FormulaError, match="`"):
        compute(formula, {"n": 22, "sizes": [1, 2]})


# --- draws ---


def test_a_draw_is_the_same_on_every_machine():
    """Written down here: another version of Python or another machine must draw exactly this, today and after an upgrade."""
    template = {
        "draw": {
            "n": [8, 16, 32, 64],
            "side": {"from": 28, "to": 56, "step": 4},
            "sizes": {"each": 4, "of": [224, 192, 160]},
            "a, b": [[1, "one"], [2, "two"], [3, "three"]],
        },
        "where": ["n < side"],
    }
    seed = Paper("Ada", EXAM, SALT).seed("15-c-map")
    assert seed == "6d607ba0f273625d3cf722a19c09a3f76f4ecb18b43e99ad56f95c061bc49a82"
    assert drawn(template, "a") == {"n": 16, "side": 28, "sizes": [192, 192, 192, 160], "a": 1, "b": "one"}
    assert drawn(template, seed) == {"n": 8, "side": 56, "sizes": [192, 224, 192, 160], "a": 1, "b": "one"}


def test_what_a_seed_is_made_of_and_what_plays_no_part():
    seed = Paper("ada", EXAM, SALT).seed("q")
    for other in (Paper("bob", EXAM, SALT), Paper("ada", "05_x", SALT), Paper("ada", EXAM, "another release")):
        assert other.seed("q") != seed
    assert Paper("ada", EXAM, SALT).seed("r") != seed
    assert Paper(" Ada ", EXAM, SALT).seed("q") == Paper("ａｄａ", EXAM, SALT).seed("q") == seed
    assert Paper("ab", "c", "").seed("q") != Paper("a", "bc", "").seed("q")


def test_two_students_have_other_papers_and_a_copied_one_earns_little():
    """Of 30: no two papers are the same, and the right answers of one get few points on the paper of another."""
    papers = [paper(f"student-{number}") for number in range(30)]
    words = [json.dumps([[item.stem, item.code, item.values] for item in one.values()]) for one in papers]
    assert len(set(words)) == 30
    copied = [
        sum(mark(item, right(theirs[name])).points for name, item in mine.items())
        / sum(i.points for i in mine.values())
        for mine, theirs in combinations(papers, 2)
    ]
    assert mean(copied) < 0.25
    assert all(mark(item, right(item)).state == "correct" for one in papers for item in one.values())


# --- every variant ---


def other_variant(lesson, item, seed):
    """The variant of a question drawn with ``seed``, with its key."""
    variant = redrawn(item, seed)
    return with_key(variant, keys(PROJECT, lesson)[variant.key])


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_variant_of_a_checkpoint_is_sound(lesson):
    """200 seeds: one right answer, traps apart from it and from each other, both languages, a sensible tolerance."""
    assert checkpoint_findings(PROJECT, lesson, SEEDS) == []


@pytest.mark.parametrize("item", PRACTICE, ids=lambda item: item.id)
def test_every_variant_of_a_practice_question_is_sound(item):
    assert lint_variants(lambda seed: redrawn(item, seed, check=True), BELIEFS) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", ["one", "two"])
@pytest.mark.parametrize(("lesson", "item"), GRADED, ids=lambda one: getattr(one, "key", ""))
def test_a_run_says_the_same_as_the_formula(lesson, item, seed):
    outcome = run_verify(other_variant(lesson, item, seed)) if item.verify else None
    assert outcome is None or outcome.ok, outcome


@pytest.mark.parametrize("item", PRACTICE, ids=lambda item: item.id)
def test_a_run_says_the_same_as_the_formula_of_a_practice_question(item):
    outcome = run_verify(redrawn(item, "again 1"))
    assert outcome.ok, outcome


@pytest.mark.parametrize("lesson", LESSONS)
def test_half_of_the_points_of_the_questions_differ_between_students(lesson):
    raw = checkpoint_items(PROJECT, lesson).values()
    differ, points = (
        sum(one.get("points", 0) for one in raw if all_of or is_template(one)) for all_of in (False, True)
    )
    assert 2 * differ >= points, f"give a question of {lesson} `draw` or `one_of`: {differ} of {points}"
    one, other = ({n: (i.stem, i.code, i.options) for n, i in paper(who, lesson).items()} for who in ("ada", "bob"))
    assert one != other


@pytest.mark.parametrize(
    ("item", "key", "rule", "named"),
    [
        ({"draw": {"n": [4, 5], "k": [2, 3]}}, {}, "too-few-variants", "4"),
        ({"draw": {"n": {"from": 2, "to": 9}, "k": [2, 3]}}, {}, "trap-overlaps", "k = 2"),  # 2 + 2 = 2 * 2
        (
            {},
            {"number": {"value": "product", "low": "0.8 * product", "high": "1.2 * product"}},
            "number-too-wide",
            "drawn: n = ",
        ),
        ({}, {"number": {"value": "k % 2"}}, "variants-alike", "%"),
        ({}, {"number": {"value": "product", "low": "product + 1", "high": "product"}}, "value-outside", "drawn: n = "),
        ({"where": ["n > 100"]}, {}, "schema", "where"),
        ({}, {"number": {"value": "n / (k - 2)"}}, "schema", "zero"),
        ({}, {"number": {"value": "m"}}, "schema", "'m'"),
        ({"stem": both("What is {{n * k}}?", "{{n}} 是多少？")}, {}, "schema", "field stem.en"),
        ({"let": {"m": "n * k"}}, {}, "schema", "field let"),
        ({"draw": {"n": [4]}}, {}, "schema", "field draw.n"),
        ({"draw": {"max": [4, 5]}}, {}, "schema", "field draw: 'max'"),
        ({"draw": {"n": {"from": 5, "to": 2}, "k": [1, 2]}}, {}, "schema", "field draw.n"),
        ({"draw": [1, 2]}, {}, "schema", "field draw"),
        ({"standard": {"m": 1}}, {}, "schema", "field standard: m"),
        ({"number": {"unit": both("s", "秒"), "value": "n * k"}}, {}, "schema", "field number: "),
    ],
)
def test_a_template_that_is_not_sound_is_told_so(item, key, rule, named):
    raw, with_formulas = {**copy.deepcopy(SUM), **item}, {**copy.deepcopy(KEY), **key}

    def make(seed):
        return with_key(parse_item(raw, "x", checkpoint=True, seed=seed), with_formulas)

    assert [one for one in lint_variants(make, {}) if one.rule == rule and named in one]


def test_a_sound_template_is_left_in_peace():
    def make(seed):
        return with_key(parse_item(SUM, "x", checkpoint=True, seed=seed), KEY)

    assert lint_variants(make, {}) == []
    item = make("a seed")
    n, k = item.values["n"], item.values["k"]
    assert item.stem["en"] == f"What is {n} times {k}?" and item.number.value == n * k
    assert mark(item, Response(number=float(n * k))).state == "correct"
    assert (
        mark(item, Response(number=float(n + k))).state == "incorrect"
        and f"加了：{n + k}。" in item.number.traps[0].why["zh"]
    )


def test_a_place_draws_one_of_its_questions_and_its_key_goes_with_it():
    raw = {"id": "05-c-place", "lesson": "05_x", "points": 2, "one_of": []}
    for name in ("sum", "more", "most"):
        one = {k: v for k, v in SUM.items() if k not in ("lesson", "points")}
        raw["one_of"].append({**one, "id": f"05-c-{name}"})
    keys = {one["id"]: KEY for one in raw["one_of"]}
    found = [parse_item(raw, "x", checkpoint=True, seed=str(number)) for number in range(30)]
    assert {item.key for item in found} == set(keys) and {item.id for item in found} == {"05-c-place"}
    assert all(with_key(item, keys[item.key]).keyed and item.points == 2 for item in found)
    raw["one_of"][2]["kind"] = "invented"  # a fault of any of them is one of the file
    with pytest.raises(BankError, match="05-c-most"):
        parse_item(raw, "x", checkpoint=True)


# --- some of the options ---

SOME = {
    **{name: value for name, value in SUM.items() if name not in ("draw", "number", "stem")},
    "id": "05-c-some",
    "kind": "multiple",
    "show": 3,
    "stem": both("Which hold?", "哪些成立？"),
    "options": [{"id": one, "text": both(f"Statement {one}", f"说法 {one}")} for one in "abcde"],
}
SOME_KEY = {
    "correct": ["a", "c", "e"],
    "why": {one: both(f"Because {one}.", f"因为 {one}。") for one in "abcde"},
    "misconception": {"b": "async-timer"},
    "source": "fixture",
}


def some(seed="", **more):
    return with_key(parse_item({**SOME, **more}, "x", checkpoint=True, seed=seed), SOME_KEY)


def test_some_options_are_shown_and_keep_their_letters():
    assert [one.id for one in some().options] == ["a", "b", "c"], "without a paper the first ones"
    papers = [some(str(number)) for number in range(60)]
    shown = [tuple(one.id for one in item.options) for item in papers]
    assert len(set(shown)) == 10 and all(list(one) == sorted(one) and len(one) == 3 for one in shown)
    for item in papers:
        assert item.correct == tuple(one.id for one in item.options if one.id in "ace")
        assert mark(item, Response(item.correct)).state == "correct"
        assert all(one.why["en"] == f"Because {one.id}." for one in item.options)
    copied = [mark(mine, right(theirs)).state == "correct" for mine, theirs in combinations(papers, 2)]
    assert mean(copied) < 0.4
    assert lint_variants(some, {"async-timer": "x"}) == []


@pytest.mark.parametrize("more", [{"show": 5}, {"kind": "single"}])
def test_a_number_of_options_that_cannot_be_shown_is_refused(more):
    with pytest.raises(BankError, match="field show"):
        some(**more)


def test_a_practice_question_that_could_show_wrong_options_alone_says_how_many_to_show():
    raw = {
        "id": "05-some",
        "kind": "multiple",
        "show": 3,
        "options": [{"correct": True}, {"correct": True}, {}, {}, {}],
    }
    assert "show 4 or more" in next(faults(raw, keyless=False))
    assert list(faults({**raw, "show": 4}, keyless=False)) == []


def test_a_paper_without_a_right_option_is_found():
    key = {**SOME_KEY, "correct": ["a"]}
    found = lint_variants(lambda seed: with_key(parse_item(SOME, "x", checkpoint=True, seed=seed), key), {})
    assert [one.rule for one in found] == ["schema"] and "`show` more" in found[0]


def counted(standard, wrong):
    """What the report counts for a question of which a student's variant was answered with a wrong option."""
    row = Row(standard)
    row.count(CellMark(0.0, top=1.0), {"state": "incorrect", "wrong": [wrong]})
    return list(row.wrong)


def test_a_wrong_answer_to_a_variant_is_counted_unless_it_is_right_in_the_standard_variant():
    standard = every_item(PROJECT, "10_tuning_master")["10-c-limit"]
    seen = set()
    for number in range(40):
        item = other_variant("10_tuning_master", standard, str(number))
        wrong = next(one.id for one in item.options if not one.correct)
        assert counted(standard, wrong) == ([] if wrong in standard.correct else [wrong])
        seen.add(wrong)
    assert len(seen) > 1 and seen > {*standard.correct}
    standard = every_item(PROJECT, "05_cudnn_benchmark")["05-c-new-key"]
    shown = other_variant("05_cudnn_benchmark", standard, "x")
    wrong = next(one.id for one in shown.options if not one.correct)
    assert counted(standard, wrong) == [wrong], "an option keeps its letter"
