"""Write the report on a marked checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.course import Course
from grader.reporting.collect import gather
from grader.reporting.numbers import analyse
from grader.reporting.page import page
from grader.reporting.words import Advice, teach_again


def write_report(
    course: Course, lesson: str, to: Path | None = None, language: str | None = None, names: bool = False
) -> tuple[Path, dict[str, Any], list[Advice]]:
    """Write the page. Returns its path, the numbers, and sentences on what to teach again.

    to: default report-LESSON.html in the course directory. names: whether to name the students without a grade.
    """
    found = analyse(gather(course, lesson))
    to = to or course.root / f"report-{lesson}.html"
    to.write_text(page(found, language or course.language, names), encoding="utf-8")
    return to, found, teach_again(found)
