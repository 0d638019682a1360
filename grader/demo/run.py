"""The demonstration: release, hand in, collect, autograde, feedback, export; then points beside what was deserved.

The nine who are named for what they do hand in through nbgrader's exchange, everybody else by folder, as from an LMS.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from time import monotonic

import nbformat
from nbgrader.utils import temp_attrs

from course.questions.items import Item
from course.units import format_points
from grader import pipeline
from grader.answers import keyed_items
from grader.autograding import How, autograde
from grader.course import Course, init
from grader.demo.handin import work
from grader.demo.people import attempts
from grader.demo.students import CLASS, Student, deserved
from grader.papers import paper_of
from grader.pool import cores
from grader.project import Project, ProjectError
from grader.reporting.write import write_report
from grader.task import tasks

MARK = "made-by-grader-demo"  # only a folder with this file is ever cleared
Say = Callable[[str], None]


def demo(
    root: Path,
    language: str = "en",
    project: Project | None = None,
    lessons: Iterable[str] | None = None,
    students: tuple[Student, ...] = CLASS,
    say: Say = print,
) -> list[str]:
    """Take a class through every checkpoint; returns a sentence for each difference from what was deserved.

    Raises ProjectError if ``root`` holds something else or there is no checkpoint.
    """
    project, started = project or Project(), monotonic()
    chosen = list(lessons or project.checkpoints())
    if not chosen or set(chosen) - set(project.checkpoints()):
        raise ProjectError(
            f"no such checkpoint to demonstrate with; there are {', '.join(project.checkpoints()) or 'none'}"
        )
    course = _fresh(root, language, project)
    differences: list[str] = []
    for lesson in chosen:
        say(f"--- {lesson}: release, fetch, work, submit ({monotonic() - started:.0f} s)")
        pipeline.release(course, lesson)
        due = _set_due(course, lesson)
        for student in students:
            if through_exchange(student):
                hand_in(course, lesson, student)
            else:
                put_in(course, lesson, student, due)
        say(f"--- {lesson}: collect and autograde ({monotonic() - started:.0f} s)")
        pipeline.collect(course, lesson)
        found = autograde(course, lesson, how=How(cores()), say=say)
        if held := [one.student for one in found if one.reason == "held"]:
            say(f"--- {lesson}: held back until somebody has looked, here at once: {', '.join(held)}")
            found = autograde(course, lesson, how=How(cores(), accept=frozenset(held)), say=say)
        say(f"--- {lesson}: feedback ({monotonic() - started:.0f} s)")
        lost = pipeline.feedback(course, lesson, _unless("hand in through the exchange", say))
        differences += [f"{lesson}: no feedback for {name}" for name in lost]
        differences += [
            f"{lesson}: {student.name} got no feedback through the exchange"
            for student in students
            if through_exchange(student) and not fetch_feedback(course, lesson, student)
        ]
        say("\n" + pipeline.summary(found) + "\n")
        differences += compare(course, lesson, students, say)
    pipeline.export(course, course.root / "grades.csv", course.root / "grades-by-cell.csv")
    _show(course, chosen, students, say)
    say(f"done in {monotonic() - started:.0f} s")
    return differences


def _unless(words: str, say: Say) -> Say:
    """``say``, but not for lines with these words in them."""
    return lambda line: None if words in line else say(line)


def through_exchange(student: Student) -> bool:
    """Whether this student fetches and submits with nbgrader; the others hand in by folder."""
    return student.person is None


def _set_due(course: Course, lesson: str) -> datetime:
    """Tomorrow, as nbgrader keeps time (UTC without a zone); whoever is late hands in the day after."""
    due = (datetime.now(timezone.utc) + timedelta(days=1)).replace(tzinfo=None, microsecond=0)
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(lesson, duedate=due)
    return due


def _show(course: Course, lessons: list[str], students: tuple[Student, ...], say: Say) -> None:
    """What there is to look at now."""
    one = next((student.name for student in students if student.name == "partly"), students[0].name)
    say(
        f"to look at, in {course.root}:\n  grades.csv, grades-by-cell.csv   the marks\n"
        f"  autograded/{one}/{lessons[0]}/{lessons[0]}.ipynb   a graded notebook\n"
        f"  feedback/{one}/{lessons[0]}/{lessons[0]}.html   what the student gets to see\n"
        "  damaged/   the files that could not be read, as they were handed in"
    )
    for lesson in lessons:
        write_report(course, lesson)
        say(f"  report-{lesson}.html   which questions told abilities apart, and what to teach again")


def _fresh(root: Path, language: str, project: Project) -> Course:
    root = root.resolve()
    if root.exists() and any(root.iterdir()):
        if not (root / MARK).exists():
            raise ProjectError(f"{root} holds something the demonstration did not make; choose another folder")
        shutil.rmtree(root)
    root.mkdir(parents=True, exist_ok=True)
    (root / MARK).write_text("This folder may be deleted at any time.\n", encoding="utf-8")
    init(root, language, "demo", project=project)
    return Course(root)


def hand_in(course: Course, lesson: str, student: Student) -> None:
    """Fetch, work and submit as this student, through nbgrader's exchange."""
    desk = _desk(course, student)
    _exchange(course, "FetchAssignment", lesson, student, desk)
    work(course.project, lesson, course.language, student, desk / lesson)
    _exchange(course, "Submit", lesson, student, desk)


def put_in(course: Course, lesson: str, student: Student, due: datetime) -> None:
    """Hand in by folder, with a time stamp before the due date or after it."""
    folder = course.root / "submitted" / student.name / lesson
    folder.mkdir(parents=True)
    if student.copy_of:
        for path in (course.root / "submitted" / student.copy_of / lesson).iterdir():
            shutil.copy(path, folder)
    else:
        shutil.copy(course.root / "release" / lesson / f"{lesson}.ipynb", folder)
        work(course.project, lesson, course.language, student, folder)
    when = due + timedelta(days=1) if student.late else due - timedelta(hours=3)
    (folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S}.000000 UTC", encoding="utf-8")


def fetch_feedback(course: Course, lesson: str, student: Student) -> bool:
    """Fetch the feedback as this student; whether a page came."""
    desk = _desk(course, student)
    _exchange(course, "FetchFeedback", lesson, student, desk)
    return any((desk / lesson / "feedback").rglob("*.html"))


def _desk(course: Course, student: Student) -> Path:
    desk = course.root / "students" / student.name
    desk.mkdir(parents=True, exist_ok=True)
    return desk


def _exchange(course: Course, step: str, lesson: str, student: Student, desk: Path) -> None:
    api = course.api
    with temp_attrs(api.coursedir, assignment_id=lesson, student_id=student.name):
        action = getattr(api.exchange, step)(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
        action.assignment_dir = str(desk)
        action.cache = str(desk / "cache")
        action.start()


def compare(course: Course, lesson: str, students: tuple[Student, ...], say: Say) -> list[str]:
    """Print student by cell, deserved beside given; a sentence for each that differs."""
    given = pipeline.cell_points(course, lesson)
    hidden, wrong = tasks(course.project, lesson), attempts(course.project, lesson)
    released = nbformat.read(course.root / "release" / lesson / f"{lesson}.ipynb", as_version=4)

    def paper(name: str) -> dict[str, Item]:
        return keyed_items(course.project, lesson, paper_of(released, lesson, name, {}))

    cells = next(iter(given.values()), {})
    width = max(len(student.name) for student in students)
    say(f"{lesson}: points by cell")
    for number, cell in enumerate(cells, start=1):
        say(f"  ({number}) {cell}, {cells[cell][1]:g} points")
    heads = "".join(f"{f'({number})':>6}" for number in range(1, len(cells) + 1))
    say(f"{'student':<{width}}{heads}   total  deserved")
    differences = []
    for student in students:
        seen = paper(student.copy_of) if student.copy_of else None
        due, got = deserved(student, paper(student.name), hidden, wrong, seen), given.get(student.name, {})
        row = "".join(f"{format_points(got.get(cell, (float('nan'),))[0]):>6}" for cell in cells)
        total, right = sum(pair[0] for pair in got.values()), sum(due.values())
        say(f"{student.name:<{width}}{row}  {format_points(total):>6}  {format_points(right):>8}")
        differences += [
            f"{lesson}: {student.name}, {cell}: got {got.get(cell, ('nothing',))[0]}, deserved {due[cell]}"
            for cell in due
            if abs(got.get(cell, (float("inf"),))[0] - due[cell]) > 0.006
        ]
    return differences
