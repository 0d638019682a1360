"""A small project of one lesson and one checkpoint, written to a folder: what the authoring and grading tests
run on.
"""

from __future__ import annotations

import functools
from pathlib import Path

import nbgrader.api
import yaml

from grader.project import Project
from tests.support.sources import code

LESSON = "90_fixture"
NOTEBOOK = f"{LESSON}_checkpoint"  # the name of its file, without .ipynb
nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version)
"""Asked for every new gradebook, and each time a program of its own is started for it, for seconds."""


def both(en: str, zh: str) -> dict[str, str]:
    return {"en": en, "zh": zh}


FIXTURE = Path(__file__).with_name("fixture")
ITEMS = yaml.safe_load((FIXTURE / "checkpoint.yaml").read_text("utf-8"))
KEYS = yaml.safe_load((FIXTURE / "keys.yaml").read_text("utf-8"))

CHECKPOINT = (FIXTURE / "checkpoint.md").read_text("utf-8")
LESSON_SOURCE = (FIXTURE / "lesson.md").read_text("utf-8")
BET = code('predict("90-bet")')


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_project(root: Path) -> Project:
    """Write the fixture project under ``root`` and return it; it passes the lint and the leak scan."""
    project = Project(root)
    write(project.lesson_source(LESSON), LESSON_SOURCE)
    write(project.checkpoint_source(LESSON), CHECKPOINT)
    write(project.checkpoint_items(LESSON), yaml.safe_dump(ITEMS, allow_unicode=True))
    write(project.items(LESSON), yaml.safe_dump([{"id": "90-bet"}]))
    write(project.keys(LESSON), yaml.safe_dump(KEYS, allow_unicode=True))
    write(project.learner_folder / "misconceptions.yaml", "x: {en: x, zh: x}\n")
    write(project.task_module(LESSON), (FIXTURE / "tasks.py").read_text("utf-8"))
    write(project.items(LESSON).with_name("exercises.yaml"), "90-t-contrast: {}\n90-t-report: {}\n")
    return project
