"""What a graded function loses, without a kernel: for the tables of typical answers in the tests of the lessons."""

from __future__ import annotations

import random
from collections.abc import Callable

from grader.task import Task, plain, same


def lost_parts(task: Task, function: Callable) -> set[str]:
    """The parts in which ``function`` differs from the reference, or raises."""
    lost = set()
    for seed in range(5):
        for case in task.draw(random.Random(seed)):
            try:
                right = same(plain(function(*case.args)), plain(task.reference(*case.args)))
            except Exception:
                right = False
            if not right:
                lost.add(case.part)
    return lost
