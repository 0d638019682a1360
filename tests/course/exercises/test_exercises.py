"""An exercise turns whatever a learner wrote, also a crash, into a verdict with words. Stated as cases and slips, each slip is told apart
from the right answer and from the others, everywhere.
"""

from __future__ import annotations

import ast
import re
import string

import pytest

from course.core.catalog import BY_ID, PROJECTS, lesson_folder
from course.core.i18n import LANGUAGES, pick
from course.core.verdict import Verdict, correct
from course.exercises import told
from course.exercises.exercise import MISSING, Exercise, all_exercises, judge
from course.exercises.slips import Cases, arguments, data, same, visible_check
from course.questions.bank import read_yaml
from tests.lessons.ideas import IMPORTS

double = Exercise(
    "x-double", "00_start", "double", "double", lambda f: correct() if f(2) == 4 else Verdict("incorrect")
)


def crash(_):
    raise ZeroDivisionError("division by zero")


def stub(_):
    raise NotImplementedError


@pytest.mark.parametrize(
    "obj, state, reason",
    [
        (MISSING, "not attempted", "missing"),
        (None, "not attempted", "placeholder"),
        (..., "not attempted", "placeholder"),
        (stub, "not attempted", "not-implemented"),
        (lambda x: x * ..., "not attempted", "placeholder"),
        (crash, "incorrect", "raised"),
        (lambda x: 2 * x, "correct", ""),
        (lambda x: x, "incorrect", ""),
    ],
)
def test_judge(obj, state, reason):
    verdict = judge(double, obj)
    assert (verdict.state, verdict.reason) == (state, reason)


def test_what_the_learners_code_raised_is_quoted():
    (said,) = judge(double, crash).messages
    assert all("ZeroDivisionError: division by zero" in said[code] for code in LANGUAGES)


@pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda e: e.id)
def test_every_exercise_is_complete_in_both_languages(exercise):
    assert exercise.lesson in (*BY_ID, *PROJECTS) and bool(exercise.hints) == bool(exercise.solution)
    texts = [exercise.title, *exercise.hints] + ([exercise.why] if exercise.solution else [])
    assert all(pick(text, code).strip() for text in texts for code in LANGUAGES)


@pytest.mark.parametrize("state, points", [("right", 1.0), ("correct", 2.0), ("correct", -1.0)])
def test_verdict_refuses_unknown_states_and_points_out_of_range(state, points):
    with pytest.raises(ValueError):
        Verdict(state, points, 1.0)


# --- cases and slips ---


EXERCISES = [exercise for exercise in all_exercises().values() if exercise.cases]
SLIPS = [
    pytest.param(exercise, slip, id=f"{exercise.id}: {slip.name}")
    for exercise in EXERCISES
    for slip in exercise.cases.slips
]


def defined(code: str, exercise: Exercise):
    space: dict = {}
    exec(IMPORTS + exercise.cases.setup, space)
    exec(code, space)
    return space[exercise.name]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.id)
def test_the_solution_is_right_and_no_two_slips_are_one(exercise):
    cases = exercise.cases
    assert judge(exercise, defined(exercise.solution, exercise)).state == "correct"
    made = [cases.made(slip.code) for slip in cases.slips]
    for place, one in enumerate(made):
        for other in made[:place]:
            assert any(repr(one[call]) != repr(other[call]) for call in cases.calls), cases.slips[place].name


@pytest.mark.parametrize(("exercise", "slip"), SLIPS)
def test_a_slip_gets_its_own_sentence(exercise, slip):
    verdict = judge(exercise, defined(slip.code, exercise))
    assert (verdict.state, verdict.reason) == ("partly" if slip.half else "incorrect", slip.name)
    for text in verdict.messages[0].values():
        assert not re.search(r"\{(call|got|right)\}", text)


ADD = {
    "name": "add",
    "solution": "def add(a, b):\n    return a + b\n",
    "cases": ["1, 2", "b=1, a=3", {"call": "0, 0", "half": True, "why": {"en": "Nothing.", "zh": "没有。"}}],
    "right": {"en": "Right.", "zh": "对。"},
    "wrong": {"en": "Add.", "zh": "相加。"},
    "slips": {
        "minus": {"swap": {"a + b": "a - b"}, "says": {"en": "{call} is {right}, not {got}.", "zh": "减法"}},
        "first": {"code": "add = lambda a, b: a", "says": {"en": "One is missing.", "zh": "少一个"}},
    },
}


@pytest.mark.parametrize(
    ("answer", "state", "reason", "said"),
    [
        (lambda a, b: a + b, "correct", "", "Right."),
        (lambda a, b: float(a + b), "correct", "", "Right."),
        (lambda a, b: a - b, "incorrect", "minus", "add(1, 2) is 3, not -1."),
        (lambda a, b: a - b if a else 5, "incorrect", "minus", "add(1, 2) is 3, not -1."),  # with another fault
        (lambda a, b: a * b, "incorrect", "wrong", "`add(1, 2)` should give `3`, and it gave `2`. Add."),
        (lambda a, b: a + b or 7, "partly", "wrong", "`add(0, 0)` should give `0`, and it gave `7`. Nothing."),
        (lambda a, b: "three", "incorrect", "wrong", "`add(1, 2)` should give `3`, and it gave `'three'`. Add."),
        (lambda a, b: [a][b], "incorrect", "raised", "it stopped with `IndexError: list index out of range`"),
        (lambda a, b: None, "not attempted", "placeholder", ""),
        (lambda a, b: ..., "not attempted", "placeholder", ""),
    ],
)
def test_how_an_answer_is_judged(answer, state, reason, said):
    verdict = Cases.of(ADD).judge(answer)
    assert (verdict.state, verdict.reason) == (state, reason)
    assert said in verdict.messages[0]["en"]


def test_a_blank_that_is_computed_with_is_a_blank():
    blank = Exercise("x", "00", "", "add", Cases.of(ADD).judge)
    assert judge(blank, lambda a, b: a + ...).reason == "placeholder"

    def unwritten(a, b):
        raise NotImplementedError

    assert judge(blank, unwritten).reason == "not-implemented"


def test_what_was_given_must_stay_and_the_order_does_not_count_where_the_exercise_says_so():
    def popped(values):
        return [values.pop()][:1]

    last = {
        **ADD,
        "name": "last",
        "solution": "def last(values):\n    return values[-1:]\n",
        "cases": ["[1, 2]"],
        "slips": {},
    }
    assert Cases.of(last).judge(popped).state == "correct"
    assert Cases.of({**last, "keeps": True}).judge(popped).reason == "input-changed"
    whole = {**last, "solution": "def last(values):\n    return values\n"}
    assert Cases.of(whole).judge(lambda values: values[::-1]).state == "incorrect"
    assert Cases.of({**whole, "any_order": True}).judge(lambda values: values[::-1]).state == "correct"


@pytest.mark.parametrize(
    ("check", "fits", "not_so", "reason"),
    [
        ({"form": {"call": "", "gives": ["whole number", "none"]}}, lambda: 2.0, lambda: 2.5, "form"),
        ({"form": {"call": "", "gives": ["bools"]}}, lambda: [True], lambda: [1], "form"),
        ({"form": {"call": "", "gives": ["numbers by name"]}}, lambda: {"a": 1}, lambda: {"a": "1"}, "form"),
        ({"form": {"call": "", "one_of": ["yes", "no"]}}, lambda: "no", lambda: 3, "form"),
        ({"example": {"call": "", "right": "[1, 2]"}}, lambda: (1, 2), lambda: [2], "example"),
        ({"report": ["ms", "claim"]}, {"ms": 0, "claim": ""}, {"ms": 0, "claim": None}, "missing-fields"),
    ],
)
def test_a_visible_check_takes_what_fits_and_marks_nothing(check, fits, not_so, reason):
    visible = visible_check({"name": "f", **check})
    assert visible(fits).state == "not marked"
    assert (visible(not_so).state, visible(not_so).reason) == ("incorrect", reason)


def test_drawn_calls_are_the_same_each_time_and_can_be_pasted():
    drawn, again = (Cases.of({**ADD, "draws": "(draw.randint(1, 9), draw.random())"}) for _ in range(2))
    assert len(drawn.calls) == 63 and drawn.calls == again.calls
    verdict = drawn.judge(lambda a, b: a + b if b > 0.5 or b in (0, 1, 2) else a)
    call = re.match(r"`add\((.*)\)` should", verdict.messages[0]["en"])[1]
    assert arguments(call)[0][1] <= 0.5


@pytest.mark.parametrize(
    ("got", "right", "equal"),
    [
        (1, True, False),
        (1.0, 1, True),
        ([1, (2.0, 3)], [1, [2, 3]], True),
        ({"a": (1, 2)}, {"a": [1, 2]}, True),
        (float("nan"), 1.0, False),
        ("1", 1, False),
        (None, 0, False),
        (iter([1, 2]), [1, 2], True),
    ],
)
def test_equal_results(got, right, equal):
    assert same(data(got), data(right)) is equal


@pytest.mark.parametrize("lesson", BY_ID)
def test_what_a_check_tells_has_words_and_no_words_are_told_by_none(lesson):
    """Each code beside `Told` has a sentence, each sentence a code and the values that it names in the checks."""
    trees = [ast.parse(path.read_text("utf-8")) for path in lesson_folder(lesson).glob("exercises*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    written = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "Told"]
    values = written | {one.arg for call in calls for one in call.keywords} | {"low", "high", "rounds"}
    common = {"right", "won", *told.shared()}  # of all checks, and of course/exercises/checking.py
    codes = {one.value for call in calls for one in call.args if isinstance(one, ast.Constant)}
    entries = read_yaml(lesson_folder(lesson) / "exercises.yaml") or {}
    said = [pair for entry in entries.values() for pair in entry.get("says", {}).items()]
    assert codes <= {code for code, _ in said} | common
    for code, words in said:
        assert code in written | common or any(code.startswith(one) for one in written if one.endswith(", "))
        named = {field for one in ("en", "zh") for _, field, _, _ in string.Formatter().parse(words[one]) if field}
        assert named <= values, code
