"""Compute the points for lateness again for a whole class without marking it, after rules or dates have changed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone

from course.units import format_points
from grader.autograding import Say, alone, check_late_rules
from grader.course import Course
from grader.gradebook import GradebookWriter
from grader.late_rules import course_rules
from grader.marks import require


@dataclass(frozen=True)
class LateChange:
    """The points taken from one student for lateness, before and now."""

    student: str
    old: float
    new: float


def recompute(course: Course, lesson: str, say: Say = print) -> tuple[list[LateChange], int]:
    """Apply the rules to every submission. Returns (changes, how many students lose points now).

    Raises ProjectError for rules that cannot be read and for a checkpoint that was never released.
    """
    require(course, lesson)
    check_late_rules(course, say)
    with alone(course), closing(GradebookWriter(course, lesson)) as gradebook:
        before = gradebook.penalties()
        gradebook.late_again()
        after = gradebook.penalties()
        for student in sorted(gradebook.late_by_hand()):
            say(f"{student}: {format_points(after[student])} points, set by hand, stay")
    changes = [LateChange(student, old, after[student]) for student, old in before.items() if old != after[student]]
    return changes, sum(1 for points in after.values() if points)


@dataclass(frozen=True)
class Foreseen:
    """A late submission: the points taken now, the points the rules would take, how late it is in words, when it was due."""

    student: str
    old: float
    new: float
    late: str
    due: datetime


def foreseen(course: Course, lesson: str) -> list[Foreseen]:
    """What the rules would take from every late submission, without changing anything. Raises ProjectError."""
    require(course, lesson)
    rules, found = course_rules(course.root, course.config), []
    with closing(GradebookWriter(course, lesson)) as writer, course.gradebook as gradebook:
        before, by_hand = writer.penalties(), writer.late_by_hand()
        for student in writer.overdue():
            one = gradebook.find_submission(lesson, student)
            due = rules.due(lesson, student, one.duedate)
            seconds = (one.timestamp - due).total_seconds()
            new = rules.penalty(lesson, due, one.timestamp, one.score, one.max_score)
            old = before.get(student, 0.0)
            if student in by_hand:
                found.append(Foreseen(student, old, old, "set by hand, stays", due))
            elif seconds > 0 or old:
                found.append(Foreseen(student, old, new, _late(seconds), due))
    return sorted(found, key=lambda one: one.student)


def _late(seconds: float) -> str:
    """How late, in words."""
    if seconds <= 0:
        return "in time with the extension"
    days, rest = divmod(int(seconds), 86_400)
    return f"late by {days} d {rest // 3600} h {rest % 3600 // 60} min"


def open_until(course: Course, lesson: str) -> datetime | None:
    """The last due date of any student, with extensions (UTC, without a zone). ``datetime.max`` where there is no due date, None
    if it is over. Raises ProjectError for rules that cannot be read.
    """
    with course.gradebook as gradebook:
        due = gradebook.find_assignment(lesson).duedate
    if due is None:
        return datetime.max
    rules = course_rules(course.root, course.config)
    last = max([due, *(rules.due(lesson, one.student, due) for one in rules.extensions)])
    return last if last > datetime.now(timezone.utc).replace(tzinfo=None) else None
