"""The marks as CSV. ``nbgrader export`` and ``python -m grader export`` write the same file."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from traitlets import Unicode

from grader.course import Course
from grader.course.gradebook import GradebookWriter
from grader.course.marks import Standing, released, standings
from grader.project.names import inert_row
from grader.reporting.summary import stale

COLUMNS = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")
MARKS = ("raw_score", "late_submission_penalty", "score", "max_score")


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
        table = csv.writer(file)
        table.writerow((*COLUMNS, *MARKS))
        people = [one for one in gradebook.students if not of_whom or one.id in of_whom]
        for assignment in (one for one in gradebook.assignments if not chosen or one.name in chosen):
            there = standings(gradebook, assignment.name)
            for one in people:
                standing = there.get(one.id, Standing(None))
                marks = standing.points, standing.late, standing.left
                marks = marks if one.id in there and standing.points is not None else ("", "", "")
                who = (one.id, one.last_name, one.first_name, one.email)
                head = (assignment.name, assignment.duedate, standing.when or "", *who)
                table.writerow(inert_row([*head, *marks, assignment.max_score]))


class CourseExport(CsvExportPlugin):
    """nbgrader's plugin, set by ``grader.course.nbgrader_config`` as ``c.ExportApp.plugin_class``."""

    course_root = Unicode(".", help="the course directory").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write ``grades.csv``, or the file named with ``--to``."""
        course, to = Course(Path(self.course_root)), Path(self.to or "grades.csv")
        course.config.merge(self.config)  # also what was said on the command line, such as --db
        self.log.info("Exporting grades to %s", to)
        lessons = [*map(str, self.assignment)]
        export(course, to, lessons=lessons, students=map(str, self.student))
        for lesson in lessons or released(course):
            for sentence in stale(course, lesson):
                self.log.warning(sentence)
