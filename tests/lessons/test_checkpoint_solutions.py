"""The solution that stands in a checkpoint's source earns all the points of its task, and leaves torch as it was."""

from __future__ import annotations

import pytest

from course import flags
from course.lessons import LESSONS
from grader.authoring.source import read
from grader.project import Project, tasks
from grader.task import plain
from tests.lessons.losing import lost_parts

PROJECT = Project()
CELLS = [pytest.param(task, cell, id=cell.id)
         for lesson in (one.id for one in LESSONS if one.checkpoint)
         for cell in read(PROJECT.checkpoint_source(lesson)) if cell.kind == "task"
         for task in [tasks(PROJECT, lesson)[cell.id]]]


@pytest.mark.parametrize(("task", "cell"), CELLS)
def test_the_solution_in_the_checkpoint_earns_full_marks(task, cell):
    before, space = flags.read(), {}
    exec(cell.code("en"), space)
    assert flags.read() == before
    if task.judge is None:
        assert lost_parts(task, space[task.name]) == set()
    else:
        assert task.judge(plain(space[task.name])).points == task.points
