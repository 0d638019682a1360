"""Every wrong idea loses what it should and nothing else, in every draw; every right variant keeps all.

The solution that an exercise shows is right, and what its notebook hands out is no answer yet.
"""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

import course.timing
from course import flags
from course.core.catalog import PROJECTS
from course.exercises.exercise import Exercise, all_exercises, judge
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.ideas import Idea, all_ideas
from tests.lessons.losing import lost_parts, verdict_on

pytestmark = pytest.mark.slow

PROJECT = Project()
DRAWS = 8
TASKS = {task.id: task for lesson in PROJECT.checkpoints() for task in tasks(PROJECT, lesson).values()}
PRACTICE = {name: exercise for name, exercise in all_exercises().items() if exercise.solution is not None}
IDEAS = all_ideas()
RACES = {
    f"{lesson}-{name}"
    for name in ("lose", "make-it-lose")
    for lesson in ("01", "02", "03", "04", "05", "09", "12", "13", "16")
}
REPAIRS = {
    "02-stopwatch", "05-search-here", "06-make-it-lose", "07-make-it-lose", "08-make-it-lose", "08-script", "09-without-onednn",
    "12-row-spreads", "13-in-thread", "14-gate",
}  # fmt: skip


def params(of: dict) -> list:
    return [pytest.param(idea, id=f"{idea.of}: {idea.says}") for idea in IDEAS if idea.of in of]


@pytest.mark.parametrize("idea", params(TASKS))
def test_an_idea_about_a_task_loses_its_parts_in_every_draw(idea: Idea):
    task = TASKS[idea.of]
    answer = idea.defined(task.name)
    for seed in range(1 if task.judge else DRAWS):
        if idea.right:
            verdict = verdict_on(task, answer, seed)
            assert verdict.points == task.points, (seed, verdict.evidence, verdict.messages)
        else:
            assert lost_parts(task, answer, seed) == set(idea.deserves), seed


@pytest.mark.parametrize("idea", params(PRACTICE))
def test_an_idea_about_an_exercise_gets_its_verdict_and_leaves_torch_alone(idea: Idea):
    exercise = PRACTICE[idea.of]
    before = flags.read()
    verdict = judge(exercise, idea.defined(exercise.name))
    assert (verdict.state, verdict.reason) == (idea.deserves or ("correct", "")), verdict.messages
    assert flags.read() == before


@pytest.mark.parametrize("idea", params(TASKS))
def test_the_visible_check_never_calls_an_answer_right(idea: Idea):
    """It sees the form or an example; a right variant passes it in a neutral state, whatever types it uses."""
    verdict = judge(all_exercises()[idea.of], idea.defined(TASKS[idea.of].name))
    assert verdict.state == "not marked" if idea.right else verdict.state in ("not marked", "incorrect")


def handed_out(exercise: Exercise) -> dict[str, Any]:
    """What its notebook has imported and defined when the exercise is met; under its name, unless that is a race, what
    stands there.
    """
    kind = "projects" if exercise.lesson in PROJECTS else "lessons"
    cells = json.loads((PROJECT.root / f"notebooks/en/{kind}/{exercise.lesson}.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    last = next(number for number, text in enumerate(code) if f'check("{exercise.id}")' in text)

    def is_kept(node: ast.AST) -> bool:
        if not isinstance(node, ast.Assign):
            return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef))
        given = exercise.name in map(ast.unparse, node.targets) and exercise.id not in RACES
        return given or ast.unparse(node.value).startswith("torch.nn.")

    definitions = [node for text in code[: last + 1] for node in ast.parse(text).body if is_kept(node)]
    space: dict[str, Any] = {}
    exec(compile(ast.Module(definitions, []), exercise.lesson, "exec"), space)
    return space


@pytest.mark.parametrize("exercise", PRACTICE.values(), ids=PRACTICE)
def test_the_solution_shown_is_correct_and_leaves_torch_alone(exercise: Exercise, monkeypatch):
    """Solutions that measure run for a moment: what the clock says is not asked. No race warns that its results differ."""
    measure, raced = course.timing.compare, []

    def briefly(*given, **more):
        raced.append(measure(*given, **{**more, "max_time": 0.3}))
        return raced[-1]

    monkeypatch.setattr(course.timing, "compare", briefly)
    space = handed_out(exercise)
    before = flags.read()
    exec(exercise.solution, space)
    verdict = judge(exercise, space[exercise.name])
    if exercise.id in RACES:
        assert verdict.state in ("correct", "inconclusive", "incorrect") and verdict.reason != "raised", verdict
    else:
        assert verdict.state == "correct", verdict
    assert flags.read() == before
    assert not [note for one in raced for note in one.notes if "does not return what" in note]


@pytest.mark.parametrize("exercise", [one for one in PRACTICE.values() if one.id not in RACES], ids=lambda one: one.id)
def test_what_the_notebook_hands_out_is_no_answer_yet(exercise: Exercise):
    """Blanks are no attempt; a wrong answer to be repaired is wrong."""
    given = handed_out(exercise)
    verdict = judge(exercise, given[exercise.name])
    assert verdict.state in ("incorrect", "partly") if exercise.id in REPAIRS else verdict.state == "not attempted"


@pytest.mark.parametrize("identity", [*TASKS, *(name for name, one in PRACTICE.items() if not one.cases)])
def test_every_task_and_check_states_right_variants_and_an_idea_that_loses_each_part(identity):
    """An exercise of cases has its slips instead (test_slips.py), and each small change of its solution (test_mutants.py)."""
    wrong = {idea.deserves for idea in IDEAS if idea.of == identity and not idea.right}
    assert sum(idea.right for idea in IDEAS if idea.of == identity) >= 2
    if identity in PRACTICE:
        assert len(wrong) >= 2
    elif TASKS[identity].parts:
        assert set(TASKS[identity].parts) == {part for lost in wrong for part in lost}
