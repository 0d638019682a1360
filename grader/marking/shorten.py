"""Shorten a graded notebook, so that its feedback page is made in seconds and opens in any browser.

Graded cells are small and stay whole; the student's own cells and outputs are cut or left out where they are too long.
"""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from course.core.i18n import pick
from grader.marking.said import say
from grader.marking.step import grade_id, language_of

MOST_TEXT = 40_000  # characters of one source or text output
MOST_PICTURE = 3_000_000  # characters of one picture or attachment
MOST_PAGE = 6_000_000  # of all together
MOST_CELLS = 500


class Shorten(NbGraderPreprocessor):
    """Shortens the copy from which a feedback page is made; the graded notebook itself stays as it is."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        shorten(nb)
        return nb, resources


def shorten(nb: NotebookNode) -> None:
    """Cut long sources, outputs and attachments of the student's cells; leave out cells once the page is full."""
    language = language_of(nb, "en")
    cut, shown, left = pick(say("page.cut"), language), [], MOST_PAGE
    for cell in nb.cells:
        cell.source = _cut(cell.source, MOST_TEXT, f"\n{cut}")
        for output in cell.get("outputs", ()) if not _graded(cell) else ():
            _output(output, cut)
        if "attachments" in cell:
            cell.attachments = NotebookNode(
                {name: data for name, data in cell.attachments.items() if len(str(data)) <= MOST_PICTURE}
            )
        left -= len(cell.source) + len(str(cell.get("outputs", ""))) + len(str(cell.get("attachments", "")))
        if grade_id(cell) or (left >= 0 and len(shown) < MOST_CELLS):
            shown.append(cell)
    if left_out := len(nb.cells) - len(shown):
        shown.insert(
            0, new_markdown_cell(f"**{pick(say('page.left-out', n=left_out), language)}**", id="course-left-out")
        )
    nb.cells = shown


def _graded(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


def _output(output: NotebookNode, cut: str) -> None:
    if output.output_type == "stream":
        output.text = _cut(output.text, MOST_TEXT, f"\n{cut}")
    elif output.output_type == "error":
        output.traceback = [_cut("\n".join(output.traceback), MOST_TEXT, f"\n{cut}")]
        output.evalue = _cut(output.evalue, MOST_TEXT, cut)
    else:
        for kind, data in list(output.data.items()):
            if kind.startswith("image/") and len(str(data)) > MOST_PICTURE:
                del output.data[kind]
                output.data.setdefault("text/plain", cut)
            elif isinstance(data, str) and not kind.startswith("image/") and len(data) > MOST_TEXT:
                output.data[kind] = _cut(data, MOST_TEXT, f"\n{cut}")


def _cut(text: str, most: int, said: str) -> str:
    return text if len(text) <= most else text[:most] + said
