"""Marks as a student reads them: points, the state in words, reasons; as HTML, as Markdown and as a number."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course.core.i18n import pick
from course.core.units import format_points
from course.core.verdict import Verdict
from course.learning.marking import Response, feedback
from course.questions.items import Item
from grader.marking.said import SAID, say

WORDS = SAID["state"]
MARK = SAID["mark"]
CELL_LOOK = "padding:3px 12px 3px 0;text-align:left;vertical-align:top"


def result(points: float, top: float, state: str, blocks: Iterable[str], language: str) -> NotebookNode:
    """The one output of a graded cell. ``blocks`` are Markdown paragraphs, tables or lists.

    Its text/plain is the number nbgrader reads: a float within 0 and ``top``.
    """
    points = min(max(round(float(points), 4), 0.0), float(top))
    words = pick(WORDS[state], language)
    head = pick(MARK["head-of-one" if top == 1 else "head"], language).format(
        points=format_points(points), top=top, words=words
    )
    blocks = [head, *blocks]
    data = NotebookNode(
        {
            "text/plain": repr(points),
            "text/html": f'<div class="course-mark">{"".join(map(_html, blocks))}</div>',
            "text/markdown": "\n\n".join(blocks),
        }
    )  # made without nbformat's new_output, whose validation takes as long as everything else here
    return NotebookNode(output_type="execute_result", data=data, metadata=NotebookNode(), execution_count=None)


def verdict_blocks(verdict: Verdict, language: str) -> list[str]:
    """The reasons of a verdict as one list."""
    return (
        ["\n".join(f"- {_line(pick(message, language))}" for message in verdict.messages)] if verdict.messages else []
    )


def option_table(item: Item, response: Response, language: str) -> list[str]:
    """A Markdown table of the options: whether each was chosen, whether it is right, and why."""
    rows = [[pick(MARK[word], language) for word in ("option", "chosen", "right", "why")]]
    for line in feedback(item, response):
        sign = "✓ " if line.chosen and line.right else "✗ " if line.chosen else "→ " if line.right else ""
        rows.append(
            [
                sign + pick(item.option(line.option).text, language),
                pick(MARK["yes" if line.chosen else "no"], language),
                pick(MARK["yes" if line.right else "no"], language),
                pick(line.why, language),
            ]
        )
    lines = ["| " + " | ".join(_line(value).replace("|", "\\|") for value in row) + " |" for row in rows]
    return ["\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])]


def order_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's order, the right order, and a reason for each step, as Markdown blocks."""
    text = {option.id: _line(pick(option.text, language)) for option in item.options}

    def steps(ids: tuple[str, ...]) -> str:
        return " → ".join(pick(MARK["step"], language).format(step=text.get(i, i)) for i in ids) or pick(
            MARK["none"], language
        )

    whys = [
        "- "
        + pick(
            say("mark.step-why", step=text[line.option].rstrip(".。"), why=_line(pick(line.why, language))), language
        )
        for line in feedback(item, response)
        if line.why
    ]
    return [
        pick(say("mark.yours", answer=steps(response.options)), language),
        pick(say("mark.true-answer", answer=steps(item.order)), language),
        *(["\n".join(whys)] if whys else []),
    ]


def number_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's number, the right one, why, and which trap the answer fell into, as Markdown blocks."""
    unit = pick(item.number.unit, language)
    said = pick(MARK["none"], language) if response.number is None else f"{_number(response.number)} {unit}"
    whys = [_line(pick(line.why, language)) for line in feedback(item, response) if line.why]
    return [
        pick(say("mark.yours", answer=said), language),
        pick(say("mark.true-answer", answer=f"{_number(item.number.value)} {unit}"), language),
        *whys,
    ]


def notes_cell(sentences: list[str], language: str) -> NotebookNode:
    """The text cell on top of a graded notebook that says what was repaired."""
    lines = "\n".join(f"- {html.escape(_line(sentence), quote=False)}" for sentence in dict.fromkeys(sentences))
    return new_markdown_cell(f"**{pick(MARK['repaired'], language)}**\n\n{lines}", id="course-notes")


def _number(value: float) -> str:
    """A number with as many digits as it needs."""
    return f"{value:.10g}"


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())


def _html(block: str) -> str:
    """A Markdown paragraph, list or table as HTML; all its text is escaped first."""
    lines = block.split("\n")
    if lines[0] == "```":
        return f"<pre>{html.escape(chr(10).join(lines[1:-1]), quote=False)}</pre>"
    if lines[0].startswith("| "):
        rows = [
            [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
            if not line.startswith("| ---") and not line.startswith("|---")
        ]
        body = "".join(
            "<tr>" + "".join(f'<{tag} style="{CELL_LOOK}">{_inline(cell)}</{tag}>' for cell in row) + "</tr>"
            for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
        )
        return f"<table>{body}</table>"
    if lines[0].startswith("- "):
        return "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    text = html.escape(text.strip(), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
