"""The marks in a text cell: a term ``[[plan]]`` or ``[[plan|plans]]``, the way of a fork ``[[#What counts as new?]]``.

A term becomes its word with the meaning on hover: plain HTML that JupyterLab, VS Code and Colab all show. A fork becomes the
heading in bold, and a link to it in JupyterLab's form where JupyterLab (4.6) can follow one: it finds no heading by a name
that is not ASCII, its own ¶ links neither. Elsewhere the bold words say where to go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from course.questions import glossary
from grader.project.source import Cell

FORK = re.compile(r"\[\[#(?P<heading>[^\]]+)\]\]")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
Found = tuple[int, str, str]
"""Line, code of the rule (``course.questions.finding``), sentence."""


@lru_cache(maxsize=1)
def _terms() -> dict[str, glossary.Term]:
    return glossary.read()


def heading_text(heading: str) -> str:
    """A heading as a page shows it: without marks."""
    return (
        re.sub(r"\[\[[^\]|]+\|([^\]]+)\]\]", r"\1", heading).replace("`", "").replace("**", "").replace("*", "").strip()
    )


def anchor(heading: str) -> str:
    """The address of a heading inside its notebook, as JupyterLab makes it."""
    return "#" + heading_text(heading).replace(" ", "-")


def prose(text: str, language: str) -> str:
    """The text of a cell with its marks replaced, as it goes into the notebook. An unknown mark stays; ``faults`` reports it."""
    terms = _terms()

    def term(found: re.Match[str]) -> str:
        known = terms.get(found["id"])
        return glossary.hover(known, found["words"], language) if known else found[0]

    def way(found: re.Match[str]) -> str:
        if heading_text(found["heading"]).isascii():
            return f"[**{found['heading']}**](<{anchor(found['heading'])}>)"
        return f"<strong>{found['heading']}</strong>"  # beside a Chinese sign Markdown would show the asterisks

    return FORK.sub(way, glossary.replace_marks(text, term))


def faults(cells: list[Cell]) -> Iterator[Found]:
    """(line, rule, sentence) for each unknown mark, and for languages that mark different terms."""
    headings = {
        code: {heading_text(one) for cell in cells if cell.language == code for one in _HEADING.findall(cell.body)}
        for code in ("en", "zh")
    }
    before: set[str] = set()
    for cell in cells:
        if cell.kind != "markdown":
            continue
        marked = {found["id"] for found in glossary.marks(cell.body)}
        for unknown in sorted(marked - set(_terms())):
            yield (
                cell.line,
                "unknown-term",
                f"[[{unknown}]] is not in course/lessons/glossary.yaml: add it there, or mend the mark",
            )
        if cell.language == "zh" and marked != before:
            yield cell.line, "twin-terms", f"the twins mark other terms: {', '.join(sorted(marked ^ before))}"
        before = marked
        for found in FORK.finditer(cell.body):
            if heading_text(found["heading"]) not in headings[cell.language]:
                yield (
                    cell.line,
                    "unknown-heading",
                    f"[[#{found['heading']}]]: there is no such heading in this language",
                )
