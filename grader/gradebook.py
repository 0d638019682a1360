"""Write marks into nbgrader's gradebook, each submission in one transaction.

It uses SQL statements on the tables' unique keys, so that the ten-thousandth student takes no longer than the first
(nbgrader's own objects sum over the whole class each time they are loaded).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nbgrader import api
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Table, func, insert, select, update
from sqlalchemy.engine import Connection

from course.catalog import checkpoint_names
from grader.course import command
from grader.dates import timestamp_of
from grader.late_step import LatePoints, is_by_hand, taken
from grader.project import Infrastructure

if TYPE_CHECKING:
    from grader.course import Course
    from grader.marking.whole import Marked


class GradebookWriter:
    """The gradebook of one checkpoint, open for writing. Raises Infrastructure where it was never released."""

    def __init__(self, course: Course, lesson: str) -> None:
        self.lesson, self._config = lesson, course.config
        self._gradebook = course.gradebook
        with self._gradebook.engine.begin() as db:
            taken(db)  # makes the table before anybody can set points by hand
            assignment = db.execute(select(Assignment.id, Assignment.duedate).where(Assignment.name == lesson)).first()
            if assignment is None:
                raise Infrastructure(
                    f"{lesson} is not in the gradebook; run {command('release ' + lesson, course.root)}"
                )
            self._assignment, self._due = assignment
            of_this = (Notebook.assignment_id == self._assignment) & Notebook.name.in_(checkpoint_names(lesson))
            self._notebook, self._name = db.execute(select(Notebook.id, Notebook.name).where(of_this)).one()
            self._grades = self._cells(db, GradeCell)
            self._solutions = self._cells(db, SolutionCell)

    def _cells(self, db: Connection, kind: type) -> dict[str, str]:
        rows = db.execute(select(kind.name, kind.id).where(kind.notebook_id == self._notebook))
        return {name: identity for name, identity in rows}

    def close(self) -> None:
        """Close the gradebook."""
        self._gradebook.close()

    def write(self, marked: Marked, when: str) -> None:
        """Write the marks of one submission; rolls back on error, so either all are written or none. Manual marks stay.

        when: the time stamp of the submission as text, or "". Raises Infrastructure where its cells are not those of the
        gradebook.
        """
        if unknown := sorted({*marked.scores} ^ {*self._grades}):
            raise Infrastructure(f"cells and gradebook do not match: {', '.join(unknown)}; release {self.lesson} again")
        stamp = timestamp_of(when)
        with self._transaction() as db:
            _upsert(db, Student.__table__, {"id": marked.student}, {})
            values = {"timestamp": stamp} if stamp is not None else {}
            key = {"assignment_id": self._assignment, "student_id": marked.student}
            submission = _upsert(db, SubmittedAssignment.__table__, key, values)
            key = {"notebook_id": self._notebook, "assignment_id": submission}
            notebook = _upsert(db, SubmittedNotebook.__table__, key, {})
            for name, score in marked.scores.items():
                key = {"cell_id": self._grades[name], "notebook_id": notebook}
                row = _upsert(db, Grade.__table__, key, {"auto_score": score}, {"needs_manual_grade": False})
                db.execute(
                    update(Grade.__table__)
                    .where(Grade.__table__.c.id == row)
                    .values(
                        needs_manual_grade=Grade.manual_score.is_(None)
                        if score is None
                        else Grade.manual_score.is_not(None)
                    )
                )
            for name, comment in marked.comments.items():
                key = {"cell_id": self._solutions[name], "notebook_id": notebook}
                _upsert(db, Comment.__table__, key, {"auto_comment": comment})
            points = SubmittedNotebook.__table__.c.late_submission_penalty
            was_late = db.execute(select(points).where(SubmittedNotebook.__table__.c.id == notebook)).scalar()
        if was_late or (self._due is not None and stamp is not None and stamp > self._due):
            self.late(marked.student)

    def withdraw(self, student: str) -> None:
        """Remove the automatic marks of a submission that could not be marked, so that no old mark counts."""
        with self._transaction() as db:
            submission = select(SubmittedAssignment.id).where(
                SubmittedAssignment.assignment_id == self._assignment, SubmittedAssignment.student_id == student
            )
            notebook = select(SubmittedNotebook.id).where(
                SubmittedNotebook.notebook_id == self._notebook, SubmittedNotebook.assignment_id.in_(submission)
            )
            table = Grade.__table__
            db.execute(
                update(table)
                .where(table.c.cell_id.in_(self._grades.values()), table.c.notebook_id.in_(notebook))
                .values(auto_score=None, needs_manual_grade=True)
            )

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._gradebook.engine.begin() as connection:
            yield connection

    def late(self, student: str) -> None:
        """Take off the points for lateness, unless they were set by hand: runs the step that stock nbgrader runs, too."""
        resources = {
            "nbgrader": {
                "notebook": self._name,
                "assignment": self.lesson,
                "student": student,
                "db_url": str(self._config.CourseDirectory.get("db_url", "")) or self.url,
            }
        }
        LatePoints(config=self._config).preprocess(_Empty(), resources)

    def known(self) -> set[str]:
        """The students who have all marks in the gradebook, except those that a person gives."""
        ours = [cell for name, cell in self._grades.items() if name not in self._solutions]
        unmarked = (
            select(SubmittedNotebook.assignment_id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .where(Grade.cell_id.in_(ours), Grade.auto_score.is_(None), Grade.manual_score.is_(None))
        )
        own = SubmittedAssignment.assignment_id == self._assignment
        with self._gradebook.engine.connect() as db:
            marked = own & SubmittedAssignment.id.not_in(unmarked)
            return set(db.execute(select(SubmittedAssignment.student_id).where(marked)).scalars())

    def overdue(self) -> list[str]:
        """The students who handed in after the due date of the class, with or without an extension."""
        if self._due is None:
            return []
        with self._gradebook.engine.connect() as db:
            late = (SubmittedAssignment.assignment_id == self._assignment) & (SubmittedAssignment.timestamp > self._due)
            return list(db.execute(select(SubmittedAssignment.student_id).where(late)).scalars())

    def penalties(self) -> dict[str, float]:
        """Student -> the points taken for lateness, for every submission in the gradebook."""
        return {student: points for student, (points, _) in self._penalties().items()}

    def late_by_hand(self) -> set[str]:
        """The students whose points for lateness were set by hand."""
        return {student for student, (_, by_hand) in self._penalties().items() if by_hand}

    def late_again(self) -> None:
        """Compute the points for lateness again for everybody who is late or lost points for it, except those set by hand."""
        for student in sorted({*self.overdue(), *(name for name, points in self.penalties().items() if points)}):
            self.late(student)

    def _penalties(self) -> dict[str, tuple[float, bool]]:
        """Student -> (the points taken for lateness, whether they were set by hand)."""
        table = SubmittedNotebook.__table__
        query = (
            select(SubmittedAssignment.student_id, table.c.id, table.c.late_submission_penalty)
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .where(SubmittedAssignment.assignment_id == self._assignment)
            .order_by(SubmittedAssignment.student_id)
        )
        with self._gradebook.engine.begin() as db:
            ours = taken(db)
            return {name: (points or 0.0, is_by_hand(points, ours.get(one))) for name, one, points in db.execute(query)}

    def top(self) -> float:
        """The most points the checkpoint gives."""
        with self._gradebook.engine.connect() as db:
            cells = select(func.sum(GradeCell.max_score)).where(GradeCell.notebook_id == self._notebook)
            return float(db.execute(cells).scalar() or 0.0)

    @property
    def url(self) -> str:
        """The URL of the gradebook's database."""
        return self._gradebook.engine.url.render_as_string(hide_password=False)


class _Empty(dict):
    """A notebook without cells, for nbgrader's late step, which reads no cells."""

    cells: list = []


def _upsert(
    db: Connection, table: Table, key: dict[str, Any], values: dict[str, Any], fresh: dict[str, Any] | None = None
) -> str:
    """Set ``values`` in the row with this unique key; returns the row's id. A new row also gets the values ``fresh``."""
    found = db.execute(select(table.c.id).where(*(table.c[name] == value for name, value in key.items()))).scalar()
    if found is None:
        row = {**key, **values, **(fresh or {})}
        row.setdefault("id", api.new_uuid())
        db.execute(insert(table).values(row))
        return row["id"]
    if values:
        db.execute(update(table).where(table.c.id == found).values(values))
    return found
