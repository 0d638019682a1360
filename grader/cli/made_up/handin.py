"""What a student does to the fetched notebook: answers, code, and accidents."""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from course.core.catalog import checkpoint_names
from course.core.i18n import set_language
from course.learning.sheet import AnswerSheet
from grader.authoring.build import answer_id
from grader.authoring.publish import text_of
from grader.cli.made_up.students import Student, answers
from grader.handin.answers import keyed_items
from grader.handin.papers import paper_of
from grader.marking.step import grade_id
from grader.project import Project
from grader.project.task import tasks

NOISE = """import sys, warnings
warnings.warn('a warning on stderr costs nothing')
print('neither does this', file=sys.stderr)"""
LAST = "import os\nos._exit(3)"


def work(project: Project, lesson: str, language: str, student: Student, folder: Path) -> None:
    """Turn the fetched notebook in ``folder`` into this student's submission, the answers file beside it."""
    path = next(path for name in checkpoint_names(lesson) if (path := folder / f"{name}.ipynb").exists())
    notebook = nbformat.read(path, as_version=4)
    write_code(project, lesson, student, notebook)
    _give_answers(project, lesson, language, student, notebook, folder)
    if student.damage == "deleted":
        _delete(notebook)
    if student.damage == "copied":
        _copy(notebook)
    text = text_of(notebook)
    path.write_text({"half": text[: len(text) // 2], "empty": ""}.get(student.damage, text), encoding="utf-8")


def write_code(project: Project, lesson: str, student: Student, notebook: NotebookNode) -> None:
    """Write this student's code into the answer cells of the tasks."""
    for place, (identity, task) in enumerate(tasks(project, lesson).items()):
        cell = next(cell for cell in notebook.cells if grade_id(cell) == answer_id(identity))
        if student.tasks == "right" or (student.tasks == "first" and place == 0):
            cell.source = task.solution
        elif student.tasks == "wrong":
            function = f"def {task.name}(*arguments):\n    return 'something else'"
            cell.source = f"{task.name} = {{}}" if task.judge else function


def _give_answers(
    project: Project, lesson: str, language: str, student: Student, notebook: NotebookNode, folder: Path
) -> None:
    """Write the answers where this student's travel: the first cell's output, the file beside the notebook,
    or both.
    """
    paper = paper_of(notebook, lesson, student.name, {})
    items = keyed_items(project, lesson, paper)
    given = answers(student, items)
    set_language(language)
    sheet = AnswerSheet(lesson, items, folder)
    if paper is not None:
        sheet.salt, sheet.student = paper.salt, paper.student
    for identity, response in given.items():
        sheet.record(identity, response)
    if student.carried != "sidecar" or not given:
        first = next(cell for cell in notebook.cells if cell.get("id") == "bootstrap")
        first.outputs = [new_output("display_data", data=sheet.bundle())]
    if student.carried == "notebook" and given:
        sheet.path.unlink()


def _delete(notebook: NotebookNode) -> None:
    """The first graded cell and the last, and every text cell."""
    graded = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    lost = [graded[0], graded[-1]]
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code" and cell not in lost]


def _copy(notebook: NotebookNode) -> None:
    """Each graded cell twice, noise before them, and a cell at the end that takes the kernel down."""
    cells = [new_code_cell(NOISE, id="noise")]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cells.append(NotebookNode(copy.deepcopy(cell), id=f"copy-{cell.id}"[:64]))
    notebook.cells = [*cells, new_code_cell(LAST, id="last")]
