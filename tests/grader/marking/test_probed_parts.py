"""A call that ends the kernel or never ends costs the part it belongs to, though the calls of all parts are mixed."""

from __future__ import annotations

import random
import re

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.core.verdict import correct
from grader.marking.probe import MIME, results
from grader.marking.running import Run
from grader.marking.tasks import judge_task, settled
from grader.project import Project
from grader.project.task import Case, Part, Task, tasks
from grader.sandbox.limits import Limits
from grader.sandbox.warm import shared

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
    run.go(shared(), {})
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


# --- a name that a cell below takes ---

GIVEN = "def mean_of(xs):\n    return sum(xs) / len(xs)"
MEAN = Task(
    id="t",
    name="mean_of",
    cases=lambda rng: [
        *(Case("typical", ([rng.randint(1, 9) for _ in range(4)],)) for _ in range(4)),
        *(Case("edge", ([rng.randint(20, 90)],)) for _ in range(2)),
    ],
    reference=lambda xs: sum(xs) / len(xs),
    parts={"typical": Part(2, "typical"), "edge": Part(1, "edge")},
)


def marked(*cells: str, task: Task = MEAN):
    """The verdict on a task whose check stands below the first of the cells."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    check = new_code_cell("check('t')", metadata={"nbgrader": {"grade": True, "grade_id": "t"}})
    notebook.cells.insert(1, check)
    drawn = {"t": task.draw(random.Random(3)) if task.cases else None}
    run = Run(notebook, {"t": task}, drawn, "en", Limits(cell_s=2, total_s=60))
    run.go(shared(), {})
    assert MIME not in str(notebook) and not check.outputs
    return judge_task(task, *run.found()["t"]), run


@pytest.mark.slow
@pytest.mark.parametrize(
    "below",
    [
        "sum = 0",
        "for sum in range(3): pass",
        "import builtins\nbuiltins.sum = 7",
        "from torch import *\nlen = 3",
        "def sum(a, b): return a + b",
        "mean_of = mean_of([1, 2, 3])",
        "globals()['sum'] = None",
    ],
)
def test_a_name_that_a_cell_below_the_check_takes_costs_nothing(below):
    verdict, run = marked(GIVEN, below)
    assert (verdict.state, verdict.points) == ("correct", 3) and run.words == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "below", "parts"),
    [
        (GIVEN, "sum = lambda xs: 7", {"typical": 0, "edge": 0}),  # a value is an answer, and there is one
        (GIVEN.replace("sum(xs)", "sum(xs) + (len(xs) > 1)"), "len = 0", {"typical": 0, "edge": 1}),
        ("sum = 0\n" + GIVEN, "x = 1", {"typical": 0, "edge": 0}),  # so it was at its check, too
        ("def mean_of(xs):\n    raise ValueError", GIVEN, {"typical": 2, "edge": 1}),  # mended below: the end counts
        (GIVEN, "x = 1\nimport os\nos._exit(1)", {"typical": 2, "edge": 1}),
        (GIVEN + "\nimport time", "import time\nsum = 0\ntime.sleep(9)", {"typical": 2, "edge": 1}),
    ],
)
def test_only_what_raised_is_tried_again_and_only_as_it_was_at_the_check(given, below, parts):
    assert marked(given, below)[0].evidence["parts"] == parts


def test_one_value_for_every_call_earns_nothing_at_the_check_either():
    cases = [Case("typical", ([1, 2],)), Case("edge", ([7],))]
    raised = {n: {"state": "raised", "type": "TypeError"} for n in range(2)}
    guess = {n: {"state": "value", "value": 7} for n in range(2)}
    assert settled(MEAN, cases, raised, guess) == raised
    work = {**guess, 0: {"state": "value", "value": 1.5}}
    assert settled(MEAN, cases, raised, work) == work and settled(MEAN, cases, guess, work) == guess


@pytest.mark.slow
def test_a_guess_has_one_value_for_each_call():
    """A function that answers at the end is not asked again, whatever it would say at its check."""
    tells = (
        "def mean_of(xs):\n    if 'late' in globals() and len(xs) == 1: raise ValueError\n"
        "    return 1.0 if 'late' in globals() else sum(xs) / len(xs)"
    )
    assert marked(tells, "late = True")[0].evidence["parts"] == {"typical": 0, "edge": 1}


@pytest.mark.slow
def test_a_report_that_a_cell_below_spoils_counts_as_it_was_at_its_check():
    task = Task(id="t", name="report", judge=lambda value: correct(points=value["n"]), points=4)
    assert marked("report = {'n': 3}", "report['model'] = object()", task=task)[0].points == 4
    assert marked("report = {'n': 3}", "del report", task=task)[0].state == "not attempted"
