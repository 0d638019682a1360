"""The summary after marking: the outcome for each student, and what marks no longer rest on."""

from __future__ import annotations

from course.core.units import format_points
from grader.course import Course, command
from grader.marking.mark_submission import of_questions
from grader.marking.outcomes import BY_HAND, Outcome, outcomes
from grader.marking.said import LEGEND, WORDS
from grader.project.names import printable

TOLD = {  # reason of an outcome -> what is said of all students with it
    "absent": "handed in nothing: {names}",
    "by-hand": BY_HAND
    + ", {n}: {names}; `jupyter lab` in the course folder, menu Nbgrader, Formgrader, Manual Grading",
    "held": "held back until you have looked, {n}: {names}; a new file of theirs is marked by itself; for a mistyped id write papers.yaml "
    "and mark again; to mark one as it is: `autograde L --accept NAME`",
    "no-grade": "others without a grade: {names}",
}
OTHER_RELEASE = (
    "made from another release, {n} (another course folder, last year's, or one from before marking_secret and release/ were lost): held "
    "back, no zero. If they are right, mark them on their own papers: write into papers.yaml of the course folder the line "
    "`salts: [{salts}]`, and run autograde again."
)


def summary(found: list[Outcome]) -> str:
    """The text after marking: a line for each student who handed in, then who waits for what."""
    width, lines = max([len(one.student) for one in found] + [7]), []
    for one in (one for one in found if one.reason != "absent"):
        points = "-" if one.points is None else f"{format_points(one.points)}/{one.top:g}"
        problems = printable(_sentences([*([WORDS[one.verdict]["en"]] if one.verdict else []), *one.problems]))
        lines.append(f"{one.student:<{width}}  {points:>8}  {problems}")
    for reason, sentence in TOLD.items():
        names = [one.student for one in found if one.reason == reason]
        if names or reason == "no-grade":
            lines.append(sentence.format(n=len(names), names=", ".join(names) or "nobody"))
    salts = [one.salt for one in found if one.salt]
    if salts:
        lines.append(OTHER_RELEASE.format(n=len(salts), salts=", ".join(sorted({*salts}))))
    return "\n".join([*lines, LEGEND])


def _sentences(problems: list[str]) -> str:
    """Join sentences; adds a full stop where one is missing."""
    ended = [one if one.endswith((".", "!", "?")) else one + "." for one in problems[:-1]]
    return " ".join([*ended, *problems[-1:]])


def stale(course: Course, lesson: str, found: list[Outcome]) -> list[str]:
    """A sentence where marks of two keys stand side by side: whose rest on questions, keys, points or tests of before."""
    now = of_questions(course.project, lesson)
    before = [one.student for one in found if one.questions not in ("", now)]
    again, few = command(f"autograde {lesson} --again", course.root), ", ".join(before[:20])
    return [
        f"{lesson}: MARKS OF TWO KEYS: {len(before)} were marked before the questions, keys or tests were edited ({few}); {again} marks "
        "all anew"
    ][: len(before)]


def ungraded(course: Course, lesson: str) -> list[str]:
    """A sentence for each student who handed in and has no grade, and those of ``stale``."""
    found = outcomes(course, lesson)
    without = [one for one in found if one.points is None and one.reason != "absent"]
    return [
        *stale(course, lesson, found),
        *(printable(f"{lesson}: no grade for {one.student}: {' '.join(one.problems)}") for one in without),
    ]
