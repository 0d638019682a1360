"""Marks as a student reads them: points, the state in words, reasons; as HTML, and as a number. ``code in backticks`` and **bold** work."""

from __future__ import annotations

import html
import re
from threading import Lock

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course.cards.render import answered_html
from course.core.i18n import pick, speaking
from course.core.markup import inline
from course.core.units import format_points
from course.core.verdict import Verdict
from course.learning.marking import Response
from course.learning.reporting import report
from course.questions.items import Item
from grader.marking.said import SAID

WORDS = SAID["state"]
MARK = SAID["mark"]
ONE_LANGUAGE = Lock()  # a Dask worker marks in several threads, and the language in use is one for all of them


def result(points: float, top: float, state: str, reasons: str, language: str) -> NotebookNode:
    """The one output of a graded cell. reasons: HTML, made by the functions below.

    Its text/plain is the number nbgrader reads: a float within 0 and ``top``.
    """
    points = min(max(round(float(points), 4), 0.0), float(top))
    words = pick(WORDS[state], language)
    head = pick(MARK["head-of-one" if top == 1 else "head"], language)
    head = head.format(points=format_points(points), top=top, words=words)
    return shown(points, f"<p>{inline(head)}</p>{reasons}")


def shown(points: float, text: str) -> NotebookNode:
    """An output with these points and this HTML; made without nbformat's new_output, whose validation takes as long as all the rest."""
    data = NotebookNode({"text/plain": repr(points), "text/html": f'<div class="course-mark">{text}</div>'})
    return NotebookNode(output_type="execute_result", data=data, metadata=NotebookNode(), execution_count=None)


def task_html(verdict: Verdict, language: str) -> str:
    """The reasons of a verdict as one list."""
    said = "".join(f"<li>{inline(_line(pick(message, language)))}</li>" for message in verdict.messages)
    return f"<ul>{said}</ul>" if said else ""


def question_html(item: Item, response: Response, verdict: Verdict, language: str) -> str:
    """What a question asks, the answer given, and the reason for each option, as a practice card tells them."""
    with ONE_LANGUAGE, speaking(language):
        return answered_html(item, None if response.empty else response, report(item, response, verdict))


def notes_cell(sentences: list[str], language: str) -> NotebookNode:
    """The text cell on top of a graded notebook that says what was repaired."""
    lines = "\n".join(f"- {html.escape(_line(sentence), quote=False)}" for sentence in dict.fromkeys(sentences))
    return new_markdown_cell(f"**{pick(MARK['repaired'], language)}**\n\n{lines}", id="course-notes")


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())
