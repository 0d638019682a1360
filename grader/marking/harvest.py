"""The first step of marking: read the answers from the notebook and from the answers file, before outputs are cleared."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from course.i18n import Text
from course.learning.harvesting import carries_sheet, harvest
from grader.ingest import REPLACED, reason_of
from grader.marking.step import STATE, CourseStep, note, state


class Harvest(CourseStep):
    """Stores the latest answer to each question in the notebook's metadata, with a note about anything damaged."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.metadata.pop(STATE, None)
        if self.ours(resources):
            lesson = self.lesson(resources)
            reason = reason_of(Path(self.course_root), resources["nbgrader"]["student"], lesson)
            take_answers(nb, self._sidecar(resources, lesson), lesson, reason)
        return nb, resources

    def _sidecar(self, resources: dict, lesson: str) -> str | None:
        path = Path(resources["metadata"]["path"]) / f"{lesson}.answers.json"
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def take_answers(nb: NotebookNode, sidecar: str | None, lesson: str, reason: Text | None) -> None:
    """Store the answers in the notebook's metadata. sidecar: the text of the answers file, None where there is none; reason:
    what was wrong with the notebook's file, None where nothing was.
    """
    nb.metadata.pop(STATE, None)  # a student may have written there
    answers, problems = harvest(nb, sidecar, lesson)
    if reason is not None:
        note(nb, "file", reason)
        if "harm" not in reason:
            state(nb)["happened"].append("damaged")
        state(nb)["lost"] = reason["en"].endswith(REPLACED["en"])  # nothing of the file could be read
    for problem in problems:
        note(nb, "sheet", problem)
    state(nb)["sheet"] = sidecar is not None or carries_sheet(nb)
    state(nb)["answers"] = NotebookNode(answers)
