"""What every preprocessor of ours shares: the project, the lesson, the language, and the notes about a
submission.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from course.i18n import Text, pick
from course.questions.variants import Paper
from grader.papers import paper_in
from grader.project import HERE, LANGUAGES, Project
from grader.task import tasks

STATE = "course_marking"  # notebook metadata of a graded submission: answers, notes


class CourseStep(NbGraderPreprocessor):
    """A preprocessor that knows the course. Configure once as ``c.CourseStep....``; all steps inherit it."""

    project_root = Unicode(str(HERE), help="The checkout with the lessons' sources, keys and tasks").tag(config=True)
    course_root = Unicode(".", help="The nbgrader course directory").tag(config=True)
    course_language = Unicode("en", help="en or zh: where a notebook does not say its own").tag(config=True)

    @property
    def project(self) -> Project:
        return Project(Path(self.project_root), own=Path(self.course_root).absolute() / "checkpoints")

    def lesson(self, resources: dict) -> str:
        """The lesson of the notebook being marked."""
        return resources["nbgrader"]["notebook"]

    def ours(self, resources: dict) -> bool:
        """Whether this notebook is a checkpoint of the course; others go through untouched."""
        return self.project.checkpoint_source(self.lesson(resources)).exists()

    def language(self, notebook: NotebookNode) -> str:
        """The language the submission was written in."""
        return language_of(notebook, self.course_language)

    def paper(self, resources: dict) -> Paper | None:
        """Whose questions this submission is marked against; None where all have the same. Raises Infrastructure."""
        return paper_in(Path(self.course_root), self.lesson(resources), resources["nbgrader"]["student"])

    def tasks(self, resources: dict) -> dict[str, Any]:
        return tasks(self.project, self.lesson(resources))


def language_of(notebook: NotebookNode | None, otherwise: str) -> str:
    """The language a notebook says it is in."""
    said = notebook.metadata.get("course") if notebook is not None else None
    code = said.get("language") if isinstance(said, dict) else None
    return code if code in LANGUAGES else otherwise


def state(notebook: NotebookNode) -> NotebookNode:
    """Our record in the notebook's metadata: ``answers`` by item, ``notes`` as a ``reason`` and texts in both languages, and in
    words of ``verdicts`` what ``happened`` and the ``verdict`` on the whole.
    """
    return notebook.metadata.setdefault(STATE, NotebookNode(answers={}, notes=[], happened=[]))


def note(notebook: NotebookNode, reason: str, text: Text) -> None:
    """Remember a sentence about this submission for the feedback and the summary; what a student named in it
    (an item, a file) may hold anything, and is made fit to print. reason: its code.
    """
    said = {code: printable(pick(text, code)) for code in LANGUAGES}
    state(notebook)["notes"].append({"reason": reason, **said})


def printable(text: str) -> str:
    """One line without control characters, half surrogates or signs that turn the direction of writing."""
    return "".join(sign if sign.isprintable() else "?" for sign in re.sub(r"\s+", " ", text))


def notes(notebook: NotebookNode, language: str) -> list[str]:
    """The sentences about this submission in one language."""
    return [pick(text, language) for text in notebook.metadata.get(STATE, {}).get("notes", [])]


def reasons(notebook: NotebookNode) -> list[str]:
    """The codes of the sentences about this submission; "" of one that an earlier version of the grader wrote."""
    return [text.get("reason", "") for text in notebook.metadata.get(STATE, {}).get("notes", [])]


def grade_id(cell: NotebookNode) -> str | None:
    """The grade id of a cell, however its metadata looks."""
    data = cell.get("metadata", {}).get("nbgrader")
    identity = data.get("grade_id") if isinstance(data, dict) else None
    return identity if isinstance(identity, str) else None
