"""The demonstration: release, hand in, collect, autograde, feedback, export; then points beside what was deserved.

The nine who are named for what they do hand in through nbgrader's exchange, everybody else by folder, as from an LMS.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from time import monotonic

import nbformat
from nbgrader.utils import temp_attrs
from tqdm import tqdm

from course.files import replace_file
from course.i18n import both, pick
from course.questions.items import Item
from course.units import format_points
from grader import pipeline
from grader.answers import keyed_items
from grader.autograding import How, autograde
from grader.course import Course, init
from grader.demo.handin import work
from grader.demo.people import attempts
from grader.demo.students import CLASS, Student, deserved
from grader.notebook_name import name_of, notebook_in
from grader.papers import paper_of
from grader.pool import cores
from grader.project import Project, ProjectError
from grader.reporting.report import write_report
from grader.task import tasks

MARK = "made-by-grader-demo"  # only a folder with this file is ever cleared; it holds what was begun, and what is done
Say = Callable[[str], None]
LOOK = both(
    "to look at, in {root}:\n  grades.csv, grades-by-cell.csv   the marks\n"
    "  autograded/{one}/{lesson}/{name}.ipynb   a graded notebook\n"
    "  feedback/{one}/{lesson}/{name}.html   what the student gets to see\n",
    "可以看看 {root} 里的：\n  grades.csv、grades-by-cell.csv   成绩\n"
    "  autograded/{one}/{lesson}/{name}.ipynb   批改后的 notebook\n"
    "  feedback/{one}/{lesson}/{name}.html   学生看到的评语\n",
)
WORDS = {
    "work": ("release, fetch, work, submit", "发布、领取、作答、上交"),
    "hand in": ("handing in", "上交"),
    "mark": ("collect and autograde", "收取并批改"),
    "feedback": ("feedback", "评语"),
}


def demo(
    root: Path,
    language: str = "en",
    project: Project | None = None,
    lessons: Iterable[str] | None = None,
    students: tuple[Student, ...] = CLASS,
    say: Say = print,
) -> list[str]:
    """Take a class through every checkpoint; returns a sentence for each difference from what was deserved. Begun before with
    the same language, checkpoints and students and not finished, it goes on where it was stopped.

    Raises ProjectError if ``root`` holds something else or there is no checkpoint.
    """
    project, started = project or Project(), monotonic()
    chosen = list(lessons or project.checkpoints())
    if not chosen or set(chosen) - set(project.checkpoints()):
        raise ProjectError(
            f"no such checkpoint to demonstrate with; there are {', '.join(project.checkpoints()) or 'none'}"
        )
    course, steps = _begun(root, language, project, [language, chosen, [student.name for student in students]])
    if steps.done[1:]:
        say(pick(both("goes on where it was stopped", "从上次停下的地方继续"), language))
    words = {code: WORDS[code][language == "zh"] for code in WORDS}
    differences: list[str] = []
    for lesson in chosen:

        def told(what: str, lesson: str = lesson) -> None:
            say(f"--- {lesson}: {words[what]} ({monotonic() - started:.0f} s)")

        told("work")
        steps.once(f"{lesson} release", lambda lesson=lesson: pipeline.release(course, lesson))
        due = _set_due(course, lesson)
        for student in tqdm(students, desc=words["hand in"], file=sys.stdout, disable=not sys.stdout.isatty()):
            way = hand_in if through_exchange(student) else partial(put_in, due=due)
            steps.once(f"{lesson} {student.name}", partial(way, course, lesson, student))
        told("mark")
        pipeline.collect(course, lesson)
        found = autograde(course, lesson, how=How(cores()), say=say)
        if held := [one.student for one in found if one.reason == "held"]:
            say(f"--- {lesson}: held back until somebody has looked, here at once: {', '.join(held)}")
            found = autograde(course, lesson, how=How(cores(), accept=frozenset(held)), say=say)
        told("feedback")
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
    steps.finish()
    took = f"{monotonic() - started:.0f}"
    say(pick(both(f"done in {took} s", f"用时 {took} 秒"), language))
    return differences


def _unless(words: str, say: Say) -> Say:
    """``say``, but not for lines with these words in them."""
    return lambda line: None if words in line else say(line)


def through_exchange(student: Student) -> bool:
    """Whether this student fetches and submits with nbgrader; the others hand in by folder."""
    return student.person is None


def _set_due(course: Course, lesson: str) -> datetime:
    """Tomorrow, as nbgrader keeps time (UTC without a zone), or the date that is set; whoever is late hands in the day after."""
    with course.gradebook as gradebook:
        if lesson in {one.name for one in gradebook.assignments} and (
            set_ := gradebook.find_assignment(lesson).duedate
        ):
            return set_
    due = (datetime.now(timezone.utc) + timedelta(days=1)).replace(tzinfo=None, microsecond=0)
    with course.gradebook as gradebook:
        gradebook.update_or_create_assignment(lesson, duedate=due)
    return due


def _show(course: Course, lessons: list[str], students: tuple[Student, ...], say: Say) -> None:
    """What there is to look at now."""
    one = next((student.name for student in students if student.name == "partly"), students[0].name)
    name = name_of(course.root, lessons[0])
    say(pick(LOOK, course.language).format(root=course.root, one=one, lesson=lessons[0], name=name))
    for lesson in lessons:
        write_report(course, lesson)
        what = "which questions told abilities apart, and what to teach again", "哪些题区分得出水平，哪些内容要重讲"
        say(f"  report-{lesson}.html   {what[course.language == 'zh']}")


class _Steps:
    """What is done of a demonstration, kept in a file so that a stopped one goes on."""

    def __init__(self, path: Path, begun: list) -> None:
        self.path, self.begun = path, begun
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.done: list[str] = kept.get("done", []) if kept.get("begun") == begun else []

    def once(self, name: str, do: Callable[[], object]) -> None:
        """Do it unless it is done."""
        if name not in self.done:
            do()
            self.done.append(name)
            self._keep()

    def finish(self) -> None:
        """The next one begins anew."""
        self.done, self.begun = [], ["finished"]
        self._keep()

    def _keep(self) -> None:
        replace_file(self.path, json.dumps({"begun": self.begun, "done": self.done}).encode())


def _begun(root: Path, language: str, project: Project, begun: list) -> tuple[Course, _Steps]:
    """The course directory, and what is done in it: a new one, unless the same demonstration was stopped there."""
    root = root.resolve()
    if root.exists() and any(root.iterdir()) and not (root / MARK).exists():
        raise ProjectError(f"{root} holds something the demonstration did not make; choose another folder")
    try:
        steps = _Steps(root / MARK, begun)
    except ValueError:
        steps = None
    if steps is None or not steps.done:
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        steps = _Steps(root / MARK, begun)
        steps.once("init", lambda: init(root, language, "demo", project=project))
    return Course(root), steps


def hand_in(course: Course, lesson: str, student: Student) -> None:
    """Fetch, work and submit as this student, through nbgrader's exchange."""
    desk = _desk(course, student)
    shutil.rmtree(desk / lesson, ignore_errors=True)
    _exchange(course, "FetchAssignment", lesson, student, desk)
    work(course.project, lesson, course.language, student, desk / lesson)
    _exchange(course, "Submit", lesson, student, desk)


def put_in(course: Course, lesson: str, student: Student, due: datetime) -> None:
    """Hand in by folder, with a time stamp before the due date or after it."""
    folder = course.root / "submitted" / student.name / lesson
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if student.copy_of:
        for path in (course.root / "submitted" / student.copy_of / lesson).iterdir():
            shutil.copy(path, folder)
    else:
        shutil.copy(notebook_in(course.root, "release", lesson), folder)
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
    released = nbformat.read(notebook_in(course.root, "release", lesson), as_version=4)

    def paper(name: str) -> dict[str, Item]:
        return keyed_items(course.project, lesson, paper_of(released, lesson, name, {}))

    cells = next(iter(given.values()), {})
    width = max(len(student.name) for student in students)
    chinese = course.language == "zh"
    say(f"{lesson}: {'每题得分' if chinese else 'points by cell'}")
    for number, cell in enumerate(cells, start=1):
        say(f"  ({number}) {cell}, {cells[cell][1]:g} {'分' if chinese else 'points'}")
    heads = "".join(f"{f'({number})':>6}" for number in range(1, len(cells) + 1))
    first, last = ("学生", "    总分      应得") if chinese else ("student", "   total  deserved")
    say(f"{first + ' ' * (width - len(first) * (2 if chinese else 1))}{heads}{last}")
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
