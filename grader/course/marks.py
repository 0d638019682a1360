"""Read the marks of a class from the gradebook, in one query."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from grader.project import ProjectError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

    from grader.course import Course


@dataclass(frozen=True)
class CellMark:
    """The mark of one student for one cell. auto, manual: None where there is no such mark; the manual one counts. again: nbgrader asks
    a person to look at it.
    """

    auto: float | None
    manual: float | None = None
    top: float = 0.0
    extra: float = 0.0
    again: bool = field(default=False, compare=False)

    @property
    def points(self) -> float | None:
        """The points that count, with extra credit; None without a mark."""
        counts = self.auto if self.manual is None else self.manual
        return None if counts is None else counts + self.extra


@dataclass
class Standing:
    """What one student has for an assignment. late: the points taken for lateness. cells: graded cell -> mark."""

    when: datetime | None
    late: float = 0.0
    cells: dict[str, CellMark] = field(default_factory=dict)

    @property
    def points(self) -> float | None:
        """The points before lateness; None where a cell has no mark."""
        each = [mark.points for mark in self.cells.values()]
        return None if None in each else round(sum(each), 6)

    @property
    def left(self) -> float | None:
        """The points less those for lateness; None without a grade."""
        return None if self.points is None else max(0.0, round(self.points - self.late, 6))


def standings(gradebook: Gradebook, assignment: str, student: str | None = None) -> dict[str, Standing]:
    """Student -> what is in the gradebook, for everyone who has a submission there, or for one student."""
    from nbgrader.api import Assignment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook
    from sqlalchemy import select

    one, notebook = SubmittedAssignment, SubmittedNotebook
    marks = (Grade.auto_score, Grade.manual_score, GradeCell.max_score, Grade.extra_credit, Grade.needs_manual_grade)
    query = (
        select(one.student_id, one.timestamp, notebook.id, notebook.late_submission_penalty, GradeCell.name, *marks)
        .select_from(one)
        .join(Assignment, Assignment.id == one.assignment_id)
        .outerjoin(notebook, notebook.assignment_id == one.id)
        .outerjoin(Grade, Grade.notebook_id == notebook.id)
        .outerjoin(GradeCell, GradeCell.id == Grade.cell_id)
        .where(Assignment.name == assignment, *([one.student_id == student] if student else []))
        .order_by(one.student_id)
    )
    found: dict[str, Standing] = {}
    counted: set[str] = set()  # notebooks
    for name, when, own, late, cell, auto, manual, top, extra, again in gradebook.db.execute(query):
        standing = found.setdefault(name, Standing(when))
        standing.late += 0.0 if own in counted else late or 0.0
        counted.add(own)
        if cell is not None:
            place = cell if cell not in standing.cells else f"{cell} {own}"  # two notebooks with a cell of this name
            standing.cells[place] = CellMark(auto, manual, top, extra or 0.0, bool(again))
    return found


def cell_marks(course: Course, lesson: str) -> dict[str, dict[str, CellMark]]:
    """Student -> graded cell -> mark, for everyone who has a submission in the gradebook."""
    with course.gradebook as gradebook:
        return {student: one.cells for student, one in standings(gradebook, lesson).items()}


def differences(before: dict[str, dict[str, CellMark]], after: dict[str, dict[str, CellMark]]) -> list[str]:
    """A line for each cell whose automatic mark or most points differ: ``ada  05-c-crop  2/2 -> 0/2``."""
    said = []
    for student in sorted({*before, *after}):
        old, new = before.get(student, {}), after.get(student, {})
        for cell in dict.fromkeys([*old, *new]):
            was, now = old.get(cell, CellMark(None)), new.get(cell, CellMark(None))
            if (was.auto, was.top) != (now.auto, now.top):
                by_hand = f" (the mark by hand, {now.manual:g}, stays and counts)" if now.manual is not None else ""
                points = ("none" if one.auto is None else f"{one.auto:g}/{one.top:g}" for one in (was, now))
                said.append(f"{student}  {cell}  {' -> '.join(points)}{by_hand}")
    return said


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
