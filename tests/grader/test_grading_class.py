"""A class really through nbgrader: what each deserves, tricks and accidents, and the stock command."""

from __future__ import annotations

import re

import nbformat
import pytest

from grader.cli.made_up import CLASS
from grader.course import Course
from grader.gradebook.marks import CellMark, cell_marks
from grader.marking.step import STATE, grade_id
from grader.project.build import checkpoint_notebook
from grader.project.publish import text_of
from grader.project.task import tasks
from grader.reporting.give_out import feedback
from grader.reporting.summary import summary
from tests.support.grading_class import stock
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def cell_of(notebook, identity):
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


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
    notebook = nbformat.read(course.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
    cell_of(notebook, "90-t-contrast-answer").source = code
    (folder / f"{NOTEBOOK}.ipynb").write_text(text_of(notebook))
    if answers is not None:
        (folder / f"{LESSON}.answers.json").write_bytes(answers)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, project):
    from grader.cli.made_up import demo

    root, said = tmp_path_factory.mktemp("course") / "demo", []
    differences = demo(root, "zh", project, say=said.append)
    assert differences == [], "\n".join(said)
    return Course(root)


@pytest.mark.slow
def test_the_class_gets_what_it_deserves_and_the_papers_are_there(graded, project):
    learner = checkpoint_notebook(project, LESSON, "zh")
    assert nbformat.read(graded.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4) == learner
    csv = (graded.root / "grades.csv").read_text()
    assert ",perfect,,,,13.0,0.0,13.0,13.0" in csv
    page = (graded.root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").read_text()
    assert "选项 b 的秘密理由写在这里。" in page and "未作答" in page and "哪个字母排第二？" in page
    for student in CLASS:
        path = graded.autograded(student.name, LESSON)
        notebook = nbformat.read(path, as_version=4)
        assert cell_of(notebook, "90-t-contrast").source == 'check("90-t-contrast")'
        outputs = [cell.outputs for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert all(len(shown) == 1 and shown[0].output_type == "execute_result" for shown in outputs)
    page = (graded.root / "feedback" / "deleted-cells" / LESSON / f"{NOTEBOOK}.html").read_text()
    assert page.count("未作答") == page.count("未作答 0") == 1 and "已按发布时的样子补回" in page
    half = (graded.root / "submitted" / "half-a-file" / LESSON / f"{NOTEBOOK} as handed in.ipynb").read_text()
    assert half and not half.endswith("}\n")


@pytest.mark.slow
def test_tricks_and_accidents_cost_only_themselves(graded, project):
    from grader.autograde.run import How, autograde

    with (graded.root / "nbgrader_config.py").open("a") as file:
        file.write("c.CourseExecute.timeout = 1\n")
    course = Course(graded.root)
    for student, code in TRICKS.items():
        submit(course, student, code, b"{damaged" if student == "patched" else None)
    found = {o.student: o for o in autograde(course, LESSON, TRICKS, How(jobs=2), lambda line: None)}
    points = {student: found[student].points for student in TRICKS}
    assert points == {"patched": 0, "recorder": 0, "ends-inside": 2, "endless": 0, "loud": 3, "kills-grader": 3}
    assert "damaged" in " ".join(found["patched"].problems)
    assert "timeout" in found["endless"].noted
    assert found["perfect"].points == 13
    assert "without a grade: nobody" in summary(list(found.values()))
    path = course.autograded("recorder", LESSON)
    assert feedback(course, LESSON) == []
    page = (course.root / "feedback" / "recorder" / LESSON / f"{NOTEBOOK}.html").read_text()
    source = TRICKS["recorder"].count("SEEN")
    assert path.read_text().count("SEEN") == source and len(re.findall(r"SEEN \d", page)) == 0
    assert path.stat().st_size < 100_000 and course.autograded("loud", LESSON).stat().st_size < 1_500_000


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_marks_and_our_own_faults_give_none(graded, project):
    from grader.autograde.run import How, autograde

    course = Course(graded.root)
    before = cell_marks(course, LESSON)
    stock(course, LESSON, "partly")
    assert cell_marks(course, LESSON) == before
    marked = course.autograded("partly", LESSON).stat().st_mtime_ns
    autograde(course, LESSON, ["partly"], say=lambda line: None)
    assert course.autograded("partly", LESSON).stat().st_mtime_ns == marked, (
        "what stock nbgrader marked is not marked again"
    )
    assert before["partly"]["90-t-contrast"] == CellMark(3.0, top=3.0)
    key = project.keys(LESSON)
    text = key.read_text()
    try:
        key.write_text("{}")
        (outcome,) = [
            o
            for o in autograde(course, LESSON, ["perfect"], How(again=True), lambda line: None)
            if o.student == "perfect"
        ]
    finally:
        key.write_text(text)
    assert outcome.points is None and "has no key" in " ".join(outcome.problems)
    (outcome,) = [o for o in autograde(course, LESSON, ["perfect"], say=lambda line: None) if o.student == "perfect"]
    assert outcome.points == 13 and len(tasks(project, LESSON)) == 2
    assert STATE in nbformat.read(course.autograded("perfect", LESSON), as_version=4).metadata
