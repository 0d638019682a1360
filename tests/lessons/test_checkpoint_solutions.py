"""The solution that stands in a checkpoint's source earns all the points of its task, and leaves torch as it was."""

from __future__ import annotations

import pytest

from course import flags
from grader.project import Project
from grader.project.task import tasks
from tests.lessons.losing import verdict_on

PROJECT = Project()
TASKS = [task for lesson in PROJECT.checkpoints() for task in tasks(PROJECT, lesson).values()]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_solution_in_the_checkpoint_earns_full_marks(task):
    before, space = flags.read(), {}
    exec(task.solution, space)
    assert flags.read() == before
    verdict = verdict_on(task, space[task.name])
    assert verdict.points == task.points, verdict.messages
