"""A call that ends the kernel or never ends costs the part it belongs to, though the calls of all parts are mixed."""

from __future__ import annotations

import random

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.marking.running import Run
from grader.marking.tasks import judge_task
from grader.project import Project
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared
from grader.task import tasks

TASK = tasks(Project(), "08_mps")["08-t-step"]
OURS = (
    "\n_ours = step_ms\ndef step_ms(ops, fallback):\n    import os\n    if fallback == '1' and any(not op[0] for op in ops): {}\n"
    "    return _ours(ops, fallback)"
)


@pytest.mark.slow
@pytest.mark.parametrize(("does", "word"), [("os._exit(3)", "killed"), ("\n        while True: pass", "timeout")])
def test_a_part_that_ends_the_kernel_or_its_time_costs_itself_alone(does, word):
    notebook = new_notebook(cells=[new_code_cell(TASK.solution + OURS.format(does))])
    drawn = {TASK.id: TASK.draw(random.Random(3))}
    run = Run(notebook, {TASK.id: TASK}, drawn, "en", Limits(cell_s=1, total_s=60))
    run.go(shared(False), {})  # our own code: it needs no sandbox
    verdict = judge_task(TASK, *run.found()[TASK.id])
    assert (run.words, verdict.evidence["parts"]) == ({word}, {"native": 1, "fallback": 0, "error": 1, "edges": 1})
