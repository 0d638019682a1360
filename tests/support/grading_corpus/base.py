"""What a submission of the corpus is, and how it is written into a course folder.

The checkpoint has four questions (7 points), the task ``contrast`` (2 points for the typical inputs, 1 for the edges)
and the value ``report`` (3 points). A submission solves both tasks, answers nothing, and does its harm in a cell of its
own between the two; so 6 points mean that the harm has cost nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from course.learning.harvesting import MIME
from grader.marking.step import grade_id
from grader.project.build import text_of
from tests.support.grading_fixtures import LESSON, NOTEBOOK

SOLVED = "def contrast(low, high):\n    return (high - low) / (high + low)\n"
REPORT = 'report = {"median_ms": 1.25, "repeats": 7}\n'
BOTH = 6
CANARY = "CORPUS_CANARY"  # filled in: a name no other file or process has
ANSWERS = f"{LESSON}.answers.json"


@dataclass(frozen=True)
class Hostile:
    """One submission. harm: code of a cell between the tasks; task, report: other code for the two cells.
    change: what is done to the notebook; text: what is done to its text; files: beside it; place: what is done to
    its folder at the very end. points (None: held back), verdict: what it deserves (ANY, or words with |
    between, where it depends on the moment); says: what its problems in the summary say; told: what
    the instructor reads of it while marking goes on; shows, hides: what its graded notebook must and must not hold.
    """

    name: str
    harm: str = ""
    points: float | None = BOTH
    verdict: str = "ok"
    says: str = ""
    told: str = ""
    shows: str = ""
    hides: str = ""
    task: str = SOLVED
    report: str = REPORT
    change: Callable[[NotebookNode], Any] | None = None
    text: Callable[[str], str | bytes] | None = None
    files: dict[str, bytes | str] | None = None
    place: Callable[[Path], Any] | None = None


def cell_of(notebook: NotebookNode, identity: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if grade_id(cell) == identity)


def answer(item: str, *options: str, number: float | None = None, time: str = "2026-01-01T10:00:00.000Z") -> dict:
    """One answer as the sheet stores it."""
    return {"item": item, "options": list(options), "number": number, "confidence": None, "time": time}


def sheet(*given: dict, checkpoint: str = LESSON, schema: int = 1, **more: Any) -> dict:
    """A sheet of answers as the notebook and the file beside it carry it."""
    return {"schema": schema, "checkpoint": checkpoint, "answers": {one["item"]: one for one in given}, **more}


RIGHT = (
    answer("90-c-single", "b"),
    answer("90-c-multiple", "a", "e"),
    answer("90-c-number", number=3.0),
    answer("90-c-order", "c", "b", "a"),
)


def hand_in(case: Hostile, released: NotebookNode, folder: Path, words: dict[str, str]) -> None:
    """Write one submission; ``released`` is a copy of its own, ``words`` are filled in everywhere."""
    folder.mkdir(parents=True)
    notebook = released
    cell_of(notebook, "90-t-contrast-answer").source = f"{case.task}\n# {case.name[::-1]}\n"  # no two are the same
    cell_of(notebook, "90-t-report-answer").source = case.report
    # it was run: there is a sheet, and no answer
    first = next(cell for cell in notebook.cells if cell.get("id") == "bootstrap")
    first.outputs = [new_output("display_data", data={MIME: sheet()})]
    if case.harm:
        place = next(n for n, cell in enumerate(notebook.cells) if grade_id(cell) == "90-t-report-answer")
        notebook.cells.insert(place, new_code_cell(case.harm, id="harm"))
    if case.change is not None:
        case.change(notebook)
    text = filled(text_of(notebook), words)
    made = case.text(text) if case.text is not None else text
    (folder / f"{NOTEBOOK}.ipynb").write_bytes(
        made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")
    )
    for name, data in (case.files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = filled(data, words).encode() if isinstance(data, str) else data
        path.write_bytes(data)
    (folder / "timestamp.txt").write_text("2026-01-02 10:00:00.000000 UTC")
    if case.place is not None:
        case.place(folder)


def filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def dumped(data: Any) -> bytes:
    return json.dumps(data).encode()
