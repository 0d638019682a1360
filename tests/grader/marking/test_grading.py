"""Marking: fair to what a student did, deaf to tricks, explained in words; a syntax error may be a newer Python's."""

from __future__ import annotations

import builtins
import contextlib
import json
import random
import re
import sys
from unittest.mock import Mock

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.core.i18n import both
from course.core.verdict import correct
from course.learning.marking import Response, mark
from grader.course import Course, init
from grader.handin.answers import keyed_items
from grader.handin.reading import Files, Submission
from grader.marking import mark_submission, pool, render
from grader.marking import probe as probes
from grader.marking.machine import Raised, lacking
from grader.marking.outputs import clean
from grader.marking.probe import content, draw
from grader.marking.tasks import judge_task
from grader.project import Infrastructure, Project, ProjectError
from grader.project.build import assignment_notebook, checkpoint_notebook
from grader.project.task import Case, Part, Task, tasks
from tests.lessons.ideas import probed_in
from tests.support.grading_fixtures import LESSON, make_project

PARTS = {
    "typical": Part(2, both("Wrong in between.", "中间不对。")),
    "edge": Part(1, both("Wrong at zero.", "零处不对。")),
}


def cases(rng):
    return [Case("typical", (rng.randint(100000, 999999),)), Case("edge", (0,))]


TASK = Task(id="t", name="double", cases=cases, reference=lambda x: 2 * x, parts=PARTS)


# --- tasks: what a hidden task is, and how results are compared ---


def test_a_task_adds_up_and_draws_the_same_inputs_for_the_same_seed():
    assert TASK.points == 3
    one, again = (TASK.draw(probes.seed(b"secret", "lesson", "student")) for _ in range(2))
    other = TASK.draw(probes.seed(b"secret", "lesson", "another"))
    assert one == again and one != other


# --- the probe: runs in the student's kernel, decides nothing ---


def judged(function, task=TASK):
    drawn = task.draw(random.Random(3))
    return judge_task(task, drawn, probed_in(task, {task.name: function}, drawn))


def test_a_right_function_gets_all_and_an_edge_case_costs_its_part():
    assert judged(lambda x: 2 * x).points == 3
    verdict = judged(lambda x: 2 * x or 1)
    assert (verdict.state, verdict.points) == ("partly", 2)
    assert "Wrong at zero. (1 of 1 calls: another result than expected; 1 points)" in verdict.messages[0]["en"]


def test_no_name_of_the_students_reaches_the_probe():
    """Any built-in may be a list of theirs, as after `list = [32, 64]`, `from x import *`, `%pylab`."""
    shadowed = dict.fromkeys([name for name in dir(builtins) if name != "__builtins__"], [32, 64])
    drawn = TASK.draw(random.Random(3))
    assert judge_task(TASK, drawn, probed_in(TASK, {**shadowed, "double": lambda x: 2 * x}, drawn)).points == 3
    task = Task(id="t", name="report", judge=lambda value: correct(both("ok", "好"), points=2), points=4)
    found = probed_in(task, {**shadowed, "report": {"n": [1, 2.5, "x", True, None]}})
    assert found[0]["value"] == {"n": [1, 2.5, "x", True, None]}


@pytest.mark.parametrize("guess", [0, None])
def test_one_and_the_same_value_for_every_input_earns_nothing(guess):
    verdict = judged(lambda x: guess)  # 0 is right at zero
    assert (verdict.state, verdict.points, verdict.evidence["parts"]) == ("incorrect", 0, {"typical": 0, "edge": 0})
    assert "every input" in verdict.messages[0]["en"]
    constant = Task(id="t", name="double", cases=cases, reference=lambda x: 0, parts=PARTS)
    assert judged(lambda x: 0, constant).points == 3


def test_inputs_change_with_anything_that_was_handed_in_and_stay_for_the_same():
    def drawn(source="x = 1", when="noon", **files):
        handed_in = content(
            new_notebook(cells=[new_code_cell(source)]), {name: data.encode() for name, data in files.items()}, "05"
        )
        return draw({"t": TASK}, b"secret", "05", "ann", when, handed_in)["t"]

    assert drawn() == drawn() == drawn(**{"05.ipynb": "x", "timestamp.txt": "y"})
    assert (
        len(
            {
                str(one)
                for one in (drawn(), drawn("x = 2"), drawn(when="night"), drawn(a="1"), drawn(a="2"), drawn(b="1"))
            }
        )
        == 6
    )


def stub(x):
    raise NotImplementedError


def crash(x):
    raise KeyError(f"secret {x}")


class Sneaky(Exception):
    pass


@pytest.mark.parametrize(
    ("function", "state", "words"),
    [
        (stub, "not attempted", "NotImplementedError"),
        (crash, "incorrect", "`KeyError`"),
        (lambda x: (_ for _ in ()).throw(Sneaky(x)), "incorrect", "exception"),
        (lambda x: object(), "incorrect", "plain"),
        (lambda x: "x" * 10**6, "incorrect", "large"),
        (7, "not attempted", "is not a function"),
    ],
)
def test_every_kind_of_failure_is_named_and_no_input_gets_out(function, state, words):
    verdict = judged(function)
    assert (verdict.state, verdict.points) == (state, 0)
    said = json.dumps(verdict.messages, ensure_ascii=False)
    assert words in said
    assert not re.search(r"\d{6}", said)


def test_tuples_arrays_and_dataclasses_come_back_as_plain_data():
    import numpy as np

    task = Task(
        id="t",
        name="f",
        cases=lambda rng: [Case("p", (2,))],
        reference=lambda x: {"a": [x, 1.5]},
        parts={"p": Part(1, "r")},
    )
    assert judged(lambda x: {"a": (np.int64(x), np.float32(1.5))}, task).points == 1


def test_results_of_another_kind_are_ignored_and_the_first_answer_to_a_call_counts():
    good = {"data": {probes.MIME: '{"call": 0, "state": "value", "value": 1}'}, "output_type": "display_data"}
    forged = [
        {"output_type": "stream", "text": "x"},
        {"output_type": "display_data", "data": {probes.MIME: "{"}},
        {"output_type": "display_data", "data": {probes.MIME: {"call": 0}}},
        {"output_type": "display_data", "data": {probes.MIME: '{"call": "0", "state": []}'}},
    ]
    late = {"data": {probes.MIME: '{"call": 0, "state": "value", "value": 2}'}, "output_type": "display_data"}
    assert probes.results([*forged, good, late]) == {0: {"call": 0, "state": "value", "value": 1}}


def test_a_missing_function_and_a_dead_kernel_are_told_apart():
    drawn = TASK.draw(random.Random(3))
    assert judge_task(TASK, drawn, probed_in(TASK, {}, drawn)).state == "not attempted"
    assert "ended" in judge_task(TASK, drawn, {}).messages[0]["en"]
    number = next(n for n, case in enumerate(drawn) if case.part == "typical")
    partial = {number: {"state": "value", "value": 2 * drawn[number].args[0]}}
    assert judge_task(TASK, drawn, partial).points == 2


def test_a_judged_value_is_scaled_and_a_judge_that_stops_asks_for_a_look_by_hand():
    task = Task(id="t", name="report", judge=lambda value: correct(points=value["n"]), points=4)
    found = probed_in(task, {"report": {"n": 2}})
    assert judge_task(task, None, found).points == 4
    verdict = judge_task(task, None, probed_in(task, {"report": {"m": 2}}))
    assert verdict.points == 0 and "KeyError" in verdict.evidence["by_hand"]
    assert judge_task(task, None, probed_in(task, {"report": None})).state == "not attempted"
    assert judge_task(task, None, {0: {"call": 0, "state": "value"}}).points == 0  # forged
    assert judge_task(task, None, probed_in(task, {"report": abs})).state == "incorrect"


def test_a_reference_that_fails_is_our_fault_and_never_scored():
    broken = Task(id="t", name="f", cases=cases, reference=lambda x: 1 / 0, parts=PARTS)
    with pytest.raises(Infrastructure, match="task t failed: ZeroDivisionError"):
        judged(abs, broken)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", Project().checkpoints())
def test_the_solutions_of_the_course_get_all_points_for_any_inputs_and_the_stubs_none(lesson):
    """Runs the solutions here, without nbgrader: what the demonstration does once, for many draws."""
    project = Project()
    solved, stubbed = {}, {}
    for notebook, scope in (
        (assignment_notebook(project, lesson, "en"), solved),
        (checkpoint_notebook(project, lesson, "en"), stubbed),
    ):
        for cell in notebook.cells:
            graded = cell.metadata.get("nbgrader", {}).get("grade")
            if cell.cell_type == "code" and cell.id not in ("bootstrap", "check-file") and not graded:
                with contextlib.suppress(NotImplementedError):
                    exec(cell.source, scope)
    for task in tasks(project, lesson).values():
        for number in range(20):
            drawn = None if task.judge else task.draw(random.Random(number))
            verdict = judge_task(task, drawn, probed_in(task, solved, drawn))
            assert verdict.points == task.points, (task.id, verdict.messages)
        assert judge_task(task, drawn, probed_in(task, stubbed, drawn)).points == 0


# --- what the student reads ---


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize(
    ("item", "response", "words"),
    [
        ("90-c-single", Response(("a",)), ["the second", "The secret reason for option c stands here."]),
        ("90-c-multiple", Response(("a", "z")), ["letter z", "The secret reason for option z"]),
        ("90-c-number", Response(number=4.0), ["Your answer:</strong> 4", "3 sides", "secret definition"]),
        ("90-c-number", Response(), ["Not answered yet.", "3 sides"]),
        ("90-c-order", Response(("a", "c")), ["Your answer:</strong> a, c", "<b>1)</b> b", "a, used"]),
    ],
)
def test_a_question_explains_every_option(project, item, response, words):
    keyed = keyed_items(project, LESSON)[item]
    reasons = render.question_html(keyed, response, mark(keyed, response), "en")
    output = render.result(1, 2, "partly", reasons, "en")
    assert output.data["text/plain"] == "1.0"
    for word in ("1 of 2 points", *words):
        assert word in clean(output.data["text/html"])


def test_the_number_nbgrader_reads_is_always_within_range_and_html_is_escaped():
    said = correct("a <script> & `x < y` **b**", points=3)
    output = render.result(3.0000001, 3, "correct", render.task_html(said, "zh"), "zh")
    assert float(output.data["text/plain"]) == 3.0
    assert (
        "<script>" not in output.data["text/html"]
        and "<code>x &lt; y</code> <strong>b</strong>" in output.data["text/html"]
    )
    assert "3 / 3 分" in output.data["text/html"]
    assert render.result(-1, 3, "incorrect", "", "en").data["text/plain"] == "0.0"


def test_what_a_busy_machine_kept_from_running_is_tried_twice_and_costs_no_point(monkeypatch):
    handed_in, exam = Submission("ada", Files(), ""), mark_submission.Exam(LESSON, "en", "", "", b"")
    done, busy = mark_submission.Marked("ada", "", {}, {}, ""), Infrastructure("too busy")
    for answers, came in (([busy, done], done), ([busy, busy], "too busy")):
        monkeypatch.setattr(mark_submission, "mark", Mock(side_effect=answers))
        assert pool.attempt(handed_in, exam) == came and mark_submission.mark.call_count == 2


# --- a course directory ---


def test_a_course_directory_is_made_once_and_its_secret_kept(tmp_path):
    init(tmp_path / "course")
    secret = (tmp_path / "course" / "marking_secret").read_bytes()
    assert len(secret) == 32 and (tmp_path / "course" / "marking_secret").stat().st_mode & 0o077 == 0
    for name in ("source", "submitted", "autograded", "feedback", "release", "gradebook.db"):
        assert (tmp_path / "course" / name).stat().st_mode & 0o077 == 0  # students may have accounts on the machine
    assert "kept" in " ".join(init(tmp_path / "course"))
    assert (tmp_path / "course" / "marking_secret").read_bytes() == secret
    with pytest.raises(ProjectError, match="no course directory"):
        Course(tmp_path)


def test_as_many_are_marked_at_once_as_memory_holds(tmp_path, monkeypatch):
    """A container with 64 processors and 8 GB: each process loads torch."""
    (tmp_path / "memory.max").write_text("8589934592\n")
    monkeypatch.setattr(pool, "CONTAINER", (str(tmp_path / "memory.max"), str(tmp_path / "none")))
    monkeypatch.setattr(pool.os, "sched_getaffinity", lambda _: range(64), raising=False)
    monkeypatch.setattr(pool.os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 26}[name])
    assert pool.at_once() == 16
    (tmp_path / "memory.max").write_text("max\n")
    assert pool.at_once() == 64


# --- no task falls to a table: what somebody recorded of 20 drawings answers less than half of a new one ---

TASKS = [task for lesson in Project().checkpoints() for task in tasks(Project(), lesson).values() if task.cases]
RECORDED, FRESH = 20, 40


def told_by(table: dict[str, object], most: object, task, drawn) -> float:
    """The points of a submission that looks every input up in ``table`` and answers ``most`` where it is not there."""
    wrong = {
        case.part
        for case in drawn
        if table.get(json.dumps(case.args), most) != task.reference(*json.loads(json.dumps(case.args)))
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


NEWER = (
    "from itertools import batched",
    "x = {'a': 1}\nprint(f'{x['a']}')",
    "print(f'{'; '.join(['a'])}')",
    "f'''{\n x # the field's comment\n}'''",
    "print(f'{\n    x\n}')",
    "type Point = tuple[int, int]",
    "def first[T](x: list[T]) -> T:\n    return x[0]",
    "try:\n    pass\nexcept ValueError, TypeError:\n    pass",
    "print(t'hello {name!r:>{10}}')",
)
WRONG = (
    "if epochs = 0:\n    pass",
    "print(f'{x +}')",
    "print('a",
    "for i in range(3)\n    print(i)",
    "type = = 1",
    "except:\n    pass",
)


def held(source: str, python: str) -> bool:
    """Whether a submission with this cell, saved by that Python, is held back."""
    raised = {}
    try:
        compile(source, "cell", "exec")
    except SyntaxError as stopped:
        raised = {0: Raised("SyntaxError", f"{stopped.msg} (cell, line 1)")}
    nb = new_notebook(cells=[new_code_cell(source)], metadata={"language_info": {"name": "python", "version": python}})
    return lacking(nb, raised, Files()) is not None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads most of these itself")
@pytest.mark.parametrize("source", NEWER)
def test_what_a_newer_python_may_read_is_held_where_one_wrote_it(source):
    assert held(source, "3.14.0") and held(source, "") and not held(source, "3.10.2")
    assert held(source, "3.13.1") is (source not in NEWER[-2:]), "of 3.14"


@pytest.mark.parametrize("source", WRONG)
def test_what_no_python_reads_is_an_error_of_the_code(source):
    assert not held(source, "3.14.0")
