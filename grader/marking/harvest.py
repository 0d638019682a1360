"""The first step of all: take the quiz answers out of the notebook and the file beside it, before they are
cleared.
"""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from course.quiz.sheet import harvest
from grader.intake import reason_of
from grader.marking.step import STATE, CourseStep, note, state


class Harvest(CourseStep):
    """Keep the latest answer to each question in the notebook's metadata; note what is damaged."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.metadata.pop(STATE, None)  # only we write there
        if not self.ours(resources):
            return nb, resources
        lesson = self.lesson(resources)
        intake = reason_of(Path(self.course_root), resources["nbgrader"]["student"], lesson)
        answers, problems = harvest(nb, self._sidecar(resources, lesson), lesson)
        for problem in [intake, *problems] if intake else problems:
            note(nb, problem)
        state(nb)["answers"] = NotebookNode(answers)
        return nb, resources

    def _sidecar(self, resources: dict, lesson: str) -> str | None:
        path = Path(resources["metadata"]["path"]) / f"{lesson}.answers.json"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
