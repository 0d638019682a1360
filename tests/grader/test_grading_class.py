"""A class really through nbgrader: what each deserves, the stock command, and the made-up class of `make demo`."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest

from course.learning.sheet import AnswerSheet
from grader.cli.made_up import CLASS, demo, right
from grader.course import Course
from grader.course.marks import CellMark, cell_marks
from grader.handin.answers import keyed_items
from grader.marking.autograde import How, autograde
from grader.marking.step import grade_id
from grader.project import Project, ProjectError
from grader.project.build import answer_id, checkpoint_notebook
from grader.project.task import tasks
from tests.support.grading_class import stock
from tests.support.grading_fixtures import LESSON, NOTEBOOK, make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


def cell_of(notebook, identity):
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, project):
    root, said = tmp_path_factory.mktemp("course") / "demo", []
    assert demo(root, "zh", project, say=said.append) == [], "\n".join(said)
    return Course(root)


@pytest.mark.slow
def test_the_class_gets_what_it_deserves_and_the_pages_are_there(graded, project):
    learner = checkpoint_notebook(project, LESSON, "zh")
    assert nbformat.read(graded.root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4) == learner
    assert ",perfect,,,,13.0,0.0,13.0,13.0" in (graded.root / "grades.csv").read_text()
    for student in CLASS:
        notebook = nbformat.read(graded.autograded(student.name, LESSON), as_version=4)
        assert cell_of(notebook, "90-t-contrast").source == 'check("90-t-contrast")'
        outputs = [cell.outputs for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        assert all(len(shown) == 1 and shown[0].output_type == "execute_result" for shown in outputs)
    page, gaps = (
        (graded.root / "feedback" / name / LESSON / f"{NOTEBOOK}.html").read_text()
        for name in ("partly", "deleted-cells")
    )
    assert "选项 b 的秘密理由写在这里。" in page and "未作答" in page and "哪个字母排第二？" in page
    assert gaps.count("未作答") == gaps.count("未作答 0") == 1 and "已按发布时的样子补回" in gaps
    half = (graded.root / "submitted" / "half-a-file" / LESSON / f"{NOTEBOOK} as handed in.ipynb").read_text()
    assert half and not half.endswith("}\n")


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_marks_and_our_own_faults_give_none(graded, project):
    course = Course(graded.root)

    def mark(student: str, **how):
        found = autograde(course, LESSON, [student], How(jobs=1, **how), lambda line: None)
        return next(one for one in found if one.student == student)

    before = cell_marks(course, LESSON)
    assert before["partly"]["90-t-contrast"] == CellMark(3.0, top=3.0)
    stock(course, LESSON, "partly")
    assert cell_marks(course, LESSON) == before
    marked = course.autograded("partly", LESSON).stat().st_mtime_ns
    mark("partly")
    assert course.autograded("partly", LESSON).stat().st_mtime_ns == marked, "marked already"
    key = project.keys(LESSON)
    text = key.read_text()
    try:
        key.write_text("{}")
        outcome = mark("perfect", again=True)
    finally:
        key.write_text(text)
    assert outcome.points is None and "has no key" in " ".join(outcome.problems)
    assert mark("perfect").points == 13


@pytest.mark.one_of_each  # a class of three, graded and given back
@pytest.mark.slow
def test_a_class_is_graded_as_deserved_and_nothing_of_others_is_cleared(tmp_path):
    project, root = make_project(tmp_path / "project"), tmp_path / "demo"
    assert demo(root, "en", project, students=CLASS[:3], say=(said := []).append) == []
    assert (root / "feedback" / "partly" / LESSON / f"{NOTEBOOK}.html").exists() and "grades.csv" in "\n".join(said)
    (root / "made-by-grader-demo").unlink()
    with pytest.raises(ProjectError, match="another folder"):
        demo(root, "en", project, students=CLASS[:1])
    assert (root / "grades.csv").exists()


@pytest.mark.slow
def test_nbgrader_validate_as_students_run_it_an_untouched_checkpoint_does_not_validate_and_a_finished_one_does(
    tmp_path,
):
    real, lesson = Project(), "08_mps"
    untouched, finished = (tmp_path / name / f"{lesson}_checkpoint.ipynb" for name in ("untouched", "finished"))
    released = (real.notebooks / "en" / "checkpoints" / f"{lesson}_checkpoint.ipynb").read_text(encoding="utf-8")
    items, hidden = keyed_items(real, lesson), tasks(real, lesson)
    untouched.parent.mkdir()
    untouched.write_text(released, encoding="utf-8")
    finished.parent.mkdir()
    notebook = nbformat.reads(released, as_version=4)
    for cell in notebook.cells:
        for identity, task in hidden.items():
            if grade_id(cell) == answer_id(identity):
                cell.source = task.solution
    nbformat.write(notebook, finished)
    sheet = AnswerSheet(lesson, items, finished.parent)
    for identity, item in items.items():
        sheet.record(identity, right(item))

    command = [sys.executable, "-m", "nbgrader", "validate", str(untouched), str(finished)]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    of_untouched, success, rest = ran.stdout.partition("Success! Your notebook passes all the tests.")
    assert f"FAILED ON {len(items) + len(hidden)} CELL(S)" in of_untouched, ran.stdout + ran.stderr
    assert all(f"{identity}: not" in of_untouched for identity in (*items, *hidden)), ran.stdout + ran.stderr
    assert success and not rest.strip(), ran.stdout + ran.stderr
