"""The steps with which stock nbgrader marks a checkpoint as ``python -m grader autograde`` does: both call ``mark_submission.mark``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from grader.course import released_text
from grader.handin.reading import handed_in
from grader.marking import mark_submission
from grader.marking.held import accepted
from grader.marking.step import CourseStep
from grader.sandbox.launch import out_of_sight


class Sanitize(CourseStep):
    """Replaces a submitted checkpoint with the released notebook: nbgrader's own steps for cleaning up, which come next, fail on
    some submissions. ``CourseExecute`` marks the submitted files themselves.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if self.ours(resources):
            nb = nbformat.reads(released_text(Path(self.course_root), self.lesson(resources)), as_version=4)
        return nb, resources


class CourseExecute(CourseStep, Execute):
    """Marks a submission with ``mark_submission.mark``, and gives nbgrader the graded notebook. Runs other notebooks as nbgrader does."""

    def preprocess(self, nb: NotebookNode, resources: dict, km: None = None) -> tuple[NotebookNode, dict]:
        """Mark the files in submitted/. Raises Infrastructure for a failure that is not the student's."""
        if not self.ours(resources):
            return super().preprocess(nb, resources, km)
        root, lesson, student = Path(self.course_root), self.lesson(resources), resources["nbgrader"]["student"]
        out_of_sight(root)
        submission = handed_in(root, lesson, student)
        looked = accepted(root, lesson).get(student) == submission.digest
        exam = mark_submission.exam(root, self.project, lesson, self.course_language)
        marked = mark_submission.mark(dataclasses.replace(submission, looked=looked), exam)
        return nbformat.reads(marked.notebook, as_version=4), resources
