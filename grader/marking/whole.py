"""Mark one submission: ``mark`` takes its bytes and returns a graded notebook and marks.

``mark`` reads keys and tasks from the checkout and writes no file, so it may run in any process, on any
machine with the same checkout, and again after a failure.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import LimitOutput

from course.i18n import Text
from grader.answers import keyed_items
from grader.authoring.publish import text_of
from grader.course import command
from grader.ingest import MISSING, REPLACED, beside, examine, joined
from grader.marking.harvest import take_answers
from grader.marking.hidden_inputs import content, draw, secret
from grader.marking.mark import mark_cells
from grader.marking.outputs import sayable
from grader.marking.repair import repair
from grader.marking.running import Run
from grader.marking.step import language_of, state
from grader.papers import answered_papers, paper_of
from grader.project import HERE, Infrastructure, Project
from grader.sandbox.limits import Limits
from grader.sandbox.shared import shared
from grader.task import tasks


@dataclass(frozen=True)
class Exam:
    """What all submissions of a checkpoint have in common.

    project_root: "" for the checkout that this code is in; released: the text of the released notebook; key: the secret that
    hidden inputs are drawn with; sandbox: False only where the instructor said so; own: the folder of the instructor's own
    checkpoints, or "". answered_papers: student -> the id whose paper this student answered by mistake.
    """

    lesson: str
    language: str
    project_root: str
    released: str
    key: bytes
    limits: Limits = Limits()
    sandbox: bool = True
    own: str = ""
    answered_papers: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def project(self) -> Project:
        return Project(Path(self.project_root) if self.project_root else HERE, own=Path(self.own) if self.own else None)


@dataclass(frozen=True)
class Submission:
    """What one student handed in: the notebook's bytes, the other files by relative path, and the time stamp.

    reason: what was wrong with the file, where it was replaced when it came in. looked: the instructor has accepted it, so
    nothing is held back.
    """

    student: str
    data: bytes
    files: dict[str, bytes]
    when: str
    reason: Text | None = None
    looked: bool = False

    @property
    def digest(self) -> str:
        """A hash of everything that was handed in."""
        whole = hashlib.sha256(self.data)
        for name, data in sorted(self.files.items()):
            whole.update(f"\0{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
        return whole.hexdigest()


@dataclass(frozen=True)
class Marked:
    """The result of marking one submission.

    notebook: the text of the graded notebook. scores: grade id -> points, None where a person must give them. comments: grade
    id -> nbgrader's automatic comment or None. digest: of the submission. reason: why the notebook could not be read
    as it was. seconds: wall time, ``running`` of them in the kernel. disturbed: it ran out of time while other programs
    used the processors.
    """

    student: str
    notebook: str
    scores: dict[str, float | None]
    comments: dict[str, str | None]
    digest: str
    reason: Text | None
    seconds: float
    running: float
    disturbed: bool = False


def exam(course_root: Path, project: Project, lesson: str, language: str, limits: Limits, sandbox: bool) -> Exam:
    """Read what all submissions have in common. Raises Infrastructure where the checkpoint was not released."""
    elsewhere = "" if project.root.resolve() == HERE else str(project.root)
    return Exam(
        lesson,
        language,
        elsewhere,
        released(course_root, lesson),
        secret(course_root),
        limits,
        sandbox,
        str(project.own) if project.own_folder(lesson) else "",
        answered_papers(course_root, lesson),
    )


def released(course_root: Path, lesson: str) -> str:
    """The text of the released checkpoint. Raises Infrastructure where it was not released."""
    path = course_root / "release" / lesson / f"{lesson}.ipynb"
    if not path.exists():
        raise Infrastructure(f"{path} is missing; run {command('release ' + lesson, course_root)} first")
    return path.read_text(encoding="utf-8")


def read(folder: Path, lesson: str, student: str, reason: Text | None = None) -> Submission:
    """Read the submission in ``folder``. A notebook that is missing, or a link, is read as no bytes."""
    files = beside(folder, first=(f"{lesson}.ipynb", f"{lesson}.answers.json", "timestamp.txt"))
    when = files.get("timestamp.txt", b"").decode("utf-8", "replace")
    return Submission(student, files.pop(f"{lesson}.ipynb", b""), files, when, reason)


def mark(submission: Submission, exam: Exam) -> Marked:
    """Mark one submission. Raises Infrastructure only for failures that are not the student's."""
    started = monotonic()
    project, released = exam.project, _notebook(exam.released)
    nb, reason = examine(submission.data)
    if nb is None:
        nb = nbformat.reads(exam.released, as_version=4)
        reason = joined(reason if submission.data else submission.reason or MISSING, REPLACED)
    reason = reason or submission.reason
    language, hidden = language_of(nb, exam.language), tasks(project, exam.lesson)
    sidecar = submission.files.get(f"{exam.lesson}.answers.json")
    take_answers(nb, None if sidecar is None else sidecar.decode("utf-8", "replace"), exam.lesson, reason)
    repair(nb, released, language)
    _clear(nb, released)
    given = content(nb, submission.files, exam.lesson)
    paper = paper_of(released, exam.lesson, submission.student, exam.answered_papers)
    drawn = draw(hidden, exam.key, exam.lesson, submission.student, submission.when, given)
    run, before = Run(nb, hidden, drawn, language, exam.limits), monotonic()
    run.go(shared(exam.sandbox), working_files(submission.files, exam, released))
    running = monotonic() - before
    nb, _ = LimitOutput().preprocess(nb, {})
    items = keyed_items(project, exam.lesson, paper)
    mark_cells(nb, items, hidden, run.found(), language, paper, submission.looked, submission.student)
    state(nb).update(submission=submission.digest, sandbox=exam.sandbox)
    scores, comments = _marks(nb)
    if state(nb).get("held"):
        scores, comments = dict.fromkeys(scores), dict.fromkeys(comments)
    text = sayable(text_of(nb))
    return Marked(
        submission.student,
        text,
        scores,
        comments,
        submission.digest,
        reason,
        monotonic() - started,
        running,
        run.disturbed,
    )


def working_files(files: dict[str, bytes], exam: Exam, released: NotebookNode) -> dict[str, bytes]:
    """The files for the kernel's working folder: those handed in and, for an instructor's own checkpoint, a notebook with its
    questions, which no package contains.
    """
    if not exam.own:
        return files
    questions = {"cells": [], "metadata": {"course": released.metadata["course"]}, "nbformat": 4, "nbformat_minor": 5}
    return {**files, f"{exam.lesson}.ipynb": json.dumps(questions).encode("utf-8")}


@functools.lru_cache(maxsize=8)
def _notebook(text: str) -> NotebookNode:
    return nbformat.reads(text, as_version=4)


def _clear(nb: NotebookNode, released: NotebookNode) -> None:
    """Remove the student's outputs, and take the kernel of the release."""
    if "kernelspec" in released.metadata:
        nb.metadata["kernelspec"] = released.metadata.kernelspec
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def _marks(nb: NotebookNode) -> tuple[dict[str, float | None], dict[str, str | None]]:
    """(scores, comments) of the marked cells, read by nbgrader's own rules."""
    scores, comments = {}, {}
    for cell in nb.cells:
        if utils.is_grade(cell):
            points, top = utils.determine_grade(cell)
            if utils.is_solution(cell):  # marked by hand; untouched, it is worth nothing
                scores[cell.metadata.nbgrader.grade_id] = points
                comments[cell.metadata.nbgrader.grade_id] = "No response." if points == 0 else None
                continue
            if points is None or not (math.isfinite(points) and 0 <= points <= top):
                raise Infrastructure(f"the mark of {cell.metadata.nbgrader.grade_id!r} is {points!r}")
            scores[cell.metadata.nbgrader.grade_id] = float(points)
        if utils.is_solution(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comments[cell.metadata.nbgrader.grade_id] = "No response." if untouched else None
    return scores, comments
