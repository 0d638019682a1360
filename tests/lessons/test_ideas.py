"""Protects a student's marks: every wrong idea loses what it should and nothing else, in every draw, and every right variant keeps all."""

from __future__ import annotations

import ast
import json
import random
from statistics import fmean
from typing import Any

import pytest

import course.timing
from course import flags
from course.core.catalog import PROJECTS
from course.exercises.exercise import Exercise, all_exercises, judge
from course.exercises.slips import same
from grader.project import Project
from grader.project.task import Task, plain, tasks
from tests.lessons.ideas import Idea, all_ideas, lost_parts, verdict_on

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


@pytest.mark.slow
@pytest.mark.parametrize("idea", params(TASKS))
def test_an_idea_about_a_task_loses_its_parts_in_every_draw(idea: Idea):
    task = TASKS[idea.of]
    answer = idea.defined(task.name)
    for seed in range(1 if task.judge else DRAWS):
        if idea.right:
            verdict = verdict_on(task, answer, seed)
            assert verdict.points == task.points, (seed, verdict.evidence, verdict.messages)
        else:
            lost = lost_parts(task, answer, seed)
            assert lost == set(idea.deserves), (
                f"draw {seed}: this idea loses {', '.join(sorted(lost)) or 'nothing'}. Write that in its brackets, or let "
                f"every draw of {task.cases.__name__ if task.cases else task.id} have cases that it gets wrong there alone"
            )


@pytest.mark.slow
@pytest.mark.parametrize("idea", params(PRACTICE))
def test_an_idea_about_an_exercise_gets_its_verdict_and_leaves_torch_alone(idea: Idea):
    exercise = PRACTICE[idea.of]
    before = flags.read()
    verdict = judge(exercise, idea.defined(exercise.name))
    assert (verdict.state, verdict.reason) == (idea.deserves or ("correct", "")), verdict.messages
    assert flags.read() == before


@pytest.mark.slow
@pytest.mark.parametrize("idea", params(TASKS))
def test_the_visible_check_never_calls_an_answer_right(idea: Idea):
    """It sees the form or an example; a right variant passes it in a neutral state, whatever types it uses."""
    verdict = judge(all_exercises()[idea.of], idea.defined(TASKS[idea.of].name))
    allowed = ("not marked",) if idea.right else ("not marked", "incorrect")
    assert verdict.state in allowed, f"the form or example of {idea.of} says {verdict.state}: {verdict.messages}"


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("exercise", [one for one in PRACTICE.values() if one.id not in RACES], ids=lambda one: one.id)
def test_what_the_notebook_hands_out_is_no_answer_yet(exercise: Exercise):
    """Blanks are no attempt; a wrong answer to be repaired is wrong."""
    given = handed_out(exercise)
    verdict = judge(exercise, given[exercise.name])
    assert verdict.state in ("incorrect", "partly") if exercise.id in REPAIRS else verdict.state == "not attempted"


@pytest.mark.slow
@pytest.mark.parametrize("identity", [*TASKS, *(name for name, one in PRACTICE.items() if not one.cases)])
def test_every_task_and_check_states_right_variants_and_an_idea_that_loses_each_part(identity):
    """An exercise of cases has its slips instead (tests/course/exercises)."""
    wrong = {idea.deserves for idea in IDEAS if idea.of == identity and not idea.right}
    assert sum(idea.right for idea in IDEAS if idea.of == identity) >= 2
    if identity in PRACTICE:
        assert len(wrong) >= 2
    elif TASKS[identity].parts:
        assert set(TASKS[identity].parts) == {part for lost in wrong for part in lost}


# --- right answers of other draws, played from a tape ---------------------------------------------------------

DRAWN = {name: task for name, task in TASKS.items() if task.judge is None}
RECORDED, PLAYED = range(30), range(1000, 1030)
GUESS = 0.03  # share of the points that a lucky order of right answers may be worth


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_solution_in_the_checkpoint_earns_full_marks_and_leaves_torch_alone(task, monkeypatch):
    """What measures has longer than it asks for: beside other programs 2 s may hold too few rounds for an interval."""
    measure, before, space = course.timing.compare, flags.read(), {}
    monkeypatch.setattr(course.timing, "compare", lambda *given, **more: measure(*given, **{**more, "max_time": 30}))
    exec(task.solution, space)
    assert flags.read() == before
    verdict = verdict_on(task, space[task.name])
    assert verdict.points == task.points, verdict.messages


def answers(task: Task, seed: int) -> tuple[list, list[str]]:
    """The right answers of one draw in the order of the calls, and the part each belongs to."""
    drawn = task.draw(random.Random(seed))
    return [plain(task.reference(*plain(list(case.args)))) for case in drawn], [case.part for case in drawn]


def share(task: Task, tape: list, expected: list, parts: list[str]) -> float:
    """The share of the points that a tape earns; where it ends, it starts again."""
    wrong = {part for number, part in enumerate(parts) if not same(tape[number % len(tape)], expected[number])}
    return sum(part.points for name, part in task.parts.items() if name not in wrong) / task.points


@pytest.mark.slow
@pytest.mark.parametrize("task", DRAWN.values(), ids=DRAWN)
def test_the_answers_of_thirty_draws_are_worth_nothing_in_thirty_others(task):
    tapes = [answers(task, seed)[0] for seed in RECORDED]
    asked = [answers(task, seed) for seed in PLAYED]
    earned = [share(task, tape, *one) for tape in tapes for one in asked]
    shuffled = [
        share(task, random.Random(number).sample(tape, len(tape)), *one)
        for number, tape in enumerate(tapes)
        for one in asked
    ]
    assert fmean(earned) <= GUESS, (
        f"the right answers of other draws earn {fmean(earned):.1%} of the points here; let the cases of each part have more "
        "different answers"
    )
    assert fmean(earned) <= fmean(shuffled) + 0.02, (
        "they earn more in their order than shuffled: the order tells the part"
    )


@pytest.mark.parametrize("task", DRAWN.values(), ids=DRAWN)
def test_no_part_has_one_answer_throughout(task):
    for seed in RECORDED:
        expected, parts = answers(task, seed)
        for name in task.parts:
            heard = [answer for answer, part in zip(expected, parts, strict=True) if part == name]
            assert any(not same(answer, heard[0]) for answer in heard), (
                f"draw {seed}: every case of part {name!r} has the answer {heard[0]!r}, so a function that always gives it "
                "earns the part; add a case with another answer"
            )


@pytest.mark.parametrize("task", DRAWN.values(), ids=DRAWN)
def test_the_order_of_the_calls_says_nothing_about_their_parts(task):
    """Each part comes first, some time."""
    assert {answers(task, seed)[1][0] for seed in range(60)} == {*task.parts}
