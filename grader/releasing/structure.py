"""Compare the graded cells of a checkpoint in the gradebook with those of a notebook, and change the gradebook accordingly.

nbgrader refuses to add or remove a cell once there is a submission. Here it is done in one transaction; the removed marks are
returned as plain data, from which they can be restored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Comment, Grade, Gradebook, GradeCell, SolutionCell, SourceCell
from sqlalchemy.exc import SAWarning

from grader.notebook_name import in_gradebook

Saved = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """The difference between notebook and gradebook. added: graded cell -> points in the notebook; removed: graded cell -> points
    in the gradebook; others: added or removed cells without points (answer cells, locked text); worth: graded cell -> (points
    so far, points now) where they differ.
    """

    added: dict[str, float] = field(default_factory=dict)
    removed: dict[str, float] = field(default_factory=dict)
    worth: dict[str, tuple[float, float]] = field(default_factory=dict)
    others: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.others)


def compare(gradebook: Gradebook, lesson: str, notebook: NotebookNode) -> Change | None:
    """How ``notebook`` differs from the gradebook; None where the gradebook does not have this checkpoint."""
    known = in_gradebook(gradebook, lesson)
    if known is None:
        return None
    old = {cell.name: cell.max_score for cell in known.grade_cells}
    new = _graded(notebook)
    rest = {
        "solution": {cell.name for cell in known.solution_cells},
        "source": {cell.name for cell in known.source_cells},
    }
    return Change(
        {name: points for name, points in new.items() if name not in old},
        {name: points for name, points in old.items() if name not in new},
        {name: (old[name], new[name]) for name in new if name in old and old[name] != new[name]},
        rest != _others(notebook),
    )


def fit(gradebook: Gradebook, lesson: str, notebook: NotebookNode, count: str, students: Iterable[str]) -> Saved:
    """Make the cells of the gradebook those of ``notebook``. Returns the removed rows; rolls back on error.

    count: one of ``decisions.COUNTS``, for the added cells. students: those who handed in before the cells were added.
    """
    db, known = gradebook.db, in_gradebook(gradebook, lesson)
    wanted, others = _graded(notebook), _others(notebook)
    kinds = {cell.metadata.nbgrader.grade_id: cell.cell_type for cell in notebook.cells if _ours(cell)}
    added = {name: points for name, points in wanted.items() if name not in {cell.name for cell in known.grade_cells}}
    if count == "from-now":
        for student in students:
            enrol(gradebook, lesson, student)
    try:
        saved = {
            "grades": [
                _saved(cell, ("auto_score", "manual_score", "extra_credit", "needs_manual_grade"), cell.grades)
                for cell in known.grade_cells
                if cell.name not in wanted
            ],
            "comments": [
                _saved(cell, ("auto_comment", "manual_comment"), cell.comments)
                for cell in known.solution_cells
                if cell.name not in others["solution"]
            ],
        }
        for cells, names in ((known.grade_cells, wanted), (known.solution_cells, others["solution"])):
            for cell in [cell for cell in cells if cell.name not in names]:
                for row in [*cell.grades, *cell.comments]:
                    db.delete(row)
                db.delete(cell)
        for cell in [cell for cell in known.source_cells if cell.name not in others["source"]]:
            db.delete(cell)
        there = {cell.name for cell in known.source_cells}
        for name in others["source"] - there:
            db.add(SourceCell(name=name, notebook=known, cell_type=kinds[name]))
        for name in others["solution"] - {cell.name for cell in known.solution_cells}:
            cell = SolutionCell(name=name, notebook=known)
            db.add(cell)
            db.flush()
            for one in known.submissions:
                db.add(Comment(cell_id=cell.id, notebook=one))
        for name, points in added.items():
            cell = GradeCell(name=name, notebook=known, max_score=points, cell_type=kinds[name])
            db.add(cell)
            db.flush()
            for one in known.submissions:
                db.add(Grade(cell_id=cell.id, notebook=one, **_first_mark(count, points)))
        db.commit()
    except BaseException:
        db.rollback()
        raise
    return saved


def put_back(gradebook: Gradebook, lesson: str, saved: Saved) -> None:
    """Restore the marks and comments that ``fit`` removed, for the submissions that still exist."""
    db, known = gradebook.db, in_gradebook(gradebook, lesson)
    submissions = {one.student.id: one for one in known.submissions}
    for kind, cells, row_of in (("grades", known.grade_cells, Grade), ("comments", known.solution_cells, Comment)):
        by_name = {cell.name: cell for cell in cells}
        for one in saved[kind]:
            cell = by_name.get(one["name"])
            for student, values in one["rows"].items() if cell is not None else ():
                if student in submissions:
                    mine = submissions[student]
                    row = (
                        db.query(row_of).filter(row_of.cell_id == cell.id, row_of.notebook_id == mine.id).one_or_none()
                    )
                    if row is None:
                        row = row_of(cell_id=cell.id, notebook=mine)
                        db.add(row)
                    for name, value in values.items():
                        setattr(row, name, value)
    db.commit()


def enrol(gradebook: Gradebook, lesson: str, student: str) -> None:
    """Make sure that the student has a submission in the gradebook, marked or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader builds it before it adds it to the session
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(lesson, student)


def _first_mark(count: str, points: float) -> dict[str, Any]:
    """The first mark of an old submission for an added question; it holds until the submission is marked again."""
    return {
        "nobody": {"auto_score": 0.0, "needs_manual_grade": False},
        "from-now": {"manual_score": points, "needs_manual_grade": False},
        "all": {"needs_manual_grade": True},
    }[count]


def _saved(cell: Any, names: tuple[str, ...], rows: Iterable[Any]) -> Saved:
    return {
        "name": cell.name,
        "rows": {row.notebook.student.id: {name: getattr(row, name) for name in names} for row in rows},
    }


def _ours(cell: NotebookNode) -> bool:
    return utils.is_grade(cell) or utils.is_solution(cell) or utils.is_locked(cell)


def _graded(notebook: NotebookNode) -> dict[str, float]:
    return {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if utils.is_grade(cell)
    }


def _others(notebook: NotebookNode) -> dict[str, set[str]]:
    return {
        "solution": {cell.metadata.nbgrader.grade_id for cell in notebook.cells if utils.is_solution(cell)},
        "source": {cell.metadata.nbgrader.grade_id for cell in notebook.cells if _ours(cell)},
    }
