"""Write the learner notebooks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import nbformat

from course.questions.lint import Finding
from grader.project import LANGUAGES, Project, ProjectError, name_of
from grader.project.build import checkpoint_notebook, practice_notebook

BUILDERS = {"checkpoints": checkpoint_notebook} | {
    f"{kind}s": partial(practice_notebook, kind=kind) for kind in ("lesson", "tool", "project")
}
"""Folder of notebooks -> what builds one; a method of Project by the folder's name lists them."""


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The file content of a notebook; the same notebook always gives the same text."""
    return nbformat.writes(notebook) + "\n"


def build_all(project: Project) -> tuple[dict[Path, str], list[Finding]]:
    """Every learner notebook as path -> text, and a finding for each that could not be built."""
    made, problems = {}, []
    for folder in BUILDERS:
        for lesson in getattr(project, folder)():
            name = name_of(lesson) if folder == "checkpoints" else lesson
            try:
                for language in LANGUAGES:
                    path = project.notebooks / language / folder / f"{name}.ipynb"
                    made[path] = text_of(BUILDERS[folder](project, lesson, language))
            except (ProjectError, RuntimeError) as error:
                problems.append(Finding("not-built", f"{folder}/{lesson}: {error}"))
    return made, problems


def write(made: dict[Path, str]) -> list[Path]:
    """Write the files that differ from those on disk; returns their paths."""
    changed = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    return changed


def leftovers(project: Project, made: dict[Path, str]) -> list[Path]:
    """The notebooks in the generated folders that have no source."""
    folders = [project.notebooks / language / folder for language in LANGUAGES for folder in BUILDERS]
    return sorted(path for folder in folders for path in folder.glob("*.ipynb") if path not in made)
