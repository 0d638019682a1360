"""Two courses with the same class handed in: ours, and a plain nbgrader course whose test cells do the same work."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.cli.made_up import Student, answers, work, write_code
from grader.course import Course, done, init
from grader.handin.answers import keyed_items
from grader.marking.step import grade_id
from grader.project import Project
from grader.project.build import answer_id, assignment_notebook, text_of
from grader.project.task import tasks
from grader.release.run import release

LESSON = "01_map"
NOTEBOOK = f"{LESSON}_checkpoint"
KINDS = (("right", "right"), ("half", "first"), ("wrong", "wrong"), ("right", "none"))
OWN = """import torch
model = torch.nn.Linear(4, 1)
step = torch.optim.SGD(model.parameters(), lr=0.1)"""  # what most notebooks of a PyTorch course start with
BUSY = """import time
until = time.perf_counter() + {seconds}
while time.perf_counter() < until:
    pass"""
HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"


def students(count: int) -> list[Student]:
    """A class of sound submissions of four kinds."""
    return [Student(f"s{number:04d}", *KINDS[number % len(KINDS)]) for number in range(count)]


def added_cells(seconds: float) -> list[NotebookNode]:
    """What is added to each submission as the student's own work: a model and its optimizer, then so many seconds."""
    cells = [new_code_cell(OWN, id="own-model")]
    return [*cells, *([new_code_cell(BUSY.format(seconds=seconds), id="own-work")] if seconds else [])]


def ours(root: Path, count: int, seconds: float) -> Course:
    """Our course with the class handed in, ready to be marked. The folder must be new."""
    init(root, "en", "bench")
    course = Course(root)
    release(course, LESSON)
    own = added_cells(seconds)
    for student in students(count):
        folder = root / "submitted" / student.name / LESSON
        folder.mkdir(parents=True)
        shutil.copy(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", folder)
        (folder / "timestamp.txt").write_text("2026-01-01 10:00:00.000000 UTC")
        work(course.project, LESSON, "en", student, folder)
        path = folder / f"{NOTEBOOK}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[2:2] = own
        path.write_text(text_of(notebook), encoding="utf-8")
    return course


def plain(root: Path, count: int, seconds: float) -> NbGraderAPI:
    """An nbgrader course without any setting but its folder, and the class handed in with the same answers and code.

    Each question is a test cell on a dictionary of answers, each task one on the function, with its expected values.
    """
    project, config = Project(), Config({"CourseDirectory": {"root": str(root)}})
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    (root / "source" / LESSON).mkdir(parents=True)
    nbformat.write(_plain_source(project, seconds), root / "source" / LESSON / f"{NOTEBOOK}.ipynb")
    done(api.generate_assignment(LESSON), "generate_assignment")
    for student in students(count):
        notebook = nbformat.read(root / "release" / LESSON / f"{NOTEBOOK}.ipynb", as_version=4)
        given = {
            identity: list(response.options) if response.number is None else response.number
            for identity, response in answers(student, keyed_items(project, LESSON)).items()
        }
        next(cell for cell in notebook.cells if grade_id(cell) == "answers").source = f"answers = {given!r}"
        write_code(project, LESSON, student, notebook)
        folder = root / "submitted" / student.name / LESSON
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    return api


def _plain_source(project: Project, seconds: float) -> NotebookNode:
    theirs = assignment_notebook(project, LESSON, "en").cells
    cells = [new_code_cell(next(cell.source for cell in theirs if cell.id == "bootstrap")), *added_cells(seconds)]
    cells.append(_cell("answers", "### BEGIN SOLUTION\nanswers = {}\n### END SOLUTION"))
    for identity, item in keyed_items(project, LESSON).items():
        if item.kind == "number":
            test = f"assert {item.number.low!r} <= answers[{identity!r}] <= {item.number.high!r}"
        else:
            wanted = item.order if item.kind == "order" else item.correct
            test = f"assert answers[{identity!r}] == {list(wanted)!r}"
        cells.append(_cell(identity, HIDDEN.format(test), item.points))
    for identity, task in tasks(project, LESSON).items():
        solution = next(cell.source for cell in theirs if grade_id(cell) == answer_id(identity))
        calls = [(list(case.args), task.reference(*case.args)) for case in task.draw(random.Random(1))]
        test = f"for arguments, expected in {calls!r}:\n    assert {task.name}(*arguments) == expected"
        cells += [_cell(answer_id(identity), solution), _cell(identity, HIDDEN.format(test), task.points)]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def _cell(identity: str, source: str, points: float = 0) -> NotebookNode:
    """A test of so many points; without points a solution."""
    graded = {"grade": True, "locked": True, "solution": False, "points": float(points)}
    about = graded if points else {"grade": False, "locked": False, "solution": True}
    return new_code_cell(
        source, metadata={"nbgrader": {**about, "grade_id": identity, "schema_version": 3, "task": False}}
    )
