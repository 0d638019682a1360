"""Points for late submissions: nbgrader's plugin with the rules of the course, and extensions that nbgrader keeps in the gradebook."""

from __future__ import annotations

import math
from datetime import datetime, timezone

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

from grader.course import Course, command
from grader.course.gradebook import GradebookWriter, in_one_transaction
from grader.course.marks import require
from grader.project import ProjectError
from grader.project.dates import shown

DAY_S = 86_400


class LatePoints(LateSubmissionPlugin):
    """Set by ``grader.course.nbgrader_config``; its numbers are set with ``c.LatePoints`` in ``nbgrader_config.py``. Without any, lateness
    costs nothing. nbgrader counts lateness from the due date with the student's own extension.
    """

    grace_minutes = Float(0, min=0, help="up to so many minutes after the due date nothing is taken").tag(config=True)
    per_day_percent = Float(0, min=0, max=100, help="percent of the points earned, for each day begun").tag(config=True)
    cap_percent = Float(100, min=0, max=100, help="never more than this percent").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that lateness takes from ``score``, or None for none."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        percent = min(self.cap_percent, self.per_day_percent * math.ceil(total_seconds_late / DAY_S))
        return round(score * percent / 100, 4) or None


def extend(course: Course, lesson: str, student: str, hours: float) -> str:
    """Give a student so many hours after the due date of the class (0: no extension), and take the points for lateness anew.
    Returns a sentence. Raises ProjectError for an unknown student or a checkpoint without a due date.
    """
    require(course, lesson)
    with course.gradebook as gradebook:
        if student not in {one.id for one in gradebook.students}:
            read = command("roster FILE", course.root)
            raise ProjectError(f"nobody in the gradebook has the id {student!r}; {read} reads your class")
        if gradebook.find_assignment(lesson).duedate is None:
            due = command(f'release {lesson} --due "2026-12-01 23:59"', course.root)
            raise ProjectError(f"{lesson} has no due date to extend; set it with {due}")
        with in_one_transaction(gradebook):
            gradebook.update_or_create_submission(lesson, student)
            gradebook.grant_extension(lesson, student, hours=hours)
        until = gradebook.find_submission(lesson, student).duedate
    with GradebookWriter(course, lesson) as writer:
        writer.late_again()
    return f"{student} may hand in {lesson} until {shown(until, course.timezone)}"


def open_until(course: Course, lesson: str) -> str:
    """Until when somebody may still hand in, by the due date and the extensions; "" where nobody may, or no due date is set."""
    with course.gradebook as gradebook:
        due = gradebook.find_assignment(lesson).duedate
        last = due and max([due, *(one.duedate for one in gradebook.assignment_submissions(lesson))])
    return shown(last, course.timezone) if last and last > datetime.now(timezone.utc).replace(tzinfo=None) else ""
