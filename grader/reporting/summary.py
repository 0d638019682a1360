"""The summary after marking: the outcome for each student, what lies in a wrong place, what marks no longer rest on."""

from __future__ import annotations

import re

from course.core.units import format_points
from grader.course import Course, command
from grader.course.marks import standings
from grader.marking.outcomes import BY_HAND, Outcome, outcomes
from grader.marking.said import LEGEND, WORDS
from grader.marking.whole import of_questions
from grader.project.names import printable

MARKED_WITH = re.compile(r'^ +"questions": "(\w+)"', re.MULTILINE)  # in a graded notebook


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
