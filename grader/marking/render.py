"""Marks as a student reads them: points, the state in words, reasons; as HTML, and as a number. ``code in backticks`` and **bold** work."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course.core.i18n import pick
from course.core.markup import inline
from course.core.units import format_points
from course.core.verdict import Verdict
from course.learning.marking import Response, feedback
from course.questions.items import Item
from grader.marking.said import SAID, say

WORDS = SAID["state"]
MARK = SAID["mark"]
CELL_LOOK = "padding:3px 12px 3px 0;text-align:left;vertical-align:top"


def result(points: float, top: float, state: str, blocks: Iterable[str], language: str) -> NotebookNode:
    """The one output of a graded cell. blocks: HTML, made by the functions below.

    Its text/plain is the number nbgrader reads: a float within 0 and ``top``.
    """
    points = min(max(round(float(points), 4), 0.0), float(top))
    words = pick(WORDS[state], language)
    head = pick(MARK["head-of-one" if top == 1 else "head"], language)
    head = paragraph(head.format(points=format_points(points), top=top, words=words))
    shown = f'<div class="course-mark">{head}{"".join(blocks)}</div>'
    data = NotebookNode({"text/plain": repr(points), "text/html": shown})
    # made without nbformat's new_output, whose validation takes as long as everything else here
    return NotebookNode(output_type="execute_result", data=data, metadata=NotebookNode(), execution_count=None)


def verdict_blocks(verdict: Verdict, language: str) -> list[str]:
    """The reasons of a verdict as one list."""
    return [_list(pick(message, language) for message in verdict.messages)] if verdict.messages else []


def option_table(item: Item, response: Response, language: str) -> list[str]:
    """A table of the options: whether each was chosen, whether it is right, and why."""
    rows = [[pick(MARK[word], language) for word in ("option", "chosen", "right", "why")]]
    for line in feedback(item, response):
        sign = "✓ " if line.chosen and line.right else "✗ " if line.chosen else "→ " if line.right else ""
        chosen, right = (pick(MARK["yes" if one else "no"], language) for one in (line.chosen, line.right))
        rows.append([sign + pick(item.option(line.option).text, language), chosen, right, pick(line.why, language)])
    cells = (
        "".join(f'<{tag} style="{CELL_LOOK}">{inline(_line(cell))}</{tag}>' for cell in row)
        for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    )
    return [f"<table>{''.join(f'<tr>{one}</tr>' for one in cells)}</table>"]


def order_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's order, the right order, and a reason for each step."""
    text = {option.id: _line(pick(option.text, language)) for option in item.options}

    def steps(ids: tuple[str, ...]) -> str:
        said = (pick(say("mark.step", step=text.get(one, one)), language) for one in ids)
        return " → ".join(said) or pick(MARK["none"], language)

    whys = [
        pick(say("mark.step-why", step=text[line.option].rstrip(".。"), why=_line(pick(line.why, language))), language)
        for line in feedback(item, response)
        if line.why
    ]
    return [*_answers(steps(response.options), steps(item.order), language), *([_list(whys)] if whys else [])]


def number_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's number, the right one, why, and which trap the answer fell into."""
    unit = pick(item.number.unit, language)
    said = pick(MARK["none"], language) if response.number is None else f"{response.number:.10g} {unit}"
    whys = [paragraph(_line(pick(line.why, language))) for line in feedback(item, response) if line.why]
    return [*_answers(said, f"{item.number.value:.10g} {unit}", language), *whys]


def _answers(given: str, right: str, language: str) -> list[str]:
    both = say("mark.yours", answer=given), say("mark.true-answer", answer=right)
    return [paragraph(pick(one, language)) for one in both]


def notes_cell(sentences: list[str], language: str) -> NotebookNode:
    """The text cell on top of a graded notebook that says what was repaired."""
    lines = "\n".join(f"- {html.escape(_line(sentence), quote=False)}" for sentence in dict.fromkeys(sentences))
    return new_markdown_cell(f"**{pick(MARK['repaired'], language)}**\n\n{lines}", id="course-notes")


def paragraph(text: str) -> str:
    """A text as HTML; it is escaped."""
    return f"<p>{inline(text.strip())}</p>"


def code(source: str) -> str:
    """Lines of code as HTML; they are escaped."""
    return f"<pre>{html.escape(source.rstrip(), quote=False)}</pre>"


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{inline(_line(one))}</li>" for one in texts) + "</ul>"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())
