"""The steps of a checkpoint other than marking: collect, feedback, export, and the summary after marking.

Each calls nbgrader's own API. A bad submission does not stop the others.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from tqdm import tqdm

from course.core.units import format_points
from grader.course import Course, command, done, why
from grader.gradebook import GradebookWriter
from grader.gradebook.marks import cell_marks, released
from grader.handin.guard import guarded
from grader.marking.fingerprints import of_questions
from grader.marking.step import STATE, notes, reasons
from grader.marking.verdicts import LEGEND, WORDS
from grader.project.names import LONGEST, fault, inert_row, printable
from grader.project.notebook_name import name_of

if TYPE_CHECKING:
    from nbgrader.api import SubmittedAssignment

Say = Callable[[str], None]
BY_HAND = "to be marked by hand"
HELD = {
    "damaged": "the file arrived damaged",
    "wrong-file": "the wrong file came",
    "two-works": "several notebooks with different work",
    "other-release": "made from another release (another course folder or year); papers.yaml can say that it counts",
    "two-cells": "an answer cell more than once, with different work",
    "machine": "this machine lacks what it needs; mark it again on one that has it, or accept it and give points in formgrader",
    "other-paper": "answered on the paper of another id",
    "no-paper": "answered without an id, so nobody knows on which numbers; --accept marks it against this student's paper",
}
COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


MARKED_WITH = re.compile(r'^ +"questions": "(\w+)"', re.MULTILINE)  # in a graded notebook


@dataclass
class Outcome:
    """The outcome for one student. points: None without a grade. problems: sentences. verdict: a word of
    ``grader.marking.verdicts``, "" where nothing was handed in. reason: the code of what the instructor should look at:
    "absent" (nothing was handed in), "gone" (the submission that was marked has been removed), "no-grade", "by-hand" (a person
    must give a mark), "manual" (a mark given by hand before counts), "held" (held back), or "". noted: the codes of the
    notes made while marking.
    """

    student: str
    points: float | None
    top: float
    problems: list[str] = field(default_factory=list)
    verdict: str = ""
    reason: str = ""
    noted: tuple[str, ...] = ()

    def note(self, reason: str, sentence: str) -> None:
        """Add a problem: its code and a sentence."""
        self.reason = reason
        self.problems.append(sentence)


def collect(course: Course, lesson: str, say: Say = print) -> int:
    """Collect submissions from the exchange, also newer versions; returns how many there are now. ``say`` gets a sentence for
    each one that could not be collected.
    """
    result = done(course.api.collect(lesson, update=True), f"collect {lesson}")
    for line in (result.get("log") or "").splitlines():
        if line.startswith("[ERROR] "):
            say(printable(line.removeprefix("[ERROR] ")))
    return len(course.submitted(lesson))


def outcomes(course: Course, lesson: str, failed: dict[str, str] | None = None) -> list[Outcome]:
    """The outcome for every student in the gradebook or with a submission. failed: student -> why marking failed."""
    failed = dict(failed or {})
    with course.gradebook as gradebook:
        top = gradebook.find_assignment(lesson).max_score
        entries = {entry["student"]: entry for entry in gradebook.submission_dicts(lesson)}
        known = {student.id for student in gradebook.students}
    with GradebookWriter(course, lesson) as writer:
        late = writer.penalties()
    scores = {student: entry["score"] for student, entry in entries.items()}
    marks = cell_marks(course, lesson)
    waiting = {
        student: [cell for cell, mark in cells.items() if mark.points is None] for student, cells in marks.items()
    }
    by_hand = {
        student: [cell for cell, mark in cells.items() if mark.manual is not None]
        for student, cells in marks.items()
        if entries.get(student, {}).get("needs_manual_grade")
    }
    found, there = [], set(course.submitted(lesson))
    for student in sorted(known | there):
        notebook, handed_in = None, student in there
        with guarded(student, failed.setdefault):
            notebook = graded_notebook(course, student, lesson)
        graded = _came_to_its_end(notebook) and student in scores
        outcome = Outcome(student, scores.get(student) if graded else None, top)
        if not handed_in and outcome.points is None:
            outcome.note("absent", "nothing was handed in")
        elif not handed_in:
            outcome.note("gone", "nothing lies under submitted/ any more; these are the marks of what was there")
        elif student in failed or not graded:
            outcome.note("no-grade", f"NO GRADE: {failed.get(student, 'not marked yet')}")
        elif notebook.metadata[STATE].get("held"):
            outcome.points = None
            outcome.note("held", _held(notebook.metadata[STATE]))
        elif waiting.get(student):
            outcome.points = None
            outcome.note("by-hand", f"{BY_HAND} in formgrader: {', '.join(waiting[student])}")
        elif by_hand.get(student):
            cells = ", ".join(by_hand[student])
            outcome.note("manual", f"marked by hand before, which counts: {cells}; look at it again in formgrader")
        if outcome.points is not None and late.get(student):
            outcome.problems.append(f"late: {format_points(late[student])} of these points are taken")
        outcome.verdict = _verdict(outcome, notebook) if handed_in else ""
        with guarded(student, lambda _, why, outcome=outcome: outcome.problems.append(why)):
            outcome.problems += list(dict.fromkeys(notes(notebook, "en"))) if notebook else []
            outcome.noted = tuple(reasons(notebook)) if notebook else ()
        found.append(outcome)
    for name in course.nobodys(lesson):
        said = f"NO GRADE: this folder is not taken for a student's: {fault(name)}"
        found.append(Outcome(printable(name)[:LONGEST], None, top, [said], "left out", "no-grade"))
    return found


def strays(course: Course) -> list[str]:
    """A sentence for each file or folder under ``submitted/`` that no command reads."""
    place, known, found = course.root / "submitted", {*course.project.checkpoints()}, []
    with course.gradebook as gradebook:
        known |= {assignment.name for assignment in gradebook.assignments}
    for path in sorted([*place.glob("*"), *place.glob("*/*")]):
        inside = path.parent != place
        if not path.name.startswith(".") and (path.name not in known if inside else not path.is_dir()):
            found.append(
                f"NOT MARKED: submitted/{printable(str(path.relative_to(place)))}; "
                "a notebook is looked for in submitted/STUDENT/LESSON/"
            )
    return found


def graded_notebook(course: Course, student: str, lesson: str) -> nbformat.NotebookNode | None:
    """The graded notebook of a student, or None. It is not validated, which would take a tenth of the time of marking."""
    path = course.autograded(student, lesson)
    return nbformat.v4.reads(path.read_text(encoding="utf-8")) if path.exists() else None


def marked(course: Course, student: str, lesson: str) -> bool:
    """Whether a submission is marked completely: the graded notebook is written after the grades are saved."""
    return _came_to_its_end(graded_notebook(course, student, lesson))


def _came_to_its_end(notebook: nbformat.NotebookNode | None) -> bool:
    return notebook is not None and bool(notebook.metadata.get(STATE, {}).get("marked"))


def _verdict(outcome: Outcome, notebook: nbformat.NotebookNode | None) -> str:
    """The word of ``verdicts`` for a submission that was handed in."""
    if notebook is None or outcome.reason == "no-grade":
        return "infrastructure"
    verdict = notebook.metadata.get(STATE, {}).get("verdict", "ok")
    return "pending" if verdict == "ok" and outcome.reason == "by-hand" else verdict


def _held(state: dict) -> str:
    """A sentence for the instructor: why marks are held back."""
    if state.get("alike"):
        return (
            f"HELD BACK: the same as the submission of {', '.join(state['alike'])}, to the microsecond of every answer"
        )
    return f"HELD BACK: {HELD.get(state['held'], state['held'])}"


def summary(found: list[Outcome]) -> str:
    """The table after marking: each student with points and problems; then the students who handed in nothing, and those
    without a grade.
    """
    width = max([len(outcome.student) for outcome in found] + [7])
    words = {outcome.verdict: WORDS[outcome.verdict]["en"] if outcome.verdict else "" for outcome in found}
    wide = max([len(word) for word in words.values()] + [7])
    lines = [f"{'student':<{width}}  points  {'verdict':<{wide}}  problems"]
    for outcome in found:
        none = "pending" if outcome.reason == "by-hand" else "   none"
        points = none if outcome.points is None else f"{format_points(outcome.points):>5}/{outcome.top:g}"
        word, problems = words[outcome.verdict], printable(_sentences(outcome.problems))
        lines.append(f"{outcome.student:<{width}}  {points}  {word:<{wide}}  {problems}".rstrip())
    without = [outcome for outcome in found if outcome.points is None]
    if idle := [outcome.student for outcome in without if not outcome.verdict]:
        lines.append(f"handed in nothing: {', '.join(idle)}")
    if asked := [outcome.student for outcome in found if "answers-missing" in outcome.noted]:
        lines.append(f"answers missing, {len(asked)} to ask for their answers file: {', '.join(asked)}")
    if waiting := [outcome.student for outcome in found if outcome.reason == "by-hand"]:
        lines.append(
            f"{BY_HAND}, {len(waiting)}: {', '.join(waiting)}; `jupyter lab` in the course folder, menu Nbgrader, Formgrader, "
            "Manual Grading"
        )
    if held := [outcome.student for outcome in found if outcome.reason == "held"]:
        lines.append(
            f"held back until you have looked, {len(held)}: {', '.join(held)}; a new file of theirs is marked by itself; for a "
            "mistyped id write papers.yaml and mark again; to mark one as it is: `autograde L --accept NAME`"
        )
    waits = ("by-hand", "held")
    lost = [outcome.student for outcome in without if outcome.verdict and outcome.reason not in waits]
    if lost or any(outcome.points is not None for outcome in found):
        lines.append(f"without a grade: {', '.join(lost) or 'nobody'}")
    else:
        lines.append("no submission is marked so far")
    lines.append(LEGEND)
    return "\n".join(lines)


def _sentences(problems: list[str]) -> str:
    """Join sentences; adds a full stop where one is missing."""
    ended = [one if one.endswith((".", "!", "?")) else one + "." for one in problems[:-1]]
    return " ".join([*ended, *problems[-1:]])


def feedback(course: Course, lesson: str, say: Say = print) -> list[str]:
    """Make and release the feedback page of every marked submission; returns the students for whom that failed."""
    failed, by_exchange, others, students = [], [], [], []

    def fail(student: str, reason: str) -> None:
        failed.append(student)
        say(f"feedback for {student} did not work: {reason}")

    for student in course.submitted(lesson):
        with guarded(student, fail):
            students += [student] if marked(course, student, lesson) else []
    for student in tqdm(students, desc=f"{lesson}, feedback", unit="page", disable=not sys.stderr.isatty()):
        with guarded(student, fail):
            result = _uninterrupted(course.api.generate_feedback(lesson, student))
            through = (course.root / "feedback" / student / lesson / "submission_secret.txt").exists()
            if result["success"] and through:
                result = _uninterrupted(course.api.release_feedback(lesson, student))
            if result["success"]:
                (by_exchange if through else others).append(student)
            else:
                fail(student, why(result))
    say(f"{lesson}: feedback of {len(by_exchange)} students is in the exchange")
    if others:
        say(
            f"{len(others)} did not hand in through the exchange; "
            f"hand out feedback/STUDENT/{lesson}/{name_of(course.root, lesson)}.html yourself, "
            f"or for those who came by import {command('give-back ' + lesson, course.root)}: {', '.join(others)}"
        )
    if not students:
        say(f"no submission of {lesson} is marked yet; run {command('autograde ' + lesson, course.root)} first")
    return failed


def _uninterrupted(result: dict) -> dict:
    """Raise KeyboardInterrupt where nbgrader's API has caught it; returns the result otherwise."""
    if (result.get("error") or "").rstrip().endswith("KeyboardInterrupt"):
        raise KeyboardInterrupt
    return result


def export(
    course: Course, path: Path, lessons: Iterable[str] | None = None, students: Iterable[str] | None = None
) -> None:
    """Write the marks of all assignments and students, or of ``lessons`` and ``students``, in the columns of nbgrader's CSV.

    Points for lateness are computed again first. Without a grade, or without a submission, the cells are empty, not 0.
    """
    chosen, of_whom = set(lessons or ()), set(students or ())
    for lesson in (one for one in released(course) if not chosen or one in chosen):
        with GradebookWriter(course, lesson) as writer:
            writer.late_again()
    with path.open("w", newline="", encoding="utf-8") as file, course.gradebook as gradebook:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        people = [one for one in gradebook.students if not of_whom or one.id in of_whom]
        for assignment in gradebook.assignments:
            if not chosen or assignment.name in chosen:
                handed_in = {one.student.id: one for one in gradebook.assignment_submissions(assignment.name)}
                for student in people:
                    who = (student.id, student.last_name, student.first_name, student.email)
                    when, *marks = _marks(handed_in.get(student.id))
                    writer.writerow(
                        inert_row([assignment.name, assignment.duedate, when, *who, *marks, assignment.max_score])
                    )


def _marks(submission: SubmittedAssignment | None) -> tuple:
    """(time stamp, points, points taken for lateness, points less those); empty texts without a grade."""
    if submission is None:
        return "", "", "", ""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    if any(grade.auto_score is None and grade.manual_score is None for grade in grades):
        return submission.timestamp, "", "", ""
    points, late = submission.score, submission.late_submission_penalty or 0.0
    return submission.timestamp, points, late, max(0.0, points - late)


def stale(course: Course, lesson: str) -> list[str]:
    """Sentences that name the students whose marks rest on what is no more: on another key, other points or another test, so that
    marks of two keys stand side by side, or on a submission that has been removed.
    """
    now, before, there = of_questions(course.project, lesson), [], course.submitted(lesson)
    for student in there:
        path = course.autograded(student, lesson)
        found = MARKED_WITH.search(path.read_text(encoding="utf-8")) if path.exists() else None
        before += [student] if found and now and found[1] != now else []
    said = []
    if before:
        again = command(f"autograde {lesson} --again", course.root)
        said.append(
            f"MARKS OF TWO KEYS: marked before the questions, keys or tests were edited: {_few(before)}; {again} marks all anew"
        )
    marks = cell_marks(course, lesson)
    if gone := [
        one for one in marks if one not in there and any(mark.points is not None for mark in marks[one].values())
    ]:
        said.append(f"marks of a submission that lies under submitted/ no more: {_few(gone)}")
    return [f"{lesson}: {one}" for one in said]


def ungraded(course: Course, lesson: str) -> list[str]:
    """A sentence for each student who handed in and has no grade, and those of ``stale``."""
    without = [one for one in outcomes(course, lesson) if one.points is None and one.reason != "absent"]
    return [
        *stale(course, lesson),
        *(printable(f"{lesson}: no grade for {one.student}: {' '.join(one.problems)}") for one in without),
    ]


def _few(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names[:20])}{', ...' if len(names) > 20 else ''})"
