"""Marking: fair to what a student did, deaf to tricks, calm about damage; and once really through nbgrader.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from course.language import both
from course.quiz.marking import Response
from course.verdict import correct
from grader.authoring.build import assignment_notebook, checkpoint_notebook
from grader.authoring.publish import text_of
from grader.course import Course, init
from grader.demo.students import CLASS
from grader.intake import before_autograde, examine, reason_of, take_in
from grader.isolated import isolated
from grader.marking import probe as probes
from grader.marking import render
from grader.marking.answers import keyed_items
from grader.marking.repair import repair
from grader.marking.step import STATE, grade_id, notes
from grader.marking.tasks import judge_task
from grader.project import Infrastructure, Project, ProjectError, tasks
from grader.tasks.base import Case, Part, Task, same
from tests.grading_fixtures import LESSON, make_project

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


@pytest.mark.parametrize(
    "fields",
    [
        {"cases": cases, "reference": abs},
        {"judge": abs},
        {"judge": abs, "points": 1, "parts": PARTS},
        {"cases": cases, "reference": abs, "parts": PARTS, "points": 99},
    ],
)
def test_a_task_whose_fields_do_not_fit_is_refused(fields):
    with pytest.raises(ValueError, match="task t"):
        Task(id="t", name="f", **fields)


def test_a_part_without_cases_is_refused():
    lonely = Task(id="t", name="f", cases=lambda rng: [Case("typical", ())], reference=abs, parts=PARTS)
    with pytest.raises(ValueError, match="edge"):
        lonely.draw(random.Random(1))


@pytest.mark.parametrize(
    ("actual", "expected", "equal"),
    [
        (1, 1, True),
        (1.0, 1, True),
        (True, 1, False),
        (1, True, False),
        (0.1 + 0.2, 0.3, True),
        (1.00001, 1.0, False),
        ("a", "a", True),
        ("1", 1, False),
        ([1, 2.0], [1, 2.0000000001], True),
        ([1], [1, 2], False),
        (None, 0, False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        (float("nan"), float("nan"), True),
        ("nan", 1.0, False),
    ],
)
def test_results_are_equal_as_plain_data(actual, expected, equal):
    assert same(actual, expected) is equal


# --- the probe: runs in the student's kernel, decides nothing ---


def run_probe(monkeypatch, task, scope, drawn=None):
    outputs = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw: outputs.append(new_output("display_data", data=data))
    )
    exec(probes.probe(task, drawn), {"get_ipython": lambda: SimpleNamespace(user_ns=scope)})
    return probes.results(outputs)


def judged(monkeypatch, function, task=TASK):
    drawn = task.draw(random.Random(3))
    return judge_task(task, drawn, run_probe(monkeypatch, task, {task.name: function}, drawn))


def test_a_right_function_gets_all_and_an_edge_case_costs_its_part(monkeypatch):
    assert judged(monkeypatch, lambda x: 2 * x).points == 3
    verdict = judged(monkeypatch, lambda x: 2 * x or 1)
    assert (verdict.state, verdict.points) == ("partly", 2)
    assert (
        "Wrong at zero. (1 of 1 calls: another result than expected; 1 points)" in verdict.messages[0]["en"]
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
        (lambda x: (_ for _ in ()).throw(Sneaky(x)), "incorrect", "an exception of its own"),
        (lambda x: object(), "incorrect", "not plain data"),
        (lambda x: "x" * 10**6, "incorrect", "far too large"),
        (7, "not attempted", "is not a function"),
    ],
)
def test_every_kind_of_failure_is_named_and_no_input_gets_out(monkeypatch, function, state, words):
    verdict = judged(monkeypatch, function)
    assert (verdict.state, verdict.points) == (state, 0)
    said = json.dumps(verdict.messages, ensure_ascii=False)
    assert words in said
    assert not re.search(r"\d{6}", said)


def test_tuples_arrays_and_dataclasses_come_back_as_plain_data(monkeypatch):
    import numpy as np

    task = Task(
        id="t",
        name="f",
        cases=lambda rng: [Case("p", (2,))],
        reference=lambda x: {"a": [x, 1.5]},
        parts={"p": Part(1, "r")},
    )
    assert judged(monkeypatch, lambda x: {"a": (np.int64(x), np.float32(1.5))}, task).points == 1


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


def test_an_equality_that_always_says_yes_never_leaves_the_kernel(monkeypatch):
    class Yes(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    assert judged(monkeypatch, lambda x: Yes(1)).points == 0


def test_a_missing_function_and_a_dead_kernel_are_told_apart(monkeypatch):
    drawn = TASK.draw(random.Random(3))
    assert judge_task(TASK, drawn, run_probe(monkeypatch, TASK, {}, drawn)).state == "not attempted"
    assert "kernel ended" in judge_task(TASK, drawn, {}).messages[0]["en"]
    partial = {0: {"state": "value", "value": 2 * drawn[0].args[0]}}
    assert judge_task(TASK, drawn, partial).points == 2


def test_a_judged_value_is_scaled_and_a_judge_that_stops_asks_for_a_look_by_hand(monkeypatch):
    task = Task(id="t", name="report", judge=lambda value: correct(points=value["n"]), points=4)
    found = run_probe(monkeypatch, task, {"report": {"n": 2}})
    assert judge_task(task, None, found).points == 4
    verdict = judge_task(task, None, run_probe(monkeypatch, task, {"report": {"m": 2}}))
    assert verdict.points == 0 and "KeyError" in verdict.evidence["by_hand"]
    assert judge_task(task, None, run_probe(monkeypatch, task, {"report": None})).state == "not attempted"
    assert judge_task(task, None, run_probe(monkeypatch, task, {"report": abs})).state == "incorrect"


def test_a_reference_that_fails_is_our_fault_and_never_scored(monkeypatch):
    broken = Task(id="t", name="f", cases=cases, reference=lambda x: 1 / 0, parts=PARTS)
    with pytest.raises(Infrastructure, match="reference of task t failed: ZeroDivisionError"):
        judged(monkeypatch, abs, broken)


@pytest.mark.parametrize("lesson", Project().checkpoints())
def test_the_solutions_of_the_course_get_all_points_for_any_inputs_and_the_stubs_none(monkeypatch, lesson):
    """Runs the solutions here, without nbgrader: what the demonstration does once, for many draws."""
    project = Project()
    solved, stubbed = {}, {}
    for notebook, scope in (
        (assignment_notebook(project, lesson, "en"), solved),
        (checkpoint_notebook(project, lesson, "en"), stubbed),
    ):
        for cell in notebook.cells:
            graded = cell.metadata.get("nbgrader", {}).get("grade")
            if cell.cell_type == "code" and cell.id != "bootstrap" and not graded:
                with contextlib.suppress(NotImplementedError):
                    exec(cell.source, scope)
    for task in tasks(project, lesson).values():
        for number in range(20):
            drawn = None if task.judge else task.draw(random.Random(number))
            verdict = judge_task(task, drawn, run_probe(monkeypatch, task, solved, drawn))
            assert verdict.points == task.points, (task.id, verdict.messages)
        assert judge_task(task, drawn, run_probe(monkeypatch, task, stubbed, drawn)).points == 0


# --- what the student reads ---


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize(
    ("item", "response", "words"),
    [
        ("90-c-single", Response(("a",)), ["the second", "The secret reason for option c stands here."]),
        ("90-c-multiple", Response(("a", "z")), ["letter z", "The secret reason for option z"]),
        (
            "90-c-number",
            Response(number=4.0),
            ["Your answer: 4 sides", "The right answer: 3 sides", "secret definition"],
        ),
        ("90-c-number", Response(), ["Your answer: none", "The right answer: 3 sides"]),
        ("90-c-order", Response(("a", "c")), ["Your answer: (x) → (b)", "The right answer: (b) → (m) → (x)"]),
    ],
)
def test_a_question_explains_every_option(project, item, response, words):
    keyed = keyed_items(project, LESSON)[item]
    block = {"number": render.number_blocks, "order": render.order_blocks}.get(
        keyed.kind, render.option_table
    )
    output = render.result(1, 2, "partly", block(keyed, response, "en"), "en")
    assert output.data["text/plain"] == "1.0"
    for word in ("1 of 2 points", *words):
        assert word in output.data["text/markdown"] and word in output.data["text/html"]


def test_the_number_nbgrader_reads_is_always_within_range_and_html_is_escaped():
    output = render.result(3.0000001, 3, "correct", ["a <script> & `x < y` **b**", "| a | b\\|c |"], "zh")
    assert float(output.data["text/plain"]) == 3.0
    assert (
        "<script>" not in output.data["text/html"]
        and "<code>x &lt; y</code> <b>b</b>" in output.data["text/html"]
    )
    assert "<th>b|c</th>" in output.data["text/html"] and "3 / 3 分" in output.data["text/markdown"]
    assert render.result(-1, 3, "incorrect", [], "en").data["text/plain"] == "0.0"


# --- repairs ---


@pytest.fixture
def released(project):
    return checkpoint_notebook(project, LESSON, "en")


def repaired(released, change):
    notebook = copy.deepcopy(released)
    change(notebook)
    repair(notebook, released, "en")
    graded = [grade_id(cell) for cell in notebook.cells if cell.metadata.get("nbgrader")]
    assert sorted(graded) == sorted(grade_id(cell) for cell in released.cells if grade_id(cell))
    for cell in notebook.cells:
        if grade_id(cell):
            twin = next(other for other in released.cells if grade_id(other) == grade_id(cell))
            assert cell.metadata.nbgrader == twin.metadata.nbgrader and cell.cell_type == twin.cell_type
            assert twin.metadata.nbgrader.solution or cell.source == twin.source
    return notebook, " ".join(notes(notebook, "en"))


def cell_of(notebook, identity):
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


def test_an_untouched_notebook_needs_no_repair(released):
    notebook, said = repaired(released, lambda notebook: None)
    assert said == "" and notebook.cells == released.cells


def test_deleted_cells_come_back_in_their_place_and_an_answer_cell_inert(released):
    def delete(notebook):
        notebook.cells = [
            cell
            for cell in notebook.cells
            if cell.get("id") not in ("90-c-single", "90-t-contrast-answer", "90-t-report")
        ]

    notebook, said = repaired(released, delete)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in released.cells]
    assert "put back as released: `90-c-single`, `90-t-contrast-answer`, `90-t-report`" in said
    assert "raise" not in cell_of(notebook, "90-t-contrast-answer").source


def test_everything_deleted_still_gives_a_notebook_that_can_be_marked(released):
    repaired(released, lambda notebook: notebook.cells.clear())


def test_of_copies_the_original_is_graded(released):
    def paste(notebook):
        extra = copy.deepcopy(cell_of(notebook, "90-c-number"))
        extra.id, extra.source = "pasted", "print('mine')"
        notebook.cells.insert(0, extra)

    notebook, said = repaired(released, paste)
    assert (
        notebook.cells[0].source == "print('mine')" and "only the original is graded: `90-c-number`" in said
    )


@pytest.mark.parametrize(
    "tamper",
    [
        lambda cell: cell.metadata.nbgrader.update(points=100),
        lambda cell: cell.metadata.nbgrader.update(grade_id="another"),
        lambda cell: cell.metadata.nbgrader.update(grade=False, solution=True),
        lambda cell: cell.metadata.update(nbgrader="text"),
        lambda cell: cell.metadata.pop("nbgrader"),
        lambda cell: cell.update(source="1.0"),
        lambda cell: (cell.update(cell_type="markdown"), cell.pop("outputs"), cell.pop("execution_count")),
    ],
)
def test_tampering_is_undone(released, tamper):
    repaired(released, lambda notebook: tamper(cell_of(notebook, "90-t-contrast")))


def test_new_cell_ids_do_not_matter(released):
    def renew(notebook):
        for number, cell in enumerate(notebook.cells):
            cell.id = f"new-{number}"

    assert repaired(released, renew)[1] == ""


# --- intake ---


def good(released):
    return text_of(released).encode()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda data: b"", "was empty"),
        (lambda data: b" \n", "was empty"),
        (lambda data: data[: len(data) // 2], "ends in the middle"),
        (lambda data: data[:-3], "ends in the middle"),
        (lambda data: b"\x89PNG\x00\xff", "cannot be read as JSON"),
        (lambda data: b"<html>", "cannot be read as JSON"),
        (lambda data: data.replace(b'"cells"', b'"cells" oops', 1), "cannot be read as JSON"),
        (lambda data: b"[1, 2]", "not a notebook"),
        (lambda data: b'{"a": 1}', "not a notebook"),
        (lambda data: b'{"cells": 7}', "not a notebook"),
        (lambda data: b"[" * 10**5, "cannot be read as JSON"),
    ],
)
def test_what_is_no_notebook_is_recognised(released, make, words):
    notebook, reason = examine(make(good(released)))
    assert notebook is None and words in reason["en"] and reason["zh"]


def test_single_broken_cells_cost_only_themselves(released):
    data = json.loads(good(released))
    data["cells"][2:2] = [None, {"cell_type": "cat"}, {"cell_type": "code", "source": 7}]
    notebook, reason = examine(json.dumps(data).encode())
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in released.cells]
    assert "left out" in reason["en"]
    assert examine(good(released))[1] is None


def test_intake_keeps_the_bytes_and_puts_something_gradable_there(tmp_path, project, released):
    folder = tmp_path / "submitted" / "ann" / LESSON
    folder.mkdir(parents=True)
    path, answers = folder / f"{LESSON}.ipynb", folder / f"{LESSON}.answers.json"
    answers.write_text("kept")
    path.write_bytes(b"{broken")
    assert take_in(tmp_path, project, LESSON, "ann") is not None
    assert take_in(tmp_path, project, LESSON, "ann") is None  # again changes nothing
    assert (tmp_path / "damaged" / "ann" / LESSON / path.name).read_bytes() == b"{broken"
    assert examine(path.read_bytes())[1] is None and answers.read_text() == "kept"
    assert (
        "cannot be read" in reason_of(tmp_path, "ann", LESSON)["en"]
        or "ends in the middle" in reason_of(tmp_path, "ann", LESSON)["en"]
    )
    path.write_bytes(b"worse")  # a later submission, damaged in another way
    take_in(tmp_path, project, LESSON, "ann")
    assert (tmp_path / "damaged" / "ann" / LESSON / f"{LESSON}.2.ipynb").read_bytes() == b"worse"
    path.write_bytes(good(released) + b"\n")  # and a good one: the old reason is no longer said
    assert take_in(tmp_path, project, LESSON, "ann") is None
    assert reason_of(tmp_path, "ann", LESSON) is None


def test_a_missing_or_renamed_notebook_is_found_or_replaced(tmp_path, project, released):
    for student, name in (("bea", None), ("cem", "final version.ipynb")):
        folder = tmp_path / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        if name:
            changed = copy.deepcopy(released)
            changed.cells.append(new_code_cell("mine = 1"))
            (folder / name).write_text(text_of(changed))
    assert "no notebook" in take_in(tmp_path, project, LESSON, "bea")["en"]
    assert "another name, final version.ipynb" in take_in(tmp_path, project, LESSON, "cem")["en"]
    assert "mine = 1" in (tmp_path / "submitted" / "cem" / LESSON / f"{LESSON}.ipynb").read_text()
    assert (tmp_path / "submitted" / "bea" / LESSON / f"{LESSON}.ipynb").exists()


def test_the_hook_of_the_stock_command_takes_in_what_lies_there(tmp_path, project, released):
    folder = tmp_path / "submitted" / "dan" / LESSON
    folder.mkdir(parents=True)
    (folder / "other.ipynb").write_bytes(b"")
    notebooks = [str(folder / "other.ipynb")]
    before_autograde(str(project.root))(assignment=LESSON, student="*", notebooks=notebooks)
    assert notebooks[1:] == [str(folder / f"{LESSON}.ipynb")]
    assert examine((folder / f"{LESSON}.ipynb").read_bytes())[1] is None


# --- one thing in a process of its own ---


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: {"success": True}, None),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "signal 9"),
        (lambda: os._exit(3), "status 3"),
        (lambda: 1 / 0, "status 1"),
        (lambda: time.sleep(60), "longer than 1 s"),
    ],
)
def test_what_ends_a_marking_process_ends_nothing_else(tmp_path, call, words):
    result = isolated(call, 1 if words and "longer" in words else 30, tmp_path / "log")
    assert result["success"] if words is None else words in result["error"]


def test_a_course_directory_is_made_once_and_its_secret_kept(tmp_path):
    init(tmp_path / "course")
    secret = (tmp_path / "course" / "marking_secret").read_bytes()
    assert len(secret) == 32 and (tmp_path / "course" / "marking_secret").stat().st_mode & 0o077 == 0
    assert "kept" in " ".join(init(tmp_path / "course"))
    assert (tmp_path / "course" / "marking_secret").read_bytes() == secret
    with pytest.raises(ProjectError, match="no course directory"):
        Course(tmp_path)


# --- really through nbgrader: one class, then tricks, then the stock command ---

PERFECT = "def contrast(low, high):\n    return (high - low) / (high + low)\n"
TRICKS = {
    "patched": "import builtins, json\nbuiltins.sum = lambda *a: 1\n"
    "json.dumps = lambda *a, **k: '{\"call\": 0}'\n"
    "def contrast(low, high):\n    return 0.5\n",
    "recorder": "from IPython.display import display\nseen = []\n"
    "handle = display('nothing', display_id=True)\n"
    "def contrast(low, high):\n    seen.append((low, high))\n    print('SEEN', low, high)\n"
    "    handle.update(f'SEEN {low} {high}')\n    raise ValueError(f'SEEN {low} {high}')\n",
    "ends-inside": "import os\ndef contrast(low, high):\n    if low == 0:\n        os._exit(1)\n"
    "    return (high - low) / (high + low)\n",
    "endless": PERFECT + "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass\n",
    "loud": PERFECT + "import sys\nfor _ in range(3000): print('x' * 1000)\nprint('y', file=sys.stderr)\n",
    "kills-grader": PERFECT + "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
}


def submit(course, student, code, answers=None):
    folder = course.root / "submitted" / student / LESSON
    folder.mkdir(parents=True)
    notebook = nbformat.read(course.root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    cell_of(notebook, "90-t-contrast-answer").source = code
    (folder / f"{LESSON}.ipynb").write_text(text_of(notebook))
    if answers is not None:
        (folder / f"{LESSON}.answers.json").write_bytes(answers)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, project):
    from grader.demo.run import demo

    root, said = tmp_path_factory.mktemp("course") / "demo", []
    differences = demo(root, "zh", project, say=said.append)
    assert differences == [], "\n".join(said)
    return Course(root)


@pytest.mark.slow
def test_the_class_gets_what_it_deserves_and_the_papers_are_there(graded, project):
    learner = checkpoint_notebook(project, LESSON, "zh")
    assert nbformat.read(graded.root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4) == learner
    csv = (graded.root / "grades.csv").read_text()
    assert ",perfect,,,,13.0,0.0,13.0,13.0" in csv
    page = (graded.root / "feedback" / "partly" / LESSON / f"{LESSON}.html").read_text()
    assert "选项 b 的秘密理由写在这里。" in page and "未作答" in page and "哪个字母排第二？" in page
    for student in CLASS:
        path = graded.autograded(student.name, LESSON)
        notebook = nbformat.read(path, as_version=4)
        assert cell_of(notebook, "90-t-contrast").source == 'check("90-t-contrast")'
        outputs = [cell.outputs for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert all(len(shown) == 1 and shown[0].output_type == "execute_result" for shown in outputs)
    page = (graded.root / "feedback" / "deleted-cells" / LESSON / f"{LESSON}.html").read_text()
    assert "未作答" not in page and "已按发布时的样子补回" in page
    half = (graded.root / "damaged" / "half-a-file" / LESSON / f"{LESSON}.ipynb").read_text()
    assert half and not half.endswith("}\n")


@pytest.mark.slow
def test_tricks_and_accidents_cost_only_themselves(graded, project):
    from grader import pipeline

    with (graded.root / "nbgrader_config.py").open("a") as file:
        file.write("c.CourseExecute.timeout = 3\nc.CourseExecute.iopub_timeout = 3\n")
    course = Course(graded.root)
    for student, code in TRICKS.items():
        submit(course, student, code, b"{damaged" if student == "patched" else None)
    found = {o.student: o for o in pipeline.autograde(course, LESSON, TRICKS, say=lambda line: None)}
    points = {student: found[student].points for student in TRICKS}
    assert points == {
        "patched": 0,
        "recorder": 0,
        "ends-inside": 2,
        "endless": 0,
        "loud": 3,
        "kills-grader": None,
    }
    assert "NO GRADE" in " ".join(found["kills-grader"].problems)
    assert "damaged" in " ".join(found["patched"].problems)
    assert "did not stop" in " ".join(found["endless"].problems)
    assert found["perfect"].points == 13
    assert "without a grade: kills-grader" in pipeline.summary(list(found.values()))
    path = course.autograded("recorder", LESSON)
    assert pipeline.feedback(course, LESSON) == []
    page = (course.root / "feedback" / "recorder" / LESSON / f"{LESSON}.html").read_text()
    source = TRICKS["recorder"].count("SEEN")
    assert path.read_text().count("SEEN") == source and len(re.findall(r"SEEN \d", page)) == 0
    assert path.stat().st_size < 100_000 and course.autograded("loud", LESSON).stat().st_size < 1_500_000


@pytest.mark.slow
def test_the_stock_command_gives_the_same_marks_and_our_own_faults_give_none(graded, project):
    from grader import pipeline

    course = Course(graded.root)
    before = pipeline.cell_points(course, LESSON)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
    }
    command = [sys.executable, "-m", "nbgrader", "autograde", LESSON, "--force", "--student", "partly"]
    stock = subprocess.run(command, cwd=course.root, env=environment, capture_output=True, text=True)
    assert stock.returncode == 0, stock.stderr
    assert pipeline.cell_points(course, LESSON) == before
    assert before["partly"]["90-t-contrast"] == (3.0, 3.0)
    key = project.keys / f"{LESSON}.yaml"
    text = key.read_text()
    try:
        key.write_text("{}")
        (outcome,) = [
            o
            for o in pipeline.autograde(course, LESSON, ["perfect"], again=True, say=lambda line: None)
            if o.student == "perfect"
        ]
    finally:
        key.write_text(text)
    assert outcome.points is None and "has no key" in " ".join(outcome.problems)
    (outcome,) = [
        o
        for o in pipeline.autograde(course, LESSON, ["perfect"], say=lambda line: None)
        if o.student == "perfect"
    ]
    assert outcome.points == 13 and len(tasks(project, LESSON)) == 2
    assert STATE in nbformat.read(course.autograded("perfect", LESSON), as_version=4).metadata
