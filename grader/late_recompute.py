"""Take late points anew for a whole class, without marking: after the rules, an extension or the due date changed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone

from grader.autograding import Say, alone, check_late_rules
from grader.course import Course
from grader.gradebook import GradebookWriter
from grader.late_rules import read_rules
from grader.marks import require


@dataclass(frozen=True)
class LateChange:
    """What lateness took from one student before and takes now, in points."""

    student: str
    old: float
    new: float


def recompute(course: Course, lesson: str, say: Say = print) -> tuple[list[LateChange], int]:
    """Apply the rules to every submission through nbgrader's own step; (who changes, how many lose points now).

    Raises ProjectError for rules that cannot be read and for a checkpoint that was never released.
    """
    require(course, lesson)
    check_late_rules(course, say)
    with alone(course), closing(GradebookWriter(course, lesson)) as gradebook:
        before = gradebook.penalties()
        for student in sorted({*gradebook.overdue(), *(name for name, points in before.items() if points)}):
            gradebook.late(student)
        after = gradebook.penalties()
    changes = [LateChange(student, old, after[student]) for student, old in before.items() if old != after[student]]
    return changes, sum(1 for points in after.values() if points)


def open_until(course: Course, lesson: str) -> datetime | None:
    """When the time of the last student is up (UTC, without a zone), extensions included; ``datetime.max`` where there is
    no due date, None if it is up already. Raises ProjectError for rules that cannot be read.
    """
    with course.gradebook as gradebook:
        due = gradebook.find_assignment(lesson).duedate
    if due is None:
        return datetime.max
    rules = read_rules(course.root)
    last = max([due, *(rules.due(lesson, one.student, due) for one in rules.extensions)])
    return last if last > datetime.now(timezone.utc).replace(tzinfo=None) else None
