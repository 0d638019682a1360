"""The summary after marking: the outcome for each student, what lies in a wrong place, what marks no longer rest on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import nbformat

from course.core.units import format_points
from grader.course import Course, command
from grader.gradebook.marks import Standing, standings
from grader.handin.guard import guarded
from grader.marking.fingerprints import of_questions
from grader.marking.said import LEGEND, WORDS
from grader.marking.step import STATE, notes, reasons
from grader.project.names import LONGEST, fault, printable

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

MARKED_WITH = re.compile(r'^ +"questions": "(\w+)"', re.MULTILINE)  # in a graded notebook


@dataclass
class Outcome:
    """The outcome for one student. points: None without a grade. problems: sentences. verdict: a word of
    ``grader.marking.said``, "" where nothing was handed in. reason: the code of what the instructor should look at:
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
            outcome.problems += list(dict.fromkeys(notes(notebook, "en"))) if notebook else []
            outcome.noted = tuple(reasons(notebook)) if notebook else ()
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
        outcome.note("held", _held(state))
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


def _held(state: dict) -> str:
    """A sentence for the instructor: why marks are held back."""
    if state.get("alike"):
        return (
            f"HELD BACK: the same as the submission of {', '.join(state['alike'])}, to the microsecond of every answer"
        )
    return f"HELD BACK: {HELD.get(state['held'], state['held'])}"


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
    with course.gradebook as gradebook:
        found = standings(gradebook, lesson).items()
    marks = {one for one, standing in found if any(mark.points is not None for mark in standing.cells.values())}
    if gone := sorted(marks - {*there}):
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
