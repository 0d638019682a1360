"""Save marks and points for lateness with nbgrader's own ``Gradebook``, each submission in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nbgrader.api import Gradebook, MissingEntry, Notebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.orm import scoped_session, sessionmaker
from traitlets import TraitError

from grader.course import command
from grader.project import Infrastructure, ProjectError, name_of
from grader.project.dates import timestamp_of

if TYPE_CHECKING:
    from grader.course import Course


@contextmanager
def in_one_transaction(gradebook: Gradebook) -> Iterator[None]:
    """In this block nbgrader's methods, which commit after every step, write all or nothing."""
    usual = gradebook.db
    with gradebook.engine.begin() as connection:
        gradebook.db = scoped_session(sessionmaker(autoflush=False, bind=connection, future=True))
        try:
            yield
            gradebook.db.flush()
        finally:
            gradebook.db.remove()
            gradebook.db = usual


def in_gradebook(gradebook: Gradebook, lesson: str) -> Notebook | None:
    """The checkpoint's notebook in the gradebook; None where it was never released."""
    try:
        return gradebook.find_notebook(name_of(lesson), lesson)
    except MissingEntry:
        return None


class GradebookWriter:
    """The gradebook of one checkpoint, open for writing: a context manager. Raises Infrastructure where it was never released,
    ProjectError for settings of late points that cannot be read.
    """

    def __init__(self, course: Course, lesson: str) -> None:
        self.lesson = lesson
        try:
            self._lateness = AssignLatePenalties(config=course.config)
            self._lateness.init_plugin()
        except TraitError as error:
            raise ProjectError(f"{course.root / 'nbgrader_config.py'}: {error}") from None
        self._gradebook = course.gradebook
        notebook = in_gradebook(self._gradebook, lesson)
        if notebook is None:
            self._gradebook.close()
            raise Infrastructure(f"{lesson} is not in the gradebook; run {command('release ' + lesson, course.root)}")
        self._name = notebook.name
        self._graded = {cell.id: cell.name for cell in notebook.grade_cells}
        self._solutions = {cell.id: cell.name for cell in notebook.solution_cells}
        self._gradebook.db.remove()

    def __enter__(self) -> GradebookWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def write(self, student: str, scores: dict[str, float | None], comments: dict[str, str | None], when: str) -> None:
        """Write the marks of one submission, all or none. Manual marks stay. scores, comments: by grade id.

        when: the time stamp of the submission as text, or "". Raises Infrastructure where its cells are not those of the
        gradebook.
        """
        if unknown := sorted({*scores} ^ {*self._graded.values()}):
            raise Infrastructure(f"cells and gradebook do not match: {', '.join(unknown)}; release {self.lesson} again")
        stamp = timestamp_of(when)
        with in_one_transaction(self._gradebook):
            self._gradebook.update_or_create_student(student)
            submission = self._gradebook.update_or_create_submission(
                self.lesson, student, **({} if stamp is None else {"timestamp": stamp})
            )
            (notebook,) = (one for one in submission.notebooks if one.name == self._name)
            for grade in notebook.grades:
                grade.auto_score = scores[self._graded[grade.cell_id]]
                grade.needs_manual_grade = (grade.auto_score is None) == (grade.manual_score is None)
            for comment in notebook.comments:
                comment.auto_comment = comments[self._solutions[comment.cell_id]]
            self._gradebook.db.flush()
            self._take_late(submission, notebook)

    def withdraw(self, student: str) -> None:
        """Remove the automatic marks of a submission that could not be marked, so that no old mark counts."""
        with in_one_transaction(self._gradebook):
            try:
                submission = self._gradebook.find_submission(self.lesson, student)
            except MissingEntry:
                return
            for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
                grade.auto_score, grade.needs_manual_grade = None, True

    def late_again(self) -> None:
        """Take the points for lateness again, since a mark given by hand, the rules, or the dates may have changed."""
        with in_one_transaction(self._gradebook):
            there = {one.id: one for one in self._gradebook.assignment_submissions(self.lesson)}
            for notebook in self._gradebook.notebook_submissions(self._name, self.lesson):
                self._take_late(there[notebook.assignment_id], notebook)

    def _take_late(self, submission: SubmittedAssignment, notebook: SubmittedNotebook) -> None:
        """Do what nbgrader's ``AssignLatePenalties`` does, without opening the gradebook again."""
        seconds, points = submission.total_seconds_late, None
        if seconds > 0:
            plugin = self._lateness.plugin_inst
            points = plugin.late_submission_penalty(submission.student_id, notebook.score, seconds)
        if points is not None:
            points = self._lateness._check_late_penalty(notebook, points)
        notebook.late_submission_penalty = points
