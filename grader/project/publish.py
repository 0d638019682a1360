"""Write the learner notebooks, or check that those on disk are what their sources give."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import nbformat

from course.core.catalog import checkpoint_names
from course.questions.lint import Finding
from grader.project import LANGUAGES, Project, ProjectError
from grader.project.build import checkpoint_notebook, practice_notebook

BUILDERS = {"checkpoints": checkpoint_notebook} | {
    f"{kind}s": partial(practice_notebook, kind=kind) for kind in ("lesson", "tool", "project")
}
"""Folder of notebooks -> what builds one; a method of Project by the folder's name lists them."""


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The file content of a notebook; the same notebook always gives the same text."""
    return nbformat.writes(notebook) + "\n"


def build_all(project: Project, only: str | None = None) -> tuple[dict[Path, str], list[Finding]]:
    """Every learner notebook as path -> text, and a finding for each that could not be built.

    ``only`` restricts to one lesson id.
    """
    made, problems = {}, []
    for folder in BUILDERS:
        for lesson in getattr(project, folder)():
            if only not in (None, lesson):
                continue
            for language in LANGUAGES:
                name = checkpoint_names(lesson)[0] if folder == "checkpoints" else lesson
                path = project.notebooks / language / folder / f"{name}.ipynb"
                try:
                    made[path] = text_of(BUILDERS[folder](project, lesson, language))
                except (ProjectError, RuntimeError) as error:
                    problems.append(Finding("not-built", f"{folder}/{lesson}: {error}"))
                    break
    return made, problems


def write(made: dict[Path, str]) -> list[Path]:
    """Write the notebooks that differ from those on disk; returns their paths."""
    changed = [path for path, text in made.items() if not _on_disk(path, text)]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    return changed


def out_of_step(project: Project, made: dict[Path, str], only: str | None = None) -> list[Finding]:
    """A finding for each notebook on disk that differs from its source, is missing, or has no source."""
    found = [
        Finding("not-in-step", f"{path}: not in step with its source; run `python -m grader author notebooks`")
        for path, text in made.items()
        if not _on_disk(path, text)
    ]
    return found + [
        Finding("no-source", f"{path}: has no source any more; delete it")
        for path in leftovers(project, made)
        if only is None
    ]


def leftovers(project: Project, made: dict[Path, str]) -> list[Path]:
    """The notebooks in the generated folders that have no source."""
    return sorted(
        path
        for language in LANGUAGES
        for folder in BUILDERS
        for path in (project.notebooks / language / folder).glob("*.ipynb")
        if path not in made
    )


def _on_disk(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text
