"""Mark a class: send submissions to the workers and write their marks into the gradebook, each exactly once.

It can be stopped or killed at any moment; the next run continues. A submission counts as marked when its graded
notebook is in ``autograded/``; the notebook is moved there in one step after the marks are in the gradebook.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from nbgrader.utils import rmtree
from tqdm import tqdm

from grader.course import Course
from grader.course.gradebook import GradebookWriter
from grader.course.marks import CellMark, cell_marks, differences
from grader.handin.guard import guarded
from grader.handin.importing import INCOMING
from grader.handin.reading import Submission, handed_in
from grader.marking import held, mark_submission, pool
from grader.marking.outcomes import Outcome, outcomes, state_of
from grader.project import ProjectError
from grader.project.dates import timestamp_of
from grader.project.files import locked
from grader.project.names import printable
from grader.sandbox.launch import out_of_sight, unenforced

Say = Callable[[str], None]


@dataclass(frozen=True)
class How:
    """How to mark. jobs: processes on this machine; cluster: the address of a Dask scheduler to use instead; again: mark
    submissions that are marked already, too, and say which marks differ; accept: students whose submission is no longer held
    back, because the instructor has looked at it.
    """

    jobs: int = 1
    cluster: str | None = None
    again: bool = False
    accept: frozenset[str] = frozenset()


def autograde(
    course: Course, lesson: str, students: Iterable[str] | None = None, how: How | None = None, say: Say = print
) -> list[Outcome]:
    """Mark every submission that is new or has changed. Returns the outcome for each student; ``say`` gets a sentence for each
    problem.

    students: None for all. Raises ProjectError for a student without a submission, after a killed import, and while another run marks,
    Infrastructure where nothing can be marked (no sandbox, no release, a course that submissions could read).
    """
    how, there = how or How(), course.submitted(lesson)
    chosen = there if students is None else sorted(set(students))
    if strangers := sorted({*chosen, *how.accept} - set(there)):
        raise ProjectError(f"{', '.join(strangers)}: no submission of {lesson}; there are {', '.join(there) or 'none'}")
    if (course.root / INCOMING).exists():  # a hand-in may be in earlier/ alone
        raise ProjectError(f"an import into {course.root} did not come to its end, or runs; run it again, then mark")
    out_of_sight(course.root, Path(course.config.Exchange.root))
    if how.cluster is None:
        for sentence in unenforced():
            say(sentence)
        pool.prepare(how.jobs)
    failed: dict[str, str] = {}
    taken = f"another run is marking in {course.root}; wait until it is done, or stop it"
    workers = pool.Scheduler(how.cluster) if how.cluster is not None else pool.Machine(how.jobs)
    with locked(course.root / "autograde.lock", taken), GradebookWriter(course, lesson) as gradebook, closing(workers):
        exam = mark_submission.exam(course.root, course.project, lesson, course.language)
        before = cell_marks(course, lesson)
        if how.again:
            say(_keep_copy(course))

        def lose(student: str, problem: str) -> None:
            failed[student] = problem
            say(f"{student}: no grade: {problem}")
            withdraw(course, lesson, gradebook, student)

        todo = _todo(course, chosen, before, how, exam, lose)
        with tqdm(total=len(chosen), desc=lesson, unit="submission", disable=not sys.stderr.isatty()) as bar:
            for submission, answer in pool.mark_all(workers, todo, exam):
                with guarded(submission.student, lose):
                    if isinstance(answer, str):
                        lose(submission.student, answer)
                    else:
                        store(course, lesson, gradebook, answer, submission)
                        _say_after(course, lesson, submission, how, say)
                bar.update()
        if how.again:
            changed = differences(before, cell_marks(course, lesson))
            for sentence in [*changed, f"{lesson}: marked again, marks that differ: {len(changed)}"]:
                say(sentence)
    return outcomes(course, lesson, failed)


def _say_after(course: Course, lesson: str, submission: Submission, how: How, say: Say) -> None:
    """Write down that the instructor has looked at the submission, and say where its time stamp cannot be read."""
    if submission.student in how.accept:
        held.accept(course.root, lesson, submission.student, submission.digest)
    if submission.when.strip() and timestamp_of(submission.when) is None:
        say(
            f"{submission.student}: timestamp.txt cannot be read ({printable(submission.when[:60])}), so nothing is taken for "
            "lateness; write it like 2026-12-01 22:59:00 UTC"
        )


def _keep_copy(course: Course) -> str:
    """Copy the gradebook beside itself; returns a sentence that says where, or that it lies in a database that is not a file."""
    with course.gradebook as gradebook:
        place = gradebook.engine.url.database if gradebook.engine.name == "sqlite" else None
    if place is None:
        return "the gradebook is no file here, so no copy of it was made"
    copy = course.root / f"gradebook-{datetime.now():%Y-%m-%d-%H%M%S}.db"
    shutil.copy2(place, copy)
    return f"the gradebook as it was: {copy}"


def _todo(
    course: Course,
    students: list[str],
    marks: dict[str, dict[str, CellMark]],
    how: How,
    exam: mark_submission.Exam,
    lose: Callable[[str, str], None],
) -> Iterator[Submission]:
    """Read the submissions that must be marked, one at a time. Calls ``lose(student, why)`` for one that cannot be read.

    marks: of the gradebook; who has none there is marked again, for example after the gradebook was lost. So is a submission of
    which anything changed that its mark depends on: a file, the paper it was answered on, whether it was accepted.
    """
    looked = held.accepted(course.root, exam.lesson)
    known = {student for student, cells in marks.items() if any(mark.auto is not None for mark in cells.values())}
    for student in students:
        submission = None
        with guarded(student, lose):
            submission = handed_in(course.root, exam.lesson, student)
            accepted = student in how.accept or looked.get(student) == submission.digest
            submission = replace(submission, looked=accepted)
            state = state_of(course, student, exam.lesson)
            rests_on = (submission.digest, exam.paper(student), accepted)
            same = rests_on == (state.get("submission"), state.get("paper", ""), state.get("accepted", False))
            if same and not how.again and (state.get("held") or student in known):
                submission = None
        if submission is not None:
            yield submission


def store(
    course: Course, lesson: str, gradebook: GradebookWriter, marked: mark_submission.Marked, submission: Submission
) -> None:
    """Write the marks into the gradebook, then the graded notebook and the files beside it into ``autograded/``."""
    gradebook.write(marked.student, marked.scores, marked.comments, submission.when)
    path = course.autograded(marked.student, lesson)
    fresh = path.parent.with_name(f".new-{lesson}")
    if fresh.exists():
        rmtree(fresh)
    for name, data in submission.files.there.items():
        if "/" in name or not name.endswith(".ipynb"):  # nbgrader would take any other notebook there for a marked one
            with suppress(OSError):  # a name too long for one more folder
                _write(fresh / name, data)
    _write(fresh / path.name, marked.notebook.encode())
    if path.parent.exists():
        rmtree(path.parent)
    os.replace(fresh, path.parent)


def withdraw(course: Course, lesson: str, gradebook: GradebookWriter, student: str) -> None:
    """Remove the marks and the graded notebook of a submission that could not be marked."""
    gradebook.withdraw(student)
    if (place := course.autograded(student, lesson).parent).exists():
        rmtree(place)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o444)
