"""The solution of a checkpoint's task earns all its points; a tape of the right answers of other draws is worth no more than a guess."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from course import flags
from course.exercises.slips import same
from grader.project import Project
from grader.project.task import Task, plain, tasks
from tests.lessons.losing import verdict_on

PROJECT = Project()
EVERY = [task for lesson in PROJECT.checkpoints() for task in tasks(PROJECT, lesson).values()]
TASKS = [task for task in EVERY if task.judge is None]
RECORDED, PLAYED = range(30), range(1000, 1030)
GUESS = 0.03  # share of the points that a lucky order of right answers may be worth


@pytest.mark.parametrize("task", EVERY, ids=lambda task: task.id)
def test_the_solution_in_the_checkpoint_earns_full_marks_and_leaves_torch_alone(task):
    before, space = flags.read(), {}
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
    wrong = {
        part
        for number, part in enumerate(parts)
        if not (task.close or same)(tape[number % len(tape)], expected[number])
    }
    return sum(part.points for name, part in task.parts.items() if name not in wrong) / task.points


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_answers_of_thirty_draws_are_worth_nothing_in_thirty_others(task):
    tapes = [answers(task, seed)[0] for seed in RECORDED]
    asked = [answers(task, seed) for seed in PLAYED]
    earned = [share(task, tape, *one) for tape in tapes for one in asked]
    shuffled = [
        share(task, random.Random(number).sample(tape, len(tape)), *one)
        for number, tape in enumerate(tapes)
        for one in asked
    ]
    assert fmean(earned) <= GUESS and fmean(earned) <= fmean(shuffled) + 0.02, (fmean(earned), fmean(shuffled))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_no_part_has_one_answer_throughout(task):
    for seed in RECORDED:
        expected, parts = answers(task, seed)
        for name in task.parts:
            heard = [answer for answer, part in zip(expected, parts, strict=True) if part == name]
            assert any(not same(answer, heard[0]) for answer in heard), (seed, name, heard[0])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_order_of_the_calls_says_nothing_about_their_parts(task):
    """Each part comes first, some time."""
    assert {answers(task, seed)[1][0] for seed in range(60)} == {*task.parts}
