"""Marks as a student reads them: points, the state in words, reasons; as HTML, as Markdown and as a number."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from course.core.i18n import both, pick
from course.core.units import format_points
from course.core.verdict import Verdict
from course.learning.marking import Response, feedback
from course.questions.items import Item

WORDS = {
    "correct": both("right", "正确"),
    "partly": both("partly right", "部分正确"),
    "incorrect": both("not right", "不正确"),
    "not attempted": both("not attempted", "未作答"),
    "inconclusive": both("inconclusive", "无法判定"),
    "not marked": both("not marked", "未评分"),
}
HEAD = both("**{points} of {top:g} points** ({words})", "**{points} / {top:g} 分**（{words}）")
HEAD_OF_ONE = both("**{points} of 1 point** ({words})", "**{points} / 1 分**（{words}）")
CHOSEN, RIGHT, WHY, OPTION = (
    both("chosen", "已选"),
    both("right", "正确"),
    both("why", "原因"),
    both("option", "选项"),
)
YES, NO = both("yes", "是"), both("no", "否")
YOURS = both("Your answer: {}", "你的答案：{}")
TRUE = both("The right answer: {}", "正确答案：{}")
NONE = both("none", "无")
STEP, STEP_WHY = both("({})", "（{}）"), both("{}: {}", "{}：{}")
CELL_LOOK = "padding:3px 12px 3px 0;text-align:left;vertical-align:top"
REPAIRED = both("What the grader had to put in order", "评分程序做过的整理")


def result(points: float, top: float, state: str, blocks: Iterable[str], language: str) -> NotebookNode:
    """The one output of a graded cell. ``blocks`` are Markdown paragraphs, tables or lists.

    Its text/plain is the number nbgrader reads: a float within 0 and ``top``.
    """
    points = min(max(round(float(points), 4), 0.0), float(top))
    words = pick(WORDS[state], language)
    head = pick(HEAD_OF_ONE if top == 1 else HEAD, language).format(points=format_points(points), top=top, words=words)
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
    rows = [[pick(word, language) for word in (OPTION, CHOSEN, RIGHT, WHY)]]
    for line in feedback(item, response):
        sign = "✓ " if line.chosen and line.right else "✗ " if line.chosen else "→ " if line.right else ""
        rows.append(
            [
                sign + pick(item.option(line.option).text, language),
                pick(YES if line.chosen else NO, language),
                pick(YES if line.right else NO, language),
                pick(line.why, language),
            ]
        )
    lines = ["| " + " | ".join(_line(value).replace("|", "\\|") for value in row) + " |" for row in rows]
    return ["\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])]


def order_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's order, the right order, and a reason for each step, as Markdown blocks."""
    text = {option.id: _line(pick(option.text, language)) for option in item.options}

    def steps(ids: tuple[str, ...]) -> str:
        return " → ".join(pick(STEP, language).format(text.get(i, i)) for i in ids) or pick(NONE, language)

    whys = [
        "- " + pick(STEP_WHY, language).format(text[line.option].rstrip(".。"), _line(pick(line.why, language)))
        for line in feedback(item, response)
        if line.why
    ]
    return [
        pick(YOURS, language).format(steps(response.options)),
        pick(TRUE, language).format(steps(item.order)),
        *(["\n".join(whys)] if whys else []),
    ]


def number_blocks(item: Item, response: Response, language: str) -> list[str]:
    """The student's number, the right one, why, and which trap the answer fell into, as Markdown blocks."""
    unit = pick(item.number.unit, language)
    said = pick(NONE, language) if response.number is None else f"{_number(response.number)} {unit}"
    whys = [_line(pick(line.why, language)) for line in feedback(item, response) if line.why]
    return [
        pick(YOURS, language).format(said),
        pick(TRUE, language).format(f"{_number(item.number.value)} {unit}"),
        *whys,
    ]


def notes_cell(sentences: list[str], language: str) -> NotebookNode:
    """The text cell on top of a graded notebook that says what was repaired."""
    lines = "\n".join(f"- {html.escape(_line(sentence), quote=False)}" for sentence in dict.fromkeys(sentences))
    return new_markdown_cell(f"**{pick(REPAIRED, language)}**\n\n{lines}", id="course-notes")


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
