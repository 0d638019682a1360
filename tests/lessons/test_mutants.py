"""No small change of a solution keeps full marks, except those in EQUIVALENT, each with its reason."""

from __future__ import annotations

import contextlib
import signal

import pytest

from course import flags
from course.core.catalog import LESSONS
from course.exercises.exercise import all_exercises, judge
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.equivalent_mutants import EQUIVALENT
from tests.lessons.ideas import IMPORTS
from tests.lessons.losing import verdict_on
from tests.lessons.mutants import mutants

PROJECT = Project()
DRAWS, SECONDS = 4, 20
TASKS = [
    task for lesson in LESSONS if lesson.checkpoint for task in tasks(PROJECT, lesson.id).values() if task.judge is None
]
FUNCTIONS = [
    one
    for one in all_exercises().values()
    if one.solution
    and any(line.startswith(("def ", "class ")) and one.name in line for line in one.solution.split("\n"))
]


class TooLong(BaseException):
    """A change that made a loop without end."""


@contextlib.contextmanager
def limited():
    """End what runs on; put switches and threads back, whatever a change did to them."""
    import torch

    def stop(*_):
        raise TooLong

    before, threads, mode = (
        signal.signal(signal.SIGALRM, stop),
        torch.get_num_threads(),
        torch.get_deterministic_debug_mode(),
    )
    signal.alarm(SECONDS)
    try:
        with flags.preserved():
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)


def survives(code: str, name: str, right) -> bool:
    """Whether a changed solution is still called right; one that cannot even be defined is not."""
    space: dict = {}
    try:
        with limited():
            exec(IMPORTS + code, space)
            return right(space[name])
    except (Exception, TooLong):
        return False


def check(identity: str, code: str, name: str, right) -> None:
    """The survivors are those that are known, no more and no fewer."""
    assert survives(code, name, right), "the solution itself"
    alive = [what for what, changed in mutants(code) if survives(changed, name, right)]
    assert sorted(set(alive)) == sorted(EQUIVALENT.get(identity, {}))


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_no_change_of_a_checkpoints_solution_keeps_full_marks(task):
    check(
        task.id,
        task.solution,
        task.name,
        lambda answer: all(verdict_on(task, answer, seed).points == task.points for seed in range(DRAWS)),
    )


@pytest.mark.long
@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
def test_no_change_of_an_exercises_solution_is_called_right(exercise):
    check(exercise.id, exercise.solution, exercise.name, lambda answer: judge(exercise, answer).state == "correct")


def test_every_known_survivor_has_a_reason_and_a_solution():
    assert set(EQUIVALENT) <= {task.id for task in TASKS} | {exercise.id for exercise in FUNCTIONS}
    assert all(reason for known in EQUIVALENT.values() for reason in known.values())
