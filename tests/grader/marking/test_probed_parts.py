"""A call that ends the kernel or never ends costs the part it belongs to, though the calls of all parts are mixed."""

from __future__ import annotations

import random
import re

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.marking.probe import MIME, results
from grader.marking.running import Run
from grader.marking.tasks import judge_task
from grader.project import Project
from grader.project.task import tasks
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared

REPORTS = [task for lesson in Project().checkpoints() for task in tasks(Project(), lesson).values() if task.judge]
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


@pytest.mark.parametrize("task", REPORTS, ids=lambda task: task.id)
@pytest.mark.parametrize("zeros", [308, 400, 5000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_all_floats_stops_no_judge(task, zeros, sign):
    """In every field of a report, alone and in lists: it is judged, not left for a look by hand."""
    fields = set(re.findall(r"`(\w+)`", str(task.judge({"x": 1})))) | {
        "low",
        "high",
        "ratios",
        "gate",
        "claim",
        "device",
    }
    digits = f"{sign}1{'0' * zeros}"
    for inner in (digits, f"[{digits}, {digits}, 1, 2, 3, 4, 5]"):
        report = ", ".join(f'"{name}": {inner}' for name in sorted(fields))
        sent = f'{{"call": 0, "state": "value", "value": {{{report}}}}}'
        found = results([{"output_type": "display_data", "data": {MIME: sent}}])
        verdict = judge_task(task, None, found)
        assert "by_hand" not in verdict.evidence, verdict.evidence


def test_a_function_that_returns_such_a_number_is_wrong_and_nothing_more():
    task = tasks(Project(), "08_mps")["08-t-step"]
    cases = task.draw(random.Random(1))
    sent = [f'{{"call": {n}, "state": "value", "value": {"9" * (400 + n)}}}' for n in range(len(cases))]
    found = results([{"output_type": "display_data", "data": {MIME: one}} for one in sent])
    assert judge_task(task, cases, found).points == 0
