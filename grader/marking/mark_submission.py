"""Mark one submission: ``mark`` takes its bytes and returns a graded notebook and marks.

``mark`` reads keys and tasks from the checkout and writes no file, so it may run in any process, on any
machine with the same checkout, and again after a failure.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import LimitOutput

from course.core.catalog import checkpoint_names
from grader.course import released_text
from grader.handin.answers import keyed_items
from grader.handin.papers import answered_papers, other_salts, paper_of, papers_answered, released_salt, salts_of
from grader.handin.reading import Files, Reading, Submission, read
from grader.handin.sentences import said
from grader.marking.machine import lacking
from grader.marking.mark_cells import Circumstances, mark_cells
from grader.marking.outputs import sayable
from grader.marking.probe import content, draw, secret
from grader.marking.restored_cells import restore_cells
from grader.marking.running import Run
from grader.marking.step import STATE, language_of, note, state
from grader.project import HERE, Project
from grader.project.build import answer_id, text_of
from grader.project.task import tasks
from grader.sandbox.limits import Limits
from grader.sandbox.warm import shared

PROGRAM = (
    *("grader/marking", "grader/lessons", "grader/handin", "grader/project", "grader/course"),
    *("course/questions", "course/learning"),
)
LENGTH = 16  # hex digits


@dataclass(frozen=True)
class Exam:
    """What all submissions of a checkpoint have in common.

    project_root: "" for the checkout that this code is in; released: the text of the released notebook; key: the secret that
    hidden inputs are drawn with; own: the folder of the instructor's own checkpoints, or "". answered_papers: student -> the id
    whose paper this student answered by mistake. questions: a hash of the files with questions, keys and tests, so that marks of two
    keys do not stand side by side unseen. salts: of other releases whose notebooks are marked on their own papers. program: a hash
    of the code that marks.
    """

    lesson: str
    language: str
    project_root: str
    released: str
    key: bytes
    own: str = ""
    answered_papers: Mapping[str, str] = field(default_factory=dict, hash=False)
    questions: str = ""
    salts: tuple[str, ...] = ()
    program: str = ""
    limits: Limits = Limits()

    def paper(self, student: str) -> str:
        """What the instructor has said about the paper of a student, "" for nothing: where it changes, the mark may."""
        return " ".join(filter(None, (self.answered_papers.get(student, ""), *self.salts)))

    @property
    def project(self) -> Project:
        return Project(Path(self.project_root) if self.project_root else HERE, own=Path(self.own) if self.own else None)


@dataclass(frozen=True)
class Marked:
    """The result of marking one submission.

    notebook: the text of the graded notebook. scores: grade id -> points, None where a person must give them. comments: grade
    id -> nbgrader's automatic comment or None. digest: of the submission.
    """

    student: str
    notebook: str
    scores: dict[str, float | None]
    comments: dict[str, str | None]
    digest: str


def exam(course_root: Path, project: Project, lesson: str, language: str) -> Exam:
    """Read what all submissions have in common. Raises Infrastructure where the checkpoint was not released."""
    elsewhere = "" if project.root.resolve() == HERE else str(project.root)
    return Exam(
        lesson,
        language,
        elsewhere,
        released_text(course_root, lesson),
        secret(course_root),
        str(project.own) if project.own_folder(lesson) else "",
        answered_papers(course_root, lesson),
        of_questions(project, lesson),
        other_salts(course_root),
        of_program(),
    )


def of_questions(project: Project, lesson: str) -> str:
    """A hash of the files that hold the questions, keys, points and hidden tests of a checkpoint."""
    files = (
        project.checkpoint_source(lesson),
        project.checkpoint_items(lesson),
        project.keys(lesson),
        project.task_module(lesson),
        *(project.task_module(lesson).with_name(f"{name}.yaml") for name in ("tasks", "report")),
    )
    return _hash(path.read_bytes() if path.exists() else b"" for path in files)


@functools.cache
def of_program() -> str:
    """A hash of the code that marks."""
    paths = (path for name in PROGRAM for path in sorted(HERE.glob(f"{name}/*.py")))
    return _hash(path.read_bytes() for path in paths)


def _hash(texts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for text in texts:
        whole.update(len(text).to_bytes(8, "big") + text)
    return whole.hexdigest()[:LENGTH]


def mark(submission: Submission, exam: Exam) -> Marked:
    """Mark one submission. Raises Infrastructure only for failures that are not the student's."""
    project, released = exam.project, _notebook(exam.released)
    reading = read(submission.files, exam.lesson, exam.released)
    nb = reading.notebook
    language, hidden = language_of(nb, exam.language), tasks(project, exam.lesson)
    _begin(nb, reading, released)
    restore_cells(nb, released, language, {answer_id(one): task.name for one, task in hidden.items()})
    given = content(nb, submission.files.there, exam.lesson)
    varying = papers_answered(reading.answers, keyed_items(project, exam.lesson))
    others = salts_of(nb, [reading.answers[name] for name in varying]) - {released_salt(released)}
    strange, elsewhere = others - {*exam.salts}, min(others & {*exam.salts}, default="")
    paper = paper_of(released, exam.lesson, submission.student, exam.answered_papers, elsewhere)
    drawn = draw(hidden, exam.key, exam.lesson, submission.student, submission.when, given)
    run = Run(nb, hidden, drawn, language, exam.limits)
    run.go(shared(), working_files(reading.files, exam, released))
    nb, _ = LimitOutput().preprocess(nb, {})
    items = keyed_items(project, exam.lesson, paper)
    lacks = lacking(nb, run.raised, Files(reading.files, submission.files.unread))
    held = reading.held or (("other-release", said("other_release")) if strange else None)
    known = Circumstances(language, paper, submission.looked, held, lacks, bool(run.raised))
    scores, comments = mark_cells(nb, items, hidden, run.found(), known)
    state(nb).update(submission=submission.digest, accepted=submission.looked)
    state(nb).update(questions=exam.questions, paper=exam.paper(submission.student))
    text = sayable(text_of(nb))
    return Marked(submission.student, text, scores, comments, submission.digest)


def _begin(nb: NotebookNode, reading: Reading, released: NotebookNode) -> None:
    """Store what was read in the notebook's metadata, and take the kernel of the release."""
    nb.metadata.pop(STATE, None)  # a student may have written there
    said = state(nb)
    for reason, sentence in reading.said:
        note(nb, reason, sentence)
    if reading.damaged and reading.said:
        said["happened"].append("damaged")
    said.update(
        answers=NotebookNode(reading.answers), sheet=reading.sheet, lost=not reading.name, name=sayable(reading.name)
    )
    if "kernelspec" in released.metadata:
        nb.metadata["kernelspec"] = released.metadata.kernelspec


def working_files(files: dict[str, bytes], exam: Exam, released: NotebookNode) -> dict[str, bytes]:
    """The files for the kernel's working folder: those handed in and, for an instructor's own checkpoint, a notebook with its
    questions, which no package contains.
    """
    if not exam.own:
        return files
    questions = {"cells": [], "metadata": {"course": released.metadata["course"]}, "nbformat": 4, "nbformat_minor": 5}
    return {**files, f"{checkpoint_names(exam.lesson)[0]}.ipynb": json.dumps(questions).encode("utf-8")}


@functools.lru_cache(maxsize=8)
def _notebook(text: str) -> NotebookNode:
    return nbformat.reads(text, as_version=4)
