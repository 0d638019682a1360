"""The nbgrader settings that students need to fetch and submit through the exchange."""

from __future__ import annotations

from pathlib import Path

from grader.course import Course

FILE = "~/.jupyter/nbgrader_config.py"


def student_config(course: Course) -> str:
    """The lines for a student's ``nbgrader_config.py``: the course's id and the exchange's folder."""
    return (
        f"c = get_config()\nc.CourseDirectory.course_id = {course.config.CourseDirectory.course_id!r}\n"
        f"c.Exchange.root = {str(Path(course.config.Exchange.root))!r}\n"
    )


def for_students(course: Course) -> list[str]:
    """Sentences for the instructor, when a checkpoint is released, on what students must put into their settings."""
    return [
        f"who fetches it through the exchange has nbgrader and, in {FILE}:",
        *(f"    {line}" for line in student_config(course).splitlines()),
    ]
