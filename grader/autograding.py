"""Mark a class: submissions out to the workers, marks into the gradebook, each exactly once.

Stop it at any moment, kill it, switch the machine off: run it again and it goes on. A submission counts as marked
when its graded notebook lies in ``autograded/``; that is put there, whole, after its marks are in the gradebook.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.utils import rmtree
from tqdm import tqdm

from grader import pool
from grader.authoring.publish import text_of
from grader.course import Course, command
from grader.files import MOST_BYTES, locked, unlock
from grader.files import replace as write_over
from grader.gradebook import GradebookWriter
from grader.guard import STEP_S, TOO_LONG, guarded
from grader.ingest import name_copies, reason_of, take_in, timestamp_of
from grader.late_rules import read_rules
from grader.marking import held, whole
from grader.marking.step import STATE, printable
from grader.pipeline import Outcome, graded_notebook, outcomes
from grader.project import ProjectError
from grader.sandbox.launch import out_of_sight, unenforced
from grader.sandbox.limits import Limits

Say = Callable[[str], None]
UNSAFE = (
    "WARNING: no sandbox. Student code runs with your rights: it can read your files, keys and the gradebook, "
    "and use the network. This is written into every graded notebook."
)


@dataclass(frozen=True)
class How:
    """jobs: processes on this machine; cluster: address of a Dask scheduler instead, over ``tls``; again: also what
    is marked; accept: students whose submission was held back, and whom somebody has looked at.
    """

    jobs: int = 1
    cluster: str | None = None
    again: bool = False
    sandbox: bool = True
    tls: pool.Tls | None = None
    accept: frozenset[str] = frozenset()


def autograde(
    course: Course, lesson: str, students: Iterable[str] | None = None, how: How | None = None, say: Say = print
) -> list[Outcome]:
    """Mark every submission that is not marked yet, or was handed in anew; a sentence for each problem.

    Raises ProjectError for a student without a submission and while another run is under way, Infrastructure where
    nothing can be marked at all (no sandbox, no release).
    """
    how, there = how or How(), course.submitted(lesson)
    chosen = there if students is None else sorted(set(students))
    if strangers := sorted({*chosen, *how.accept} - set(there)):
        raise ProjectError(f"{', '.join(strangers)}: no submission of {lesson}; there are {', '.join(there) or 'none'}")
    check_late_rules(course, say)  # a fault there is said before the first submission
    if not how.sandbox:
        say(UNSAFE)
    else:
        out_of_sight(course.root, Path(course.config.Exchange.root))
        for sentence in unenforced() if how.cluster is None else ():
            say(sentence)
    if how.cluster is None:
        pool.prepare(how.jobs, how.sandbox)
    failed: dict[str, str] = {}
    with alone(course), _gradebook(course, lesson) as gradebook, workers(how) as run:
        released = course.root / "release" / lesson / f"{lesson}.ipynb"
        exam = whole.exam(course.root, course.project, lesson, course.language, released, limits(course), how.sandbox)
        whens: dict[str, str] = {}

        def lose(student: str, problem: str) -> None:
            failed[student] = problem
            say(f"{student}: no grade: {problem}")

        def unread(student: str, problem: str) -> None:
            lose(student, keep(course, lesson, gradebook, student, problem, ""))

        known = set() if how.again else gradebook.known()
        again = {*chosen} if how.again else {*how.accept, *exam.moved}

        def go(students: list[str], bar: tqdm) -> None:
            for student, answer in run(_todo(course, lesson, students, known, how.accept, again, whens, unread), exam):
                when, problem = whens.pop(student), None
                with guarded(student, unread):
                    problem = keep(course, lesson, gradebook, student, answer, when)
                if student in how.accept and not problem:
                    digest = _state(course, student, lesson)["submission"]
                    held.accept(course.root, lesson, student, digest)
                if problem:
                    lose(student, problem)
                elif when.strip() and timestamp_of(when) is None:
                    say(
                        f"{student}: timestamp.txt cannot be read ({printable(when[:60])}), so nothing is taken for lateness; "
                        "write it like 2026-12-01 22:59:00 UTC"
                    )
                bar.update()

        with tqdm(total=len(chosen), desc=lesson, unit="submission", disable=not sys.stderr.isatty()) as bar:
            go(chosen, bar)
        for student in [name for name, problem in failed.items() if TOO_LONG.format(STEP_S) in problem]:
            del failed[student]  # a slow moment of this machine costs nobody the grade: once more, alone
            go([student], tqdm(disable=True))
            if student in failed:
                failed[student] += (
                    f"; twice. Try {command(f'autograde {lesson} --student {student}', course.root)} later"
                )
        hold_copies(course, lesson, gradebook, failed)
    return outcomes(course, lesson, failed)


def limits(course: Course) -> Limits:
    """What a submission may use, from the settings in nbgrader_config.py (``c.CourseExecute...``)."""
    said, usual = course.config.CourseExecute, Limits()
    return Limits(
        cell_s=said.get("timeout", usual.cell_s),
        total_s=said.get("total_timeout", usual.total_s),
        output_chars=said.get("max_output", usual.output_chars),
        memory_mb=said.get("memory_mb", usual.memory_mb),
    )


def check_late_rules(course: Course, say: Say) -> None:
    """Read ``late.yaml`` beside the class. Raises ProjectError for a fault; says whose extension is nobody's."""
    with course.gradebook as gradebook:
        released = [assignment.name for assignment in gradebook.assignments]
        rules = read_rules(course.root, {*course.project.checkpoints(), *released})
        if rules.extensions:
            known = {student.id for student in gradebook.students} | {
                path.name for path in course.root.glob("submitted/*")
            }
            if strangers := sorted({one.student for one in rules.extensions} - known):
                say(
                    f"late.yaml gives more time to {', '.join(strangers)}, who handed in nothing so far: are the names right?"
                )


@contextmanager
def alone(course: Course) -> Iterator[None]:
    """One writer for each gradebook. Raises ProjectError while there is another."""
    with locked(
        course.root / "autograde.lock", f"another run is marking in {course.root}; wait until it is done, or stop it"
    ):
        yield


@contextmanager
def _gradebook(course: Course, lesson: str) -> Iterator[GradebookWriter]:
    gradebook = GradebookWriter(course, lesson)
    try:
        yield gradebook
    finally:
        gradebook.close()


@contextmanager
def workers(how: How) -> Iterator[Callable]:
    """What takes submissions and gives answers."""
    if how.cluster is not None:
        cluster = pool.Cluster(how.cluster, how.tls)
        try:
            yield pool.undisturbed(cluster.run)
        finally:
            cluster.close()
    else:
        yield pool.undisturbed(pool.here if how.jobs == 1 else pool.Local(how.jobs, how.sandbox).run)


def _todo(
    course: Course,
    lesson: str,
    students: list[str],
    known: set[str],
    accept: frozenset[str],
    again: set[str],
    whens: dict[str, str],
    unread: Callable[[str, str], None],
) -> Iterator[whole.Submission]:
    """The submissions to be marked, read one at a time; ``unread`` is told of those that cannot be read, and why.

    known: whose marks the gradebook holds; where it was lost or put back from a copy, the rest is marked again. accept: whose
    submissions are marked as they are from now on; again: who is marked once more although the marks are held back.
    """
    looked = held.accepted(course.root, lesson)
    for student in students:
        submission = None
        with guarded(student, unread):
            submission = read_submission(course, lesson, student)
            submission = replace(submission, looked=student in accept or looked.get(student) == submission.digest)
            state = _state(course, student, lesson)
            if state.get("submission") == submission.digest:  # this very submission is marked, or held back still
                done = student not in again if state.get("held") else student in known
                submission = None if done else submission
        if submission is not None:
            whens[student] = submission.when
            yield submission


def read_submission(course: Course, lesson: str, student: str) -> whole.Submission:
    """One submission; where there is no notebook that can be read, what stands in for it. Raises OSError."""
    folder = course.root / "submitted" / student / lesson
    path = folder / f"{lesson}.ipynb"
    unlock(folder.parent)
    unlock(folder)
    unlock(path)
    if (
        folder.parent.is_symlink()
        or folder.is_symlink()
        or path.is_symlink()
        or not path.is_file()
        or path.stat().st_size > MOST_BYTES
    ):
        take_in(course.root, course.project, lesson, student)
    elif len(list(folder.glob("*.ipynb"))) > 1:
        name_copies(course.root, student, lesson)
    return whole.read(folder, lesson, student, reason_of(course.root, student, lesson))


def _state(course: Course, student: str, lesson: str) -> dict:
    """Our record in the graded notebook; empty where there is none."""
    notebook = graded_notebook(course, student, lesson)
    return notebook.metadata.get(STATE, {}) if notebook is not None else {}


def hold_copies(course: Course, lesson: str, gradebook: GradebookWriter, failed: dict[str, str]) -> None:
    """Hold back the marks of submissions that differ in nothing but whose they are, unless somebody has looked at them."""
    alike: dict[str, list[str]] = {}
    looked = held.accepted(course.root, lesson)
    for student in course.submitted(lesson):
        with guarded(student, failed.setdefault):
            state = _state(course, student, lesson)
            if state.get("print") and not state.get("others"):  # those say themselves whose they are
                alike.setdefault(state["print"], []).append(student)
    for students in alike.values():
        for student in students if len(students) > 1 else ():
            with guarded(student, failed.setdefault):
                notebook = graded_notebook(course, student, lesson)
                state = notebook.metadata[STATE]
                if not state.get("held") and looked.get(student) != state.get("submission"):
                    held.hold(notebook, "copy", held.COPY)
                    state["alike"] = [other for other in students if other != student]
                    gradebook.withdraw(student)
                    path = course.autograded(student, lesson)
                    write_over(course.root, path, text_of(notebook).encode())
                    path.chmod(0o444)


def keep(
    course: Course, lesson: str, gradebook: GradebookWriter, student: str, answer: whole.Marked | str, when: str
) -> str | None:
    """Marks first, then the graded notebook; returns why there is no grade, or None."""
    place = course.autograded(student, lesson).parent
    if isinstance(answer, str):
        gradebook.withdraw(student)
        if place.exists():
            rmtree(place)
        return answer
    folder = course.root / "submitted" / student / lesson
    notebook = answer.notebook
    if answer.reason is not None:
        take_in(course.root, course.project, lesson, student)  # keeps the damaged bytes, puts something sound there
        now = whole.read(folder, lesson, student).digest  # of what lies there from now on: it is marked
        notebook = notebook.replace(answer.digest, now)
    gradebook.write(answer, when)
    fresh = place.with_name(f".new-{lesson}")
    if fresh.exists():
        rmtree(fresh)
    for name, data in whole.beside(folder).items():
        if "/" in name or not name.endswith(".ipynb"):  # nbgrader takes each notebook there for a marked one
            with suppress(OSError):  # a name too long for one more folder
                _write(fresh / name, data)
    _write(fresh / f"{lesson}.ipynb", notebook.encode())
    if place.exists():
        rmtree(place)
    os.replace(fresh, place)
    return None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o444)
