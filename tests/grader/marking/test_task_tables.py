"""No task falls to a table: what somebody recorded of 20 drawings answers less than half of a new one."""

from __future__ import annotations

import json
import random

import pytest

from grader.project import Project
from grader.project.task import tasks

PROJECT = Project()
TASKS = [task for lesson in PROJECT.checkpoints() for task in tasks(PROJECT, lesson).values() if task.cases]
RECORDED, FRESH = 20, 40


def told_by(table: dict[str, object], most: object, task, drawn) -> float:
    """The points of a submission that looks every input up in ``table`` and answers ``most`` where it is not there."""
    close = task.close or (lambda a, b: a == b)
    wrong = {
        case.part
        for case in drawn
        if not close(table.get(json.dumps(case.args), most), task.reference(*json.loads(json.dumps(case.args))))
    }
    return sum(part.points for name, part in task.parts.items() if name not in wrong)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_table_of_recorded_inputs_earns_less_than_half(task):
    table, answers = {}, {}
    for seed in range(RECORDED):
        for case in task.draw(random.Random(f"recorded {seed}")):
            answer = task.reference(*json.loads(json.dumps(case.args)))
            table[json.dumps(case.args)] = answer
            answers.setdefault(json.dumps(answer, default=str), []).append(answer)
    commonest = max(answers.values(), key=len)[0]
    earned = [
        told_by(table, commonest, task, task.draw(random.Random(f"fresh {seed}"))) / task.points
        for seed in range(FRESH)
    ]
    assert sum(earned) / FRESH < 0.5
