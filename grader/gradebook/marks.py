"""Read the marks of a class from the gradebook, in one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.project import ProjectError

if TYPE_CHECKING:
    from grader.course import Course


@dataclass(frozen=True)
class CellMark:
    """The mark of one student for one cell. auto, manual: None where there is no such mark; the manual one counts."""

    auto: float | None
    manual: float | None = None
    top: float = 0.0
    extra: float = 0.0

    @property
    def points(self) -> float | None:
        """The points that count, with extra credit; None without a mark."""
        counts = self.auto if self.manual is None else self.manual
        return None if counts is None else counts + self.extra

    @property
    def shown(self) -> str:
        """The automatic mark and the most points, such as ``1.5/2``."""
        return "none" if self.auto is None else f"{self.auto:g}/{self.top:g}"


def cell_marks(course: Course, lesson: str) -> dict[str, dict[str, CellMark]]:
    """Student -> graded cell -> mark, for everyone who has a submission in the gradebook."""
    from nbgrader.api import Assignment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook
    from sqlalchemy import select

    query = (
        select(
            SubmittedAssignment.student_id,
            GradeCell.name,
            Grade.auto_score,
            Grade.manual_score,
            GradeCell.max_score,
            Grade.extra_credit,
        )
        .select_from(Grade)
        .join(GradeCell, GradeCell.id == Grade.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == lesson)
        .order_by(SubmittedAssignment.student_id)
    )
    table: dict[str, dict[str, CellMark]] = {}
    with course.gradebook as gradebook:
        for student, cell, auto, manual, top, extra in gradebook.db.execute(query):
            table.setdefault(student, {})[cell] = CellMark(auto, manual, top, extra or 0.0)
    return table


def differences(before: dict[str, dict[str, CellMark]], after: dict[str, dict[str, CellMark]]) -> list[str]:
    """A line for each cell whose automatic mark or most points differ: ``ada  05-c-crop  2/2 -> 0/2``."""
    said = []
    for student in sorted({*before, *after}):
        old, new = before.get(student, {}), after.get(student, {})
        for cell in dict.fromkeys([*old, *new]):
            was, now = old.get(cell, CellMark(None)), new.get(cell, CellMark(None))
            if (was.auto, was.top) != (now.auto, now.top):
                by_hand = f" (the mark by hand, {now.manual:g}, stays and counts)" if now.manual is not None else ""
                said.append(f"{student}  {cell}  {was.shown} -> {now.shown}{by_hand}")
    return said


@dataclass(frozen=True)
class Totals:
    """One checkpoint of a class. points: student -> points with late points taken; None for no grade."""

    lesson: str
    top: float
    points: dict[str, float | None]


def totals(course: Course, lesson: str) -> Totals:
    """The final points of each student for a checkpoint, with the points for lateness as of now. Raises Infrastructure where it
    was never released.
    """
    from grader.gradebook import GradebookWriter

    with GradebookWriter(course, lesson) as gradebook:
        gradebook.late_again()
        late, top = gradebook.penalties(), gradebook.top
    points: dict[str, float | None] = {}
    for student, cells in cell_marks(course, lesson).items():
        each = [mark.points for mark in cells.values()]
        points[student] = None if None in each else max(0.0, round(sum(each) - late.get(student, 0.0), 4))
    return Totals(lesson, top, points)


def require(course: Course, *lessons: str) -> None:
    """Raises ProjectError for a checkpoint that is not released in this course directory."""
    there = released(course)
    if wrong := [lesson for lesson in lessons if lesson not in there]:
        raise ProjectError(f"{', '.join(wrong)}: not released here; there are {', '.join(there) or 'none'}")


def released(course: Course) -> list[str]:
    """The checkpoints that are in the gradebook, in order."""
    with course.gradebook as gradebook:
        known = {assignment.name for assignment in gradebook.assignments}
    return [lesson for lesson in course.project.checkpoints() if lesson in known]
