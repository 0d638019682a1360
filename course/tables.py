"""Tables of results as text and as HTML: a header and lines of cells; the first column is text, the others are figures.

And a text cut to the room it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

Lines = Sequence[Sequence[str]]
"""The header and the lines below it, all equally long."""


def clip(text: object, most: int = 40) -> str:
    """The text; where it has more than `most` characters, its beginning and "…"."""
    words = str(text)
    return words if len(words) <= most else words[: most - 1] + "…"


def columns(text: str) -> int:
    """Columns the text takes in a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def as_text(lines: Lines, figures: bool = True) -> list[str]:
    """Lines of equal columns. figures: whether all columns but the first stand to the right."""
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    found = []
    for line in lines:
        pads = [(cell, " " * (width - columns(cell))) for cell, width in zip(line, widths, strict=True)]
        cells = [pad + cell if at and figures else cell + pad for at, (cell, pad) in enumerate(pads)]
        found.append("  ".join(cells).rstrip())
    return found


def as_html(lines: Lines, caption: str = "", figures: bool = True) -> str:
    """The same as an HTML table in the colours of the page; caption and cells are escaped here."""
    title = f'<caption style="text-align:left;white-space:nowrap">{escape(caption)}</caption>' if caption else ""
    side = "right" if figures else "left"
    sides = ["left", *[side] * (len(lines[0]) - 1)]
    head = "".join(
        f'<th scope="col" style="text-align:{side}">{escape(cell)}</th>'
        for side, cell in zip(sides, lines[0], strict=True)
    )
    style = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums" if figures else "text-align:left"
    body = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal;white-space:pre">{escape(line[0])}</th>'
        + "".join(f'<td style="{style}">{escape(cell)}</td>' for cell in line[1:])
        + "</tr>"
        for line in lines[1:]
    )
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
