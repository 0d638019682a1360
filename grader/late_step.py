"""The step that takes points for lateness. It replaces nbgrader's own, which also overwrites what was set by hand.

The points that the step has taken are kept in a table of the gradebook. Only while the gradebook has that very number are they
computed again, at marking and whenever marks are given out, so that they follow a mark given by hand, new rules and new dates. Any
other number was set by hand, 0 too, and stays.
"""

from __future__ import annotations

from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import Column, Connection, Float, MetaData, String, Table, delete, insert, inspect, select

TAKEN = Table(
    "course_late_points", MetaData(), Column("notebook_id", String(32), primary_key=True), Column("points", Float)
)


class LatePoints(AssignLatePenalties):
    """Asks the plugin of the course (``plugin_class``) how many points to take, unless they were set by hand."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Write the points into the gradebook, and which they are, in one transaction."""
        said = resources["nbgrader"]
        self.notebook_id, self.assignment_id, self.student_id = said["notebook"], said["assignment"], said["student"]
        self.init_plugin()
        with Gradebook(said["db_url"]) as self.gradebook:
            submission = self.gradebook.find_submission(self.assignment_id, self.student_id)
            notebook = self.gradebook.find_submission_notebook(self.notebook_id, self.assignment_id, self.student_id)
            db = self.gradebook.db.connection()
            if not is_by_hand(notebook.late_submission_penalty, taken(db, notebook.id).get(notebook.id)):
                late, points = submission.total_seconds_late, None
                if late > 0:
                    points = self.plugin_inst.late_submission_penalty(self.student_id, notebook.score, late)
                if points is not None:
                    points = self._check_late_penalty(notebook, points)
                notebook.late_submission_penalty = points
                db.execute(delete(TAKEN).where(TAKEN.c.notebook_id == notebook.id))
                db.execute(insert(TAKEN).values(notebook_id=notebook.id, points=points or 0.0))
                self.gradebook.db.commit()
        return nb, resources


def taken(db: Connection, notebook: str | None = None) -> dict[str, float]:
    """Id of a ``SubmittedNotebook`` (of this one alone, where it is named) -> the points that the step has taken.

    Whatever is in a gradebook that has no such table yet counts as taken.
    """
    if not inspect(db).has_table(TAKEN.name):
        TAKEN.create(db)
        late = SubmittedNotebook.__table__.c
        there = select(late.id, late.late_submission_penalty).where(late.late_submission_penalty.is_not(None))
        db.execute(insert(TAKEN).from_select(["notebook_id", "points"], there))
    rows = select(TAKEN.c.notebook_id, TAKEN.c.points)
    return dict(map(tuple, db.execute(rows if notebook is None else rows.where(TAKEN.c.notebook_id == notebook))))


def is_by_hand(points: float | None, taken: float | None) -> bool:
    """Whether the points in the gradebook are others than those the step has taken."""
    return abs((points or 0.0) - (taken or 0.0)) > 1e-6
