"""nbgrader's plugin for exporting marks. ``nbgrader export`` and ``python -m grader export`` write the same file."""

from __future__ import annotations

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from traitlets import Unicode

from grader.course import Course
from grader.gradebook.marks import released
from grader.steps.pipeline import export, stale


class CourseExport(CsvExportPlugin):
    """Set by ``grader.nbgrader_config`` as ``c.ExportApp.plugin_class``. Points for lateness are computed again first; no mark is
    an empty cell, not 0.
    """

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
