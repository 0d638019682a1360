"""The made-up class, of `make demo` and of the tests: it goes the whole way through nbgrader, and each student gets what was
planned. What a student deserves is worked out from the plan of the answers, not with the code that marks.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.utils import temp_attrs

from course.core.i18n import both, pick, set_language
from course.learning.marking import Response
from course.learning.sheet import AnswerSheet
from course.questions.items import Item
from grader.course import Course, init
from grader.course.marks import cell_marks
from grader.handin.answers import keyed_items
from grader.handin.exchange import collect
from grader.handin.papers import paper_of
from grader.marking.autograde import How, autograde
from grader.marking.pool import at_once
from grader.marking.step import grade_id
from grader.project import Project, ProjectError, name_of, notebook_in
from grader.project.build import answer_id, text_of
from grader.project.task import Task, tasks
from grader.release.run import release
from grader.reporting.export import export
from grader.reporting.give_out import feedback
from grader.reporting.report import write_report
from grader.reporting.summary import summary

LESSONS = ("01_map", "05_cudnn_benchmark")
MARK = "made-by-grader-demo"  # only a folder with this file is ever cleared
LOOK = both(
    "look in {root}: grades.csv, report-*.html (what to teach again), and each student's pages in autograded/ and feedback/",
    "可以看看 {root} 里的 grades.csv、report-*.html（哪些内容要再讲），autograded/ 和 feedback/ 里有每个学生的页面",
)
CAST = both(
    "made-up students hand in what their names say, every fault on purpose: all-wrong answers everything wrong and "
    "should get 0, half-a-file lost half of its notebook",
    "虚拟学生交的东西如其名，毛病都是故意的：all-wrong 全部答错，应得 0 分；half-a-file 丢了半个 notebook",
)
HELD = both(
    "held back until somebody has looked, as it should be; here at once:", "照规矩先留着等人看过，这里直接放行："
)


@dataclass(frozen=True)
class Student:
    """What a student hands in. quiz: right, half, wrong or none. tasks: right, first, wrong or none. half: half of the file is lost."""

    name: str
    quiz: str = "right"
    tasks: str = "right"
    half: bool = False


CLASS = (
    Student("perfect"),
    Student("partly", quiz="half", tasks="first"),
    Student("untouched", quiz="none", tasks="none"),
    Student("all-wrong", quiz="wrong", tasks="wrong"),
    Student("half-a-file", half=True),
)


def answers(student: Student, items: dict[str, Item]) -> dict[str, Response]:
    """What the student answers, by item; items left alone are absent. Where every option shown is right, nothing can be answered
    wrong.
    """
    if student.quiz == "none":
        return {}
    knows = {"right": len(items), "half": (len(items) + 1) // 2, "wrong": 0}[student.quiz]
    given = {name: (right if place < knows else wrong)(item) for place, (name, item) in enumerate(items.items())}
    return {name: one for name, one in given.items() if one.options or one.number is not None}


def right(item: Item) -> Response:
    """The response that deserves every point."""
    if item.kind == "number":
        return Response(number=float(item.number.value))
    return Response(item.order if item.kind == "order" else item.correct)


def wrong(item: Item) -> Response:
    """A response that deserves nothing (an order without distractors: the order backwards, one line of it in place)."""
    if item.kind == "number":
        return Response(number=float(item.number.high) * 3 + 7)
    if item.kind == "order":
        extra = tuple(option.id for option in item.options if option.id not in item.order)
        return Response(extra or item.order[::-1])
    others = tuple(option.id for option in item.options if option.id not in item.correct)
    return Response(others[:1] if item.kind == "single" else others)


def deserved(student: Student, items: dict[str, Item], tasks: dict[str, Task]) -> dict[str, float]:
    """The points that each graded cell should get."""
    given = answers(student, items)
    points = {}
    for identity, item in items.items():
        answer = given.get(identity)
        if answer == right(item):
            points[identity] = float(item.points)
        else:
            backwards = answer is not None and item.kind == "order" and answer.options == item.order[::-1]
            points[identity] = round(item.points / len(item.order), 2) if backwards else 0.0
    solved = {"right": list(tasks), "first": list(tasks)[:1]}.get(student.tasks, [])
    solved = [] if student.half else solved
    return points | {identity: float(task.points) if identity in solved else 0.0 for identity, task in tasks.items()}


def work(project: Project, lesson: str, language: str, student: Student, folder: Path) -> None:
    """Turn the fetched notebook in ``folder`` into this student's submission, the answers file beside it."""
    path = folder / f"{name_of(lesson)}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    write_code(project, lesson, student, notebook)
    _give_answers(project, lesson, language, student, notebook, folder)
    text = text_of(notebook)
    path.write_text(text[: len(text) // 2] if student.half else text, encoding="utf-8")


def write_code(project: Project, lesson: str, student: Student, notebook: NotebookNode) -> None:
    """Write this student's code into the answer cells of the tasks."""
    for place, (identity, task) in enumerate(tasks(project, lesson).items()):
        cell = next(cell for cell in notebook.cells if grade_id(cell) == answer_id(identity))
        if student.tasks == "right" or (student.tasks == "first" and place == 0):
            cell.source = task.solution
        elif student.tasks == "wrong":
            function = f"def {task.name}(*arguments):\n    return 'something else'"
            cell.source = f"{task.name} = {{}}" if task.judge else function


def _give_answers(
    project: Project, lesson: str, language: str, student: Student, notebook: NotebookNode, folder: Path
) -> None:
    """Write the answers into the first cell's output and into the file beside the notebook."""
    paper = paper_of(notebook, lesson, student.name, {})
    items = keyed_items(project, lesson, paper)
    given = answers(student, items)
    set_language(language)
    sheet = AnswerSheet(lesson, items, folder)
    if paper is not None:
        sheet.salt, sheet.student = paper.salt, paper.student
    for identity, response in given.items():
        sheet.record(identity, response)
    first = next(cell for cell in notebook.cells if cell.get("id") == "bootstrap")
    first.outputs = [new_output("display_data", data=sheet.bundle())]


def demo(
    root: Path,
    language: str = "en",
    project: Project | None = None,
    lessons: Iterable[str] | None = None,
    students: tuple[Student, ...] = CLASS,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Take a class through these checkpoints; returns a sentence for each difference from what was deserved.

    Raises ProjectError if ``root`` holds something else, and for a checkpoint that is not known.
    """
    course = _new(root.resolve(), language, project or Project())
    differences: list[str] = []
    say(pick(CAST, language))
    for lesson in lessons or LESSONS:
        say(f"--- {lesson}")
        release(course, lesson)
        for student in students:
            hand_in(course, lesson, student)
        collect(course, lesson)
        found = autograde(course, lesson, how=How(at_once()), say=say)
        if held := [one.student for one in found if one.reason == "held"]:
            say(f"{pick(HELD, language)} {', '.join(held)}")
            found = autograde(course, lesson, how=How(at_once(), accept=frozenset(held)), say=say)
        lost = {*feedback(course, lesson)}
        lost |= {student.name for student in students if not fetch_feedback(course, lesson, student)}
        differences += [f"{lesson}: no feedback for {name}" for name in sorted(lost)]
        say("\n" + summary(found) + "\n")
        differences += compare(course, lesson, students)
        write_report(course, lesson)
    export(course, course.root / "grades.csv")
    say(pick(LOOK, language).format(root=course.root))
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
    work(course.project, lesson, course.language, student, _exchange(course, "FetchAssignment", lesson, student))
    _exchange(course, "Submit", lesson, student)


def fetch_feedback(course: Course, lesson: str, student: Student) -> bool:
    """Fetch the feedback as this student; whether a page came."""
    return any((_exchange(course, "FetchFeedback", lesson, student) / "feedback").rglob("*.html"))


def _exchange(course: Course, step: str, lesson: str, student: Student) -> Path:
    """One of nbgrader's steps for students; returns the folder in which this student works."""
    api, desk = course.api, course.root / "students" / student.name
    desk.mkdir(parents=True, exist_ok=True)
    with temp_attrs(api.coursedir, assignment_id=lesson, student_id=student.name):
        action = getattr(api.exchange, step)(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
        action.assignment_dir = str(desk)
        action.cache = str(desk / "cache")
        action.start()
    return desk / lesson


def compare(course: Course, lesson: str, students: tuple[Student, ...]) -> list[str]:
    """A sentence for each cell that got other points than it deserved."""
    given, hidden = cell_marks(course, lesson), tasks(course.project, lesson)
    released = nbformat.read(notebook_in(course.root, "release", lesson), as_version=4)
    differences = []
    for student in students:
        items = keyed_items(course.project, lesson, paper_of(released, lesson, student.name, {}))
        due = deserved(student, items, hidden)
        got = {cell: mark.points or 0.0 for cell, mark in given.get(student.name, {}).items()}
        differences += [
            f"{lesson}: {student.name}, {cell}: got {got.get(cell, 'nothing')}, deserved {due[cell]}"
            for cell in due
            if abs(got.get(cell, float("inf")) - due[cell]) > 0.006
        ]
    return differences
