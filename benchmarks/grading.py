"""Grading side by side: stock nbgrader, and ours with one and two processes.

    python -m benchmarks.grading                   5 rounds, about 2 minutes on a quiet machine
    python -m benchmarks.grading --look            a look: one round
    python -m benchmarks.grading --class 1000      instead: one large class, in all, and the grader's memory
    python -m benchmarks.grading --out grading.md  where the table goes (default build/benchmarks/grading.md)

The same class is marked in turns within one run, in random order: by nbgrader in a course without settings, whose
test cells do the same work; and by `python -m grader autograde` with 1 and 2 marking processes, in the sandbox.
Once with next to no work of the student's own (imports torch, makes a model and an optimizer), once with 0.5 s more.
All of them are warm: libraries are loaded.
"""

from __future__ import annotations

import itertools
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from tqdm import tqdm
from traitlets.config import Config

from benchmarks.running import heading, markdown, options, publish
from grader.cli.made_up import Student, answers, work, write_code
from grader.course import Course, done, init
from grader.handin.answers import keyed_items
from grader.marking.autograde import How, autograde
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
WORK_S = (0.0, 0.5)
ROUNDS = 5
EACH = 8  # submissions of one turn of ours; one of stock


# --- two courses with the same class handed in: ours, and a plain one of nbgrader's whose test cells do the same work ---


def students(count: int) -> list[Student]:
    """A class of sound submissions of four kinds."""
    return [Student(f"s{number:04d}", *KINDS[number % len(KINDS)]) for number in range(count)]


def added_cells(seconds: float) -> list[NotebookNode]:
    """What is added to each submission as the student's own work: a model and its optimizer, then so many seconds."""
    cells = [new_code_cell(OWN, id="own-model")]
    return [*cells, *([new_code_cell(BUSY.format(seconds=seconds), id="own-work")] if seconds else [])]


def our_course(root: Path, count: int, seconds: float) -> Course:
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


def plain_course(root: Path, count: int, seconds: float) -> NbGraderAPI:
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


# --- marking it ---


def ways(folder: Path, work_s: float) -> dict[str, Callable[[], float]]:
    """Each way to mark, as a function that marks some submissions and tells the seconds for one."""
    course, plain = our_course(folder / "ours", EACH, work_s), plain_course(folder / "plain", 4, work_s)
    students = itertools.cycle(f"s{number:04d}" for number in range(4))

    def stock() -> float:
        begun = time.perf_counter()
        done(plain.autograde(LESSON, next(students), force=True), "stock autograde")
        return time.perf_counter() - begun

    def ours(jobs: int) -> float:
        begun = time.perf_counter()
        found = autograde(course, LESSON, how=How(jobs, again=True), say=lambda line: None)
        assert all(outcome.points is not None for outcome in found), found
        return (time.perf_counter() - begun) / EACH

    return {"stock nbgrader": stock, "ours, 1 process": partial(ours, 1), "ours, 2 processes": partial(ours, 2)}


def table(folder: Path, rounds: int) -> Iterator[str]:
    """Everything in turns; the first round warms up and does not count."""
    turns = [(name, work_s, way) for work_s in WORK_S for name, way in ways(folder / f"{work_s:g}", work_s).items()]
    found: dict[tuple[str, float], list[float]] = {}
    for _ in tqdm(range(rounds + 1), leave=False):
        for name, work_s, way in random.sample(turns, len(turns)):
            found.setdefault((name, work_s), []).append(way())
    names = dict.fromkeys(name for name, _, _ in turns)
    lines = [[name, *(_told(found[name, work_s][1:]) for work_s in WORK_S)] for name in names]
    yield from markdown(["s a submission", *(f"{work_s:g} s of the student's own" for work_s in WORK_S)], lines)
    yield from (
        "",
        "Median (range) of the rounds, from the submission on disk to its marks in the gradebook and its graded",
    )
    yield "notebook on disk. On a machine that others use too, two processes share what is left of its cores."


def _told(seconds: list[float]) -> str:
    return f"{median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})"


def large_class(course: Course) -> str:
    """Mark everything with two processes; tell the seconds, and the most memory that the grader itself had."""
    begun = time.perf_counter()
    found = autograde(course, LESSON, how=How(2), say=print)
    spent, without = time.perf_counter() - begun, sum(outcome.points is None for outcome in found)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (
        f"{len(found)} submissions in {spent:.0f} s ({spent / len(found):.3f} s each), {without} without a grade; "
        f"the grader itself had at most {memory / 1e6:.0f} MB"
    )


def main() -> None:
    """Measure, print the table and write it."""
    parser = options(__doc__, "grading.md")
    parser.add_argument("--class", type=int, dest="count", metavar="N", help="mark one class of N instead")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nbgrader's own
    rounds = 1 if given.look else ROUNDS
    what = f"one class of {given.count}, 2 processes" if given.count else f"{rounds} rounds"
    lines = heading("Grading side by side", what, "nbgrader")
    with tempfile.TemporaryDirectory(prefix="course-grading-") as name:
        folder = Path(name)
        body = [large_class(our_course(folder, given.count, 0.0))] if given.count else table(folder, rounds)
        publish([*lines, *body], given.out)


if __name__ == "__main__":
    main()
