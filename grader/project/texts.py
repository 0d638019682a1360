"""What the builder writes into the texts and cells of a notebook: marks in a text, the points of a checkpoint, the first code cell.

A term ``[[plan]]`` or ``[[plan|plans]]`` becomes its word with the meaning on hover: plain HTML that JupyterLab, VS Code and Colab all
show. ``{{worth}}`` becomes the sentence on the points of a checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from course.core.i18n import both
from course.questions import glossary
from grader.project import Project, checkpoint_items
from grader.project.source import Cell, read
from grader.project.task import tasks
from grader.project.template import render


def prose(text: str, language: str) -> str:
    """The text of a cell with its marks replaced, as it goes into the notebook. An unknown mark stays; the lint reports it."""

    def term(found: re.Match[str]) -> str:
        known = glossary.read().get(found["id"])
        return glossary.hover(known, found["words"], language) if known else found[0]

    return glossary.replace_marks(text, term)


# --- the points of a checkpoint ---

MARK = "{{worth}}"
KINDS = {
    "question": both("{:g} for questions", "题目 {:g} 分"),
    "task": both("{:g} for code tasks", "编程任务 {:g} 分"),
    "essay": both("{:g} for a text", "短文 {:g} 分"),
}


def points_by_id(project: Project, lesson: str) -> dict[str, float]:
    """Graded cell -> points, from the questions and tasks of the checkpoint."""
    found = {
        name: float(item["points"]) for name, item in checkpoint_items(project, lesson).items() if "points" in item
    }
    found |= {name: float(task.points) for name, task in tasks(project, lesson).items()}
    source = project.checkpoint_source(lesson)
    return found | {cell.id: cell.points for cell in (read(source) if source.exists() else ()) if cell.kind == "essay"}


def worth(cells: list[Cell], points: Mapping[str, float], language: str) -> str:
    """``**18 points**: 6 for questions, 12 for code tasks.``"""
    sums = dict.fromkeys(KINDS, 0.0)
    for cell in cells:
        if cell.kind in KINDS and cell.language in (None, language):
            sums[cell.kind] += points.get(cell.id, 0)
    parts = [KINDS[kind][language].format(value) for kind, value in sums.items() if value]
    total, listed = f"{sum(sums.values()):g}", {"en": ", ", "zh": "，"}[language].join(parts)
    return {"en": "**{} points**: {}.", "zh": "**共 {} 分**：{}。"}[language].format(total, listed)


# --- the first code cell of every notebook; only lesson and language differ ---

ABSENT = "except ModuleNotFoundError as missing:"
"""The line of the cell below which it says how to install the course."""


def bootstrap(project: Project, verb: str, lesson: str, language: str, salt: str = "") -> str:
    """The code of the cell: import torch (in a lesson) and the verbs and start the notebook, or say how to install the course: from the
    repository named in pyproject.toml, else from the checkout. Never by name alone: the course is on no package index, so a stranger could
    publish code there under its name.

    salt: of a release in which each student has another paper. It is written in the code, because a kernel cannot read its
    notebook in every front end.
    """
    said = {"verb": verb, "lesson": lesson, "salt": salt, "repository": project.repository}
    return render(Path(__file__).with_name("bootstrap.py.jinja"), language, **said).strip()
