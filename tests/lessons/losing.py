"""What an answer to a graded task gets, as marking decides it: the real probe and the real judge, without a kernel."""

from __future__ import annotations

import random
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

from nbformat.v4 import new_output

import grader.sandbox.inside.probe
from course.core.verdict import Verdict
from grader.marking.probe import probe, results
from grader.marking.tasks import judge_task
from grader.project.task import Case, Task


def verdict_on(task: Task, answer: Any, seed: int = 0) -> Verdict:
    """The verdict on a function or a value, for one draw of the hidden cases."""
    drawn = None if task.judge else task.draw(random.Random(seed))
    return judge_task(task, drawn, probed(task, answer, drawn))


def probed(task: Task, answer: Any, drawn: list[Case] | None) -> dict[int, dict[str, Any]]:
    """What the probe sends out of a kernel in which ``answer`` has the task's name."""
    return probed_in(task, {task.name: answer}, drawn)


def probed_in(task: Task, scope: dict[str, Any], drawn: list[Case] | None = None) -> dict[int, dict[str, Any]]:
    """What the probe sends out of a kernel that holds these names."""
    outputs: list = []
    stands_in = {
        "get_ipython": lambda: SimpleNamespace(user_ns=scope),
        "display": lambda data, raw: outputs.append(new_output("display_data", data=data)),
    }
    inside = {"inside": grader.sandbox.inside, "inside.probe": grader.sandbox.inside.probe}
    with mock.patch.dict(sys.modules, inside), mock.patch.multiple("grader.sandbox.inside.probe", **stands_in):
        exec(probe(task, drawn), scope)
    return results(outputs)


def lost_parts(task: Task, answer: Any, seed: int = 0) -> set[str]:
    """The parts in which ``answer`` does not get all."""
    verdict = verdict_on(task, answer, seed)
    full = {name: float(part.points) for name, part in task.parts.items()}
    return {name for name, points in verdict.evidence["parts"].items() if points < full.get(name, 1.0)}
