"""The marks as CSV, the same by ``nbgrader export`` and ``python -m grader export``; and those of one checkpoint in a column of a
platform's own table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from traitlets import Unicode

from grader.course import Course
from grader.course.gradebook import GradebookWriter
from grader.course.marks import Standing, released, standings
from grader.handin.roster import FIRST, LAST, NOT_A_NAME, Roster, Row, read_table, roster
from grader.project import ProjectError
from grader.project.names import inert

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
                cells = (*head, *marks, assignment.max_score)
                table.writerow([inert(one) if isinstance(one, str) else one for one in cells])


class CourseExport(CsvExportPlugin):
    """nbgrader's plugin, set by ``grader.course.nbgrader_config`` as ``c.ExportApp.plugin_class``."""

    course_root = Unicode(".", help="the course directory").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write ``grades.csv``, or the file named with ``--to``."""
        course, to = Course(Path(self.course_root)), Path(self.to or "grades.csv")
        course.config.merge(self.config)  # also what was said on the command line, such as --db
        self.log.info("Exporting grades to %s", to)
        export(course, to, lessons=map(str, self.assignment), students=map(str, self.student))


def fill(course: Course, lesson: str, path: Path, to: Path, column: str | None = None) -> tuple[list[str], list[str]]:
    """Write the platform's table ``path`` with the marks of a checkpoint in it. Returns (sentences, students with a mark who are not in
    it). A table with a byte order mark, by which Excel knows UTF-8, gets one. Raises ProjectError.
    """
    text, missing, strange = into(path, roster(course), final_points(course, lesson), column or lesson)
    marked = path.read_bytes()[:2] in (b"\xef\xbb", b"\xff\xfe", b"\xfe\xff")
    to.write_text(text, encoding="utf-8-sig" if marked else "utf-8")
    with course.gradebook as gradebook:
        top = gradebook.find_assignment(lesson).max_score
    said = [f"{lesson}: these points are out of {top:g}; the platform's column must be, too"]
    if strange:
        said.append(f"rows that name no one student, left as they were: {len(strange)} ({'; '.join(strange[:20])})")
    if missing:
        said.append(f"NOT IN THE FILE, left out: {', '.join(missing)}")
    return said, missing


def final_points(course: Course, lesson: str) -> dict[str, float | None]:
    """Student -> the points for a checkpoint, with those for lateness taken as of now; None for no grade."""
    with GradebookWriter(course, lesson) as writer:
        writer.late_again()
    with course.gradebook as gradebook:
        return {student: one.left for student, one in standings(gradebook, lesson).items()}


def into(path: Path, known: Roster, points: dict[str, float | None], column: str) -> tuple[str, list[str], list[str]]:
    """(the table as CSV text, students with a mark who are not in it, rows that nobody is in). Rows are matched by the roster. A cell gets
    a mark where there is one here, else it stays; a dash, which Moodle would read as 0, becomes empty. Nothing else changes.

    column: its heading, or a part that no other has. Raises ProjectError where that is not clear.
    """
    rows, separator = read_table(path)
    head, *rows = rows or [[]]
    place, filled, strange = _column(head, column, path), {}, []
    apart = [n for n, name in enumerate(head) if name.strip().casefold() in (*FIRST, *LAST)]
    for row in rows:
        row += [""] * (len(head) - len(row))
        row[place] = "" if row[place].strip() == "-" else row[place]
        found = _whose(row, apart, known)
        if found is None:
            strange.append(" ".join([cell for cell in row if cell.strip()][:3]))
            continue
        if found in filled:
            twice = f"{filled[found]!r} and {row[0]!r}"
            raise ProjectError(f"{path}: two rows are {found}'s, {twice}; take one out. Nothing was written.")
        filled[found] = row[0]
        if points.get(found) is not None:
            row[place] = f"{points[found]:.2f}"
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows([head, *rows])
    missing = sorted(one for one, mark in points.items() if mark is not None and one not in filled)
    return file.getvalue(), missing, strange


def _whose(row: Row, apart: list[int], known: Roster) -> str | None:
    """Whom the cells of a row name as a whole, those ``apart`` as one; a mark is no name. None for nobody or several."""
    cells = [" ".join(row[n] for n in apart), *(cell for n, cell in enumerate(row) if n not in apart)]
    names = [cell for cell in cells if cell.strip().isdigit() or not NOT_A_NAME.fullmatch(cell)]
    named = [found.students for found in map(known.named, names) if found.whole]
    both = frozenset.intersection(*named) if named else frozenset()
    everybody = both or frozenset().union(*(one for one in named if len(one) == 1))
    return min(everybody) if len(everybody) == 1 else None


def _column(head: Row, wanted: str, path: Path) -> int:
    found = [n for n, name in enumerate(head) if name.strip() == wanted]
    found = found or [n for n, name in enumerate(head) if wanted in name]
    if len(found) != 1:
        there = ", ".join(name for name in head if name.strip())
        raise ProjectError(
            f'{path}: {wanted!r} is {"in no" if not found else "in more than one"} heading; say which column with --column "NAME" '
            f"(there are: {there}). Nothing was written."
        )
    return found[0]
