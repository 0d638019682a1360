"""The demonstration: release, fetch, hand in, collect, autograde, feedback, export, report; then points beside what was deserved."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

import nbformat
from nbgrader.utils import temp_attrs
from tqdm import tqdm

from course.core.i18n import both, pick
from course.core.units import format_points
from grader.cli.made_up.handin import work
from grader.cli.made_up.students import CLASS, Student, deserved
from grader.course import Course, init
from grader.gradebook.marks import cell_marks
from grader.handin.answers import keyed_items
from grader.handin.papers import paper_of
from grader.project import Project, ProjectError
from grader.project.notebook_name import name_of, notebook_in
from grader.project.task import tasks
from grader.reporting.report import write_report
from grader.steps import pipeline
from grader.steps.autograding import How, autograde
from grader.steps.pool import cores

MARK = "made-by-grader-demo"  # only a folder with this file is ever cleared
Say = Callable[[str], None]
LOOK = both(
    "to look at, in {root}:\n  grades.csv   the marks\n"
    "  autograded/{one}/{lesson}/{name}.ipynb   a graded notebook\n"
    "  feedback/{one}/{lesson}/{name}.html   what the student gets to see\n"
    "  report-{lesson}.html   what to teach again\n",
    "可以看看 {root} 里的：\n  grades.csv   成绩\n"
    "  autograded/{one}/{lesson}/{name}.ipynb   批改后的 notebook\n"
    "  feedback/{one}/{lesson}/{name}.html   学生看到的评语\n"
    "  report-{lesson}.html   哪些内容要再讲\n",
)
WORDS = {
    "work": both("release, fetch, work, submit", "发布、领取、作答、上交"),
    "mark": both("collect and autograde", "收取并批改"),
    "held": both("held back until somebody has looked, here at once:", "先留着等人看过，这里直接放行："),
    "feedback": both("feedback", "评语"),
    "table": both("student: points, deserved", "学生：得分，应得"),
    "done": both("done in {} s", "用时 {} 秒"),
}


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
        known = ", ".join(project.checkpoints()) or "none"
        raise ProjectError(f"no such checkpoint to demonstrate with; there are {known}")
    course = _new(root.resolve(), language, project)
    differences: list[str] = []
    for lesson in chosen:

        def told(what: str, lesson: str = lesson) -> None:
            say(f"--- {lesson}: {pick(WORDS[what], language)} ({monotonic() - started:.0f} s)")

        told("work")
        pipeline.release(course, lesson)
        for student in tqdm(students, file=sys.stdout, disable=not sys.stdout.isatty()):
            hand_in(course, lesson, student)
        told("mark")
        pipeline.collect(course, lesson)
        found = autograde(course, lesson, how=How(cores()), say=say)
        if held := [one.student for one in found if one.reason == "held"]:
            say(f"--- {lesson}: {pick(WORDS['held'], language)} {', '.join(held)}")
            found = autograde(course, lesson, how=How(cores(), accept=frozenset(held)), say=say)
        told("feedback")
        lost = {*pipeline.feedback(course, lesson)}
        lost |= {student.name for student in students if not fetch_feedback(course, lesson, student)}
        differences += [f"{lesson}: no feedback for {name}" for name in sorted(lost)]
        say("\n" + pipeline.summary(found) + "\n")
        differences += compare(course, lesson, students, say)
        write_report(course, lesson)
    pipeline.export(course, course.root / "grades.csv")
    one = students[min(1, len(students) - 1)].name
    name = name_of(course.root, chosen[0])
    say("\n" + pick(LOOK, language).format(root=course.root, one=one, lesson=chosen[0], name=name))
    say(pick(WORDS["done"], language).format(f"{monotonic() - started:.0f}"))
    return differences


def _new(root: Path, language: str, project: Project) -> Course:
    """A new course directory, in the place of an earlier demonstration."""
    if root.exists() and any(root.iterdir()) and not (root / MARK).exists():
        raise ProjectError(f"{root} holds something the demonstration did not make; choose another folder")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    (root / MARK).touch()
    init(root, language, "demo", project=project)
    return Course(root)


def hand_in(course: Course, lesson: str, student: Student) -> None:
    """Fetch, work and submit as this student, through nbgrader's exchange."""
    desk = _desk(course, student)
    shutil.rmtree(desk / lesson, ignore_errors=True)
    _exchange(course, "FetchAssignment", lesson, student, desk)
    work(course.project, lesson, course.language, student, desk / lesson)
    _exchange(course, "Submit", lesson, student, desk)


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
    """Print the points of each student beside those deserved; a sentence for each cell that differs."""
    given, hidden = cell_marks(course, lesson), tasks(course.project, lesson)
    released = nbformat.read(notebook_in(course.root, "release", lesson), as_version=4)
    say(f"{lesson}, {pick(WORDS['table'], course.language)}")
    differences = []
    for student in students:
        items = keyed_items(course.project, lesson, paper_of(released, lesson, student.name, {}))
        due = deserved(student, items, hidden)
        got = {cell: mark.points or 0.0 for cell, mark in given.get(student.name, {}).items()}
        total, right = sum(got.values()), sum(due.values())
        say(f"  {student.name:<14}{format_points(total):>6}{format_points(right):>6}")
        differences += [
            f"{lesson}: {student.name}, {cell}: got {got.get(cell, 'nothing')}, deserved {due[cell]}"
            for cell in due
            if abs(got.get(cell, float("inf")) - due[cell]) > 0.006
        ]
    return differences
