"""What came of marking: the outcome for each student, read from the gradebook and the graded notebooks."""

from __future__ import annotations

from dataclasses import dataclass, field

import nbformat

from course.core.units import format_points
from grader.course import Course
from grader.course.marks import Standing, standings
from grader.handin.guard import guarded
from grader.handin.papers import salts_of
from grader.marking.step import STATE, notes, reasons
from grader.project.names import LONGEST, fault, printable

BY_HAND = "to be marked by hand"


@dataclass
class Outcome:
    """The outcome for one student. points: None without a grade. problems: sentences. verdict: a word of
    ``grader.marking.said``, "" where nothing was handed in. reason: the code of what the instructor should look at:
    "absent" (nothing was handed in), "gone" (the submission that was marked has been removed), "no-grade", "by-hand" (a person
    must give a mark), "manual" (a mark given by hand before counts), "held" (held back), or "". salt: of the other release that it
    was made from, else "". questions: the hash of the questions, keys and tests that the mark rests on.
    """

    student: str
    points: float | None
    top: float
    problems: list[str] = field(default_factory=list)
    verdict: str = ""
    reason: str = ""
    salt: str = ""
    questions: str = ""

    def note(self, reason: str, sentence: str) -> None:
        """Add a problem: its code and a sentence."""
        self.reason = reason
        self.problems.append(sentence)


def outcomes(course: Course, lesson: str, failed: dict[str, str] | None = None) -> list[Outcome]:
    """The outcome for every student in the gradebook or with a submission. failed: student -> why marking failed."""
    failed = dict(failed or {})
    with course.gradebook as gradebook:
        top = gradebook.find_assignment(lesson).max_score
        known = {student.id for student in gradebook.students}
        there = standings(gradebook, lesson)
    found, handed_in = [], {*course.submitted(lesson)}
    for student in sorted(known | handed_in):
        notebook = None
        with guarded(student, failed.setdefault):
            notebook = graded_notebook(course, student, lesson)
        outcome = Outcome(student, None, top)
        _judge(outcome, notebook, there.get(student), student in handed_in, failed.get(student, ""))
        with guarded(student, lambda _, why, outcome=outcome: outcome.problems.append(why)):
            told = zip(reasons(notebook), notes(notebook, "en"), strict=True) if notebook else ()
            outcome.problems += dict.fromkeys(sentence for reason, sentence in told if reason != "held")
        found.append(outcome)
    for name in course.nobodys(lesson):
        said = f"NO GRADE: this folder is not taken for a student's: {fault(name)}"
        found.append(Outcome(printable(name)[:LONGEST], None, top, [said], "left out", "no-grade"))
    return found


def _judge(
    outcome: Outcome, notebook: nbformat.NotebookNode | None, standing: Standing | None, handed_in: bool, failed: str
) -> None:
    """Fill in the points, the verdict and what the instructor should look at. failed: why marking failed, or ""."""
    state = notebook.metadata.get(STATE, {}) if notebook is not None else {}
    graded = bool(state.get("marked")) and standing is not None
    outcome.questions = state.get("questions", "")
    cells = standing.cells if standing is not None else {}
    outcome.points = sum(mark.points or 0.0 for mark in cells.values()) if graded else None
    waiting = [cell for cell, mark in cells.items() if mark.points is None]
    by_hand = [cell for cell, mark in cells.items() if mark.manual is not None]
    if not handed_in and outcome.points is None:
        outcome.note("absent", "nothing was handed in")
    elif not handed_in:
        outcome.note("gone", "nothing lies under submitted/ any more; these are the marks of what was there")
    elif failed or not graded:
        outcome.note("no-grade", f"NO GRADE: {failed or 'not marked yet'}")
    elif state.get("held"):
        outcome.points = None
        outcome.note("held", f"HELD BACK: {printable(state['said']['en'])}")
        if state["held"] == "other-release":
            outcome.salt = ", ".join(sorted(salts_of(notebook, state["answers"].values())))
    elif waiting:
        outcome.points = None
        outcome.note("by-hand", f"{BY_HAND} in formgrader: {', '.join(waiting)}")
    elif by_hand and any(mark.again for mark in cells.values()):
        said = f"marked by hand before, which counts: {', '.join(by_hand)}; look at it again in formgrader"
        outcome.note("manual", said)
    if outcome.points is not None and standing.late:
        outcome.problems.append(f"late: {format_points(standing.late)} of these points are taken")
    if handed_in:
        verdict = "infrastructure" if outcome.reason == "no-grade" else state.get("verdict", "ok")
        outcome.verdict = "pending" if verdict == "ok" and outcome.reason == "by-hand" else verdict


def state_of(course: Course, student: str, lesson: str) -> dict:
    """The part of a graded notebook's metadata that the grader wrote; empty where there is no graded notebook. "marked" is in it where it
    is marked completely: the notebook is written after the grades are saved.
    """
    notebook = graded_notebook(course, student, lesson)
    return notebook.metadata.get(STATE, {}) if notebook is not None else {}


def graded_notebook(course: Course, student: str, lesson: str) -> nbformat.NotebookNode | None:
    """The graded notebook of a student, or None. It is not validated, which would take a tenth of the time of marking."""
    path = course.autograded(student, lesson)
    return nbformat.v4.reads(path.read_text(encoding="utf-8")) if path.exists() else None
