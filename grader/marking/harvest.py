"""The first step of marking: read the answers from the notebook and from the answers file, before outputs are cleared."""

from __future__ import annotations

from nbformat import NotebookNode

from course.i18n import Text
from course.learning.harvesting import carries_sheet, harvest
from grader.ingest import REPLACED
from grader.marking.step import STATE, note, state


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
