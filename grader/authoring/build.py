"""Make notebooks from the cells of a source: with solutions for nbgrader, without for learners. The same source always
gives the same notebook.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.core.version import __version__
from course.learning.notebook_file import STUB
from grader import project as project_files
from grader.authoring.bootstrap import bootstrap
from grader.authoring.prose import prose
from grader.authoring.worth import MARK, points_by_id, worth
from grader.project import Project, ProjectError
from grader.project.source import Cell, read
from grader.project.task import tasks

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
TEXT_STUB = {"en": "YOUR ANSWER HERE", "zh": "在这里写你的回答"}
COLAB = {"en": "Open in Colab", "zh": "在 Colab 打开"}
PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
SAVE = {
    "en": "Save the notebook, then run this cell: it says what is in the file that you hand in.",
    "zh": "先保存 notebook，再运行这个单元格：它会说明要交的文件里有什么。",
}
VERBS = {"project": "lesson"}
"""Kind of a notebook -> the verb that starts it, where that is another word."""
BADGE = "badge"
"""The id of the cell below the title that opens the notebook in Colab."""


def answer_id(task_id: str) -> str:
    """The grade id of the cell in which a task is answered; the task's own id is that of its graded cell."""
    return f"{task_id}-answer"


def practice_notebook(project: Project, name: str, language: str, kind: str = "lesson") -> NotebookNode:
    """The learner's notebook of a lesson, a tool (for the learner's own code) or a project. Raises ProjectError on a bad source."""
    cells = read(project.practice_source(kind, name))
    return _release(_notebook(project, cells, name, language, kind), language, graded=False)


def checkpoint_notebook(
    project: Project, lesson: str, language: str, other_points: Mapping[str, float] | None = None, salt: str = ""
) -> NotebookNode:
    """The learner's checkpoint: exactly what ``nbgrader generate_assignment`` makes. other_points, salt: see
    ``assignment_notebook``.
    """
    made = assignment_notebook(project, lesson, language, other_points, salt)
    return _release(made, made.metadata.course.language, graded=True)


def assignment_notebook(
    project: Project, lesson: str, language: str, other_points: Mapping[str, float] | None = None, salt: str = ""
) -> NotebookNode:
    """The instructor's version of a checkpoint with solutions: the source of the nbgrader assignment.

    other_points: graded cell -> points, where they differ from the checkpoint's data. salt: of a release in which students
    have different papers.
    """
    cells = read(project.checkpoint_source(lesson))
    language = spoken(cells, language)
    points = {**points_by_id(project, lesson), **(other_points or {})}
    made = _notebook(project, _with_worth(cells, points), lesson, language, "checkpoint", points, salt)
    made.metadata["course"] |= {
        "questions": list(project_files.checkpoint_items(project, lesson).values()),
        "tasks": {name: task.name for name, task in tasks(project, lesson).items()},
        "version": __version__,
        **(
            {"essays": essays}
            if (essays := [cell.id for cell in cells if cell.kind == "essay" and cell.language == language])
            else {}
        ),
        **({"paper": salt} if salt else {}),
    }
    return made


def spoken(cells: list[Cell], language: str) -> str:
    """The language to build: the one asked for, or the only one the texts have."""
    there = {cell.language for cell in cells if cell.language}
    return there.pop() if len(there) == 1 else language


def _with_worth(cells: list[Cell], points: Mapping[str, float]) -> list[Cell]:
    return [
        replace(cell, body=cell.body.replace(MARK, worth(cells, points, cell.language)))
        if cell.kind == "markdown" and MARK in cell.body
        else cell
        for cell in cells
    ]


def _points_of(project: Project, lesson: str, cell: Cell, name: str, points: Mapping[str, float]) -> float | int:
    """The points of a question or task cell. Raises ProjectError for an unknown id."""
    if cell.id not in points:
        what, where = (
            ("item", f"with points in {project.checkpoint_items(lesson)}")
            if cell.kind == "question"
            else ("task", f"in {project.task_module(lesson)}")
        )
        raise ProjectError(f"{name}:{cell.line}: no {what} {cell.id!r} {where}")
    found = points[cell.id]
    return int(found) if found == int(found) else found


def _notebook(
    project: Project,
    cells: list[Cell],
    lesson: str,
    language: str,
    kind: str,
    points: Mapping[str, float] | None = None,
    salt: str = "",
) -> NotebookNode:
    name = (project.checkpoint_source(lesson) if kind == "checkpoint" else project.practice_source(kind, lesson)).name
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
            stable = (english or cell.body) if cell.language else cell.body
            notebook.cells += _built(project, cell, lesson, language, kind, stable, name, points or {}, salt)
    if kind != "checkpoint" and (badge := badge_of(project, f"notebooks/{language}/{kind}s/{lesson}.ipynb", language)):
        notebook.cells.insert(1, new_markdown_cell(badge, id=BADGE))
    if kind == "checkpoint":
        notebook.cells.append(new_code_cell(f"# {SAVE[language]}\ncheck_file()", id="check-file"))
    _unique_ids(notebook)
    return notebook


def badge_of(project: Project, file: str, language: str) -> str:
    """Markdown that opens a notebook in Colab; empty where Colab cannot."""
    address = project.colab(file)
    return f"[![{COLAB[language]}]({PICTURE})]({address})" if address else ""


def _built(
    project: Project,
    cell: Cell,
    lesson: str,
    language: str,
    kind: str,
    stable: str,
    name: str,
    all_points: Mapping[str, float],
    salt: str,
) -> list:
    if cell.kind == "markdown":
        return [new_markdown_cell(prose(cell.body, language), id=_id("text", stable), metadata=_tags(cell))]
    if cell.kind == "bootstrap":
        return [
            new_code_cell(
                bootstrap(project, VERBS.get(kind, kind), lesson, language, salt), id="bootstrap", metadata=_tags(cell)
            )
        ]
    if cell.kind == "code":
        return [new_code_cell(cell.code(language), id=_id("code", stable), metadata=_tags(cell))]
    if kind != "checkpoint":
        raise ProjectError(f"{name}:{cell.line}: {cell.kind} cells belong in a checkpoint")
    points = _points_of(project, lesson, cell, name, all_points)
    if cell.kind == "question":
        return [new_code_cell(f'question("{cell.id}")', id=cell.id, metadata=_graded(cell.id, points))]
    if cell.kind == "essay":
        asked = new_markdown_cell(prose(cell.body, language), id=_id("asked", cell.id))
        return [asked, new_markdown_cell(TEXT_STUB[language], id=cell.id, metadata=_essay(cell.id, points))]
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


def _essay(identity: str, points: float) -> dict:
    made = _graded(identity, points)
    made["nbgrader"] |= {"solution": True, "locked": False}
    return made


def _id(prefix: str, text: str) -> str:
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _unique_ids(notebook: NotebookNode) -> None:
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        seen[cell.id] = seen.get(cell.id, 0) + 1
        if seen[cell.id] > 1:
            cell.id = f"{cell.id}-{seen[cell.id]}"


def _release(notebook: NotebookNode, language: str, graded: bool) -> NotebookNode:
    """Remove the solutions with nbgrader's own preprocessors, in the order of generate_assignment."""
    from nbgrader.preprocessors import ComputeChecksums, LockCells

    from grader.authoring.clear import ClearTasks

    clear = ClearTasks(code_stub={"python": STUB[language]}, text_stub=TEXT_STUB[language], enforce_metadata=graded)
    for step in (LockCells(), clear, ComputeChecksums()):
        notebook, _ = step.preprocess(notebook, {})
    return notebook
