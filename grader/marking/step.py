"""What the course's preprocessors share: the project, the lesson, the language, and the notes about a submission."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from course.core.catalog import checkpoint_names
from course.core.i18n import Text, pick
from grader.project import HERE, LANGUAGES, Project
from grader.project.names import printable

STATE = "course_marking"  # notebook metadata of a graded submission: answers, notes


class CourseStep(NbGraderPreprocessor):
    """Base class of the course's preprocessors. Settings under ``c.CourseStep`` hold for all of them."""

    project_root = Unicode(str(HERE), help="The checkout with the lessons' sources, keys and tasks").tag(config=True)
    course_root = Unicode(".", help="The nbgrader course directory").tag(config=True)
    course_language = Unicode("en", help="en or zh: where a notebook does not say its own").tag(config=True)

    course_timezone = Unicode("UTC", help="in which dates are read and shown").tag(config=True)

    @property
    def project(self) -> Project:
        """The project, with the instructor's own checkpoints of this course directory."""
        return Project(Path(self.project_root), own=Path(self.course_root).absolute() / "checkpoints")

    def lesson(self, resources: dict) -> str:
        """The lesson of the notebook being marked."""
        return resources["nbgrader"]["assignment"]

    def ours(self, resources: dict) -> bool:
        """Whether this notebook is a checkpoint of the course. The steps leave other notebooks as they are."""
        lesson, name = self.lesson(resources), resources["nbgrader"]["notebook"]
        return name in checkpoint_names(lesson) and self.project.checkpoint_source(lesson).exists()

    def language(self, notebook: NotebookNode) -> str:
        """The language of the submission, "en" or "zh"."""
        return language_of(notebook, self.course_language)


def language_of(notebook: NotebookNode | None, otherwise: str) -> str:
    """The language in a notebook's metadata; ``otherwise`` where it names none."""
    said = notebook.metadata.get("course") if notebook is not None else None
    code = said.get("language") if isinstance(said, dict) else None
    return code if code in LANGUAGES else otherwise


def state(notebook: NotebookNode) -> NotebookNode:
    """The part of the notebook's metadata that the grader writes; made if it is missing.

    answers: item -> answer. notes: each a ``reason`` (a code) and its text in both languages. happened: words of ``said.WORDS``.
    Added by marking: ``verdict``, the gravest of these words; ``verdicts``: graded cell -> its ``state`` and ``name``, the ``key``
    of its question or the id of its task ("" where the answers were lost), what was ``wrong`` (options, beliefs behind a number, parts
    of a task) and the ``beliefs`` that it stands for; and more.
    """
    return notebook.metadata.setdefault(STATE, NotebookNode(answers={}, notes=[], happened=[]))


def note(notebook: NotebookNode, reason: str, text: Text) -> None:
    """Add a sentence about this submission to the feedback and the summary. reason: its code.

    Names that a student chose (of an item, a file) are made printable.
    """
    said = {code: printable(pick(text, code)) for code in LANGUAGES}
    state(notebook)["notes"].append({"reason": reason, **said})


def notes(notebook: NotebookNode, language: str) -> list[str]:
    """The sentences noted about this submission, in one language."""
    return [pick(text, language) for text in notebook.metadata.get(STATE, {}).get("notes", [])]


def reasons(notebook: NotebookNode) -> list[str]:
    """The codes of the sentences noted about this submission; "" where an earlier version of the grader wrote none."""
    return [text.get("reason", "") for text in notebook.metadata.get(STATE, {}).get("notes", [])]


def grade_id(cell: NotebookNode) -> str | None:
    """The grade id of a cell; None where its metadata has none or is damaged."""
    data = cell.get("metadata", {}).get("nbgrader")
    identity = data.get("grade_id") if isinstance(data, dict) else None
    return identity if isinstance(identity, str) else None
