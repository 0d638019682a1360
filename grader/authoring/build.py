"""Cells of a source -> a notebook: with solutions for nbgrader, stripped for learners. The output is
deterministic.
"""

from __future__ import annotations

import hashlib

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader import project as project_files
from grader.authoring.bootstrap import bootstrap
from grader.authoring.prose import prose
from grader.authoring.source import Cell, read
from grader.project import Project, ProjectError

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
STUB = {
    "en": "# YOUR CODE HERE\nraise NotImplementedError",
    "zh": "# 在这里写你的代码\nraise NotImplementedError",
}


def answer_id(task_id: str) -> str:
    """The grade id of the cell a task is answered in; the task's own id marks its graded cell."""
    return f"{task_id}-answer"


def lesson_notebook(project: Project, lesson: str, language: str) -> NotebookNode:
    """The learner's practice notebook. Raises ProjectError on a bad source."""
    cells = read(project.lesson_source(lesson))
    return _release(_notebook(project, cells, lesson, language, "lesson"), language, graded=False)


def checkpoint_notebook(project: Project, lesson: str, language: str) -> NotebookNode:
    """The learner's checkpoint: exactly what ``nbgrader generate_assignment`` releases."""
    return _release(assignment_notebook(project, lesson, language), language, graded=True)


def assignment_notebook(project: Project, lesson: str, language: str) -> NotebookNode:
    """The instructor's version of a checkpoint, solutions inside: the source of the nbgrader assignment."""
    cells = read(project.checkpoint_source(lesson))
    return _notebook(project, cells, lesson, language, "checkpoint")


def points_of(project: Project, lesson: str, cell: Cell, name: str) -> float:
    """The points of a question or task cell. Raises ProjectError for an unknown id."""
    if cell.kind == "question":
        item = project_files.checkpoint_items(project, lesson).get(cell.id)
        if item is None or "points" not in item:
            raise ProjectError(
                f"{name}:{cell.line}: no item {cell.id!r} with points "
                f"in course/lessons/l{lesson}/checkpoint.yaml"
            )
        return item["points"]
    task = project_files.tasks(project, lesson).get(cell.id)
    if task is None:
        raise ProjectError(f"{name}:{cell.line}: no task {cell.id!r} in {project.task_module(lesson)}")
    return task.points


def _notebook(project: Project, cells: list[Cell], lesson: str, language: str, kind: str) -> NotebookNode:
    name = (project.checkpoint_source if kind == "checkpoint" else project.lesson_source)(lesson).name
    notebook = new_notebook(
        metadata={
            "course": {"kind": kind, "language": language, "lesson": lesson},
            "kernelspec": dict(KERNELSPEC),
            "language_info": {"name": "python"},
        }
    )
    english = ""
    for cell in cells:
        if cell.language == "en":
            english = cell.body
        if cell.language in (None, language):
            stable = english if cell.language else cell.body
            notebook.cells += _built(project, cell, lesson, language, kind, stable, name)
    _unique_ids(notebook)
    return notebook


def _built(
    project: Project, cell: Cell, lesson: str, language: str, kind: str, stable: str, name: str
) -> list:
    if cell.kind == "markdown":
        return [new_markdown_cell(prose(cell.body, language), id=_id("text", stable), metadata=_tags(cell))]
    if cell.kind == "bootstrap":
        return [
            new_code_cell(bootstrap(project, kind, lesson, language), id="bootstrap", metadata=_tags(cell))
        ]
    if cell.kind == "code":
        return [new_code_cell(cell.code(language), id=_id("code", stable), metadata=_tags(cell))]
    if kind != "checkpoint":
        raise ProjectError(f"{name}:{cell.line}: {cell.kind} cells belong in a checkpoint")
    points = points_of(project, lesson, cell, name)
    if cell.kind == "question":
        return [new_code_cell(f'question("{cell.id}")', id=cell.id, metadata=_graded(cell.id, points))]
    answer = new_code_cell(cell.code(language), id=answer_id(cell.id), metadata=_answer(cell.id))
    return [answer, new_code_cell(f'check("{cell.id}")', id=cell.id, metadata=_graded(cell.id, points))]


def _tags(cell: Cell) -> dict:
    return {"tags": list(cell.tags)} if cell.tags else {}


def _graded(identity: str, points: float) -> dict:
    return {
        "nbgrader": {
            "grade": True,
            "grade_id": identity,
            "locked": True,
            "points": points,
            "schema_version": 3,
            "solution": False,
            "task": False,
        }
    }


def _answer(identity: str) -> dict:
    return {
        "nbgrader": {
            "grade": False,
            "grade_id": answer_id(identity),
            "locked": False,
            "schema_version": 3,
            "solution": True,
            "task": False,
        }
    }


def _id(prefix: str, text: str) -> str:
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _unique_ids(notebook: NotebookNode) -> None:
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        seen[cell.id] = seen.get(cell.id, 0) + 1
        if seen[cell.id] > 1:
            cell.id = f"{cell.id}-{seen[cell.id]}"


def _release(notebook: NotebookNode, language: str, graded: bool) -> NotebookNode:
    """Take the solutions out with nbgrader's own preprocessors, in the order of generate_assignment."""
    from nbgrader.preprocessors import ComputeChecksums, LockCells

    from grader.authoring.clear import ClearTasks

    clear = ClearTasks(code_stub={"python": STUB[language]}, enforce_metadata=graded)
    for step in (LockCells(), clear, ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, {})
    return notebook
