"""The steps of a checkpoint's life in a course directory beside autograding: release, collect, feedback, export.

Each is a thin layer over nbgrader's own API; what it adds is that one bad submission never ends a batch.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import nbformat

from course.i18n import pick
from grader.authoring.publish import write_assignment
from grader.course import Course, done, why
from grader.intake import reason_of
from grader.marking.step import STATE, notes, printable
from grader.marking.verdicts import WORDS
from grader.names import LONGEST, fault
from grader.project import ProjectError

Say = Callable[[str], None]


@dataclass
class Outcome:
    """What became of one submission. points is None where it has no grade; problems are sentences; verdict: of
    ``grader.marking.verdicts``, or nothing where nothing was handed in.
    """

    student: str
    points: float | None
    top: float
    problems: list[str] = field(default_factory=list)
    verdict: str = ""


def release(course: Course, lesson: str, due: datetime | None = None) -> None:
    """Build the source assignment, make nbgrader's release version and hand it out, or out again, through the exchange.

    due: the due date in UTC without a zone; None leaves the one in the gradebook as it is.
    """
    if lesson not in course.project.checkpoints():
        raise ProjectError(
            f"there is no checkpoint {lesson!r}; there are {', '.join(course.project.checkpoints())}"
        )
    for stray in (course.root / "source" / lesson).glob("*.answers.json"):
        raise ProjectError(f"{stray} would overwrite the students' answers at autograde; remove it")
    write_assignment(course.project, lesson, course.language, course.root / "source")
    done(course.api.generate_assignment(lesson), f"generate_assignment {lesson}")
    if due is not None:
        with course.gradebook as gradebook:
            gradebook.update_or_create_assignment(lesson, duedate=due)
    done(_hand_out(course, lesson), f"release_assignment {lesson}")


def _hand_out(course: Course, lesson: str) -> dict:
    """nbgrader's release step; a checkpoint that is out already is replaced."""
    from nbgrader.utils import capture_log, temp_attrs

    api = course.api
    with temp_attrs(api.coursedir, assignment_id=lesson):
        step = api.exchange.ReleaseAssignment(coursedir=api.coursedir, authenticator=api.authenticator, parent=api)
        step.force = True
        return capture_log(step)


def collect(course: Course, lesson: str) -> int:
    """Bring in what was submitted, also newer versions; returns how many submissions there are."""
    done(course.api.collect(lesson, update=True), f"collect {lesson}")
    return len(course.submitted(lesson))


def outcomes(course: Course, lesson: str, failed: dict[str, str] | None = None) -> list[Outcome]:
    """Every student who is known or handed in, with points and problems; ``failed``: why there is no new
    grade.
    """
    failed = failed or {}
    with course.gradebook as gradebook:
        top = gradebook.find_assignment(lesson).max_score
        scores = {s["student"]: s["score"] for s in gradebook.submission_dicts(lesson)}
        known = {student.id for student in gradebook.students}
    found, there = [], set(course.submitted(lesson))
    for student in sorted(known | there):
        notebook, handed_in = graded_notebook(course, student, lesson), student in there
        graded = _came_to_its_end(notebook)
        outcome = Outcome(student, scores.get(student) if graded else None, top)
        if not handed_in:
            outcome.problems.append("nothing was handed in")
        elif student in failed or not graded:
            outcome.problems.append(f"NO GRADE: {failed.get(student, 'not marked yet')}")
        outcome.verdict = _verdict(outcome, notebook) if handed_in else ""
        outcome.problems += _problems(course, lesson, student, notebook)
        found.append(outcome)
    for name in course.nobodys(lesson):
        said = f"NO GRADE: this folder is not taken for a student's: {fault(name)}"
        found.append(Outcome(printable(name)[:LONGEST], None, top, [said], "infrastructure"))
    return found


def graded_notebook(course: Course, student: str, lesson: str) -> nbformat.NotebookNode | None:
    """What marking has written; not validated again, which would take as long as a tenth of the marking."""
    path = course.autograded(student, lesson)
    return nbformat.v4.reads(path.read_text(encoding="utf-8")) if path.exists() else None


def marked(course: Course, student: str, lesson: str) -> bool:
    """Whether marking came to its end: the notebook is written after the grades are saved."""
    return _came_to_its_end(graded_notebook(course, student, lesson))


def _came_to_its_end(notebook: nbformat.NotebookNode | None) -> bool:
    return notebook is not None and bool(notebook.metadata.get(STATE, {}).get("marked"))


def _verdict(outcome: Outcome, notebook: nbformat.NotebookNode | None) -> str:
    """The one word for a submission that was handed in."""
    graded = notebook is not None and outcome.points is not None
    return notebook.metadata.get(STATE, {}).get("verdict", "ok") if graded else "infrastructure"


def _problems(course: Course, lesson: str, student: str, notebook: nbformat.NotebookNode | None) -> list[str]:
    reason = reason_of(course.root, student, lesson)
    said = [pick(reason, "en")] if reason else []
    return list(dict.fromkeys([*said, *(notes(notebook, "en") if notebook else [])]))


def summary(found: list[Outcome]) -> str:
    """The table at the end: every submission, its points, its problems; then who has no grade."""
    width = max([len(outcome.student) for outcome in found] + [7])
    words = {outcome.verdict: WORDS[outcome.verdict]["en"] if outcome.verdict else "" for outcome in found}
    wide = max([len(word) for word in words.values()] + [7])
    lines = [f"{'student':<{width}}  points  {'verdict':<{wide}}  problems"]
    for outcome in found:
        points = "   none" if outcome.points is None else f"{outcome.points:>5.4g}/{outcome.top:g}"
        word, problems = words[outcome.verdict], printable(" ".join(outcome.problems))
        lines.append(f"{outcome.student:<{width}}  {points}  {word:<{wide}}  {problems}".rstrip())
    without = [outcome.student for outcome in found if outcome.points is None]
    lines.append(f"without a grade: {', '.join(without) or 'nobody'}")
    return "\n".join(lines)


def feedback(course: Course, lesson: str, say: Say = print) -> list[str]:
    """Make and hand out the feedback of every marked submission; returns those it did not work for."""
    failed = []
    for student in course.submitted(lesson):
        if not marked(course, student, lesson):
            continue
        result = course.api.generate_feedback(lesson, student)
        page = course.root / "feedback" / student / lesson / f"{lesson}.html"
        if result["success"] and not (page.parent / "submission_secret.txt").exists():
            say(f"{student} did not submit through the exchange; hand out {page} yourself")
            continue
        if result["success"]:
            result = course.api.release_feedback(lesson, student)
        if not result["success"]:
            failed.append(student)
            say(f"feedback for {student} did not work: {why(result)}")
    return failed


def export(course: Course, path: Path, table: Path | None = None, lessons: Iterable[str] | None = None) -> None:
    """Write nbgrader's CSV of all assignments, or of ``lessons``; ``table``: also what ``details`` writes."""
    from nbgrader.plugins.export import CsvExportPlugin

    plugin = CsvExportPlugin(config=course.config)
    plugin.to = str(path)
    plugin.assignment = list(lessons or ())
    with course.gradebook as gradebook:
        plugin.export(gradebook)
    if table is not None:
        details(course, table)


def details(course: Course, path: Path) -> None:
    """Write one row for each student and graded cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["assignment", "student_id", "cell", "points", "max_points"])
        for lesson in course.project.checkpoints():
            for student, cells in cell_points(course, lesson).items():
                writer.writerows([lesson, student, cell, *pair] for cell, pair in cells.items())


def cell_points(course: Course, lesson: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Student -> graded cell -> (points, most points), cells in the order of the released notebook."""
    released = course.root / "release" / lesson / f"{lesson}.ipynb"
    if not released.exists():
        return {}
    order = [
        cell.metadata.nbgrader.grade_id
        for cell in nbformat.read(released, as_version=4).cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    table: dict[str, dict[str, tuple[float, float]]] = {}
    with course.gradebook as gradebook:
        for submission in gradebook.assignment_submissions(lesson):
            grades = {
                grade.name: (grade.score or 0.0, grade.max_score)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            table[submission.student.id] = {cell: grades[cell] for cell in order if cell in grades}
    return table
