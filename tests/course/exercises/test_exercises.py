"""An exercise turns whatever a learner wrote, also a crash, into a verdict with words."""

from __future__ import annotations

import pytest

from course.core.catalog import BY_ID, PROJECTS
from course.core.i18n import LANGUAGES, pick
from course.core.verdict import Verdict, correct
from course.exercises.exercise import MISSING, Exercise, all_exercises, judge

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
