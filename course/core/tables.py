"""Tables of results as text and as HTML: a header and lines of cells; the first column is text, the others are figures.

And a text cut to the room it has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from unicodedata import east_asian_width

from course.core.i18n import t

Lines = Sequence[Sequence[str]]
"""The header and the lines below it, all equally long."""
SAME = "·"
"""A cell of a `Table` in which nothing changed; the corner of the table says so."""
ROOM, SIGN, GAP = 310, 7.5, 12
"""Pixels: the breadth of a `Table` on a phone, of a sign in it, and between two columns."""
BREAK = re.compile(r"(?<=\w)([._])(?=[A-Za-z])")
"""After such a sign a name of code may go on in the next line."""


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


@dataclass(frozen=True)
class Table:
    """A table of words as the picture of a result: it reflows, can be read aloud, and has the colours of the page.

    lines: header (empty cells: none) and lines; the first column names the line. marks: (line, column) -> "told" for what
    came out, "quiet" for what is not the point; lines count from 0 below the header. bets: cells the learner bet on; a line
    of them that has no name is shown with one.
    """

    lines: Lines
    marks: Mapping[tuple[int, int], str] = field(default_factory=dict)
    bets: Collection[tuple[int, int]] = ()

    @property
    def alt(self) -> str:
        """The same in words, line by line; a cell that was bet on says so."""
        mine = t(" (your bet)", "（你押的）")
        said = [
            [cell + mine * self._bet_in((number, at)) for at, cell in enumerate(line)]
            for number, line in enumerate(self._named(), -1)
        ]
        return "\n".join(as_text([line for line in said if any(line)], figures=False))

    def bet_on(self, line: int | None, said: Sequence[str]) -> Table:
        """The table with one more bet. said: a text for each cell of a line without its name, empty where nothing was bet.

        Drawn in the line itself where that says the same, else as a line of its own below it (None: below the last).
        """
        below = len(self.lines) - 2 if line is None else line
        meant = [(at, words) for at, words in enumerate(said, 1) if words]
        if line is not None and all(self.lines[line + 1][at] == words for at, words in meant):
            return replace(self, bets={*self.bets, *((line, at) for at, _ in meant)})
        lines = [*self.lines[: below + 2], ["", *said], *self.lines[below + 2 :]]
        moved = [(number + (number > below), at) for number, at in (*self.marks, *self.bets)]
        marks = dict(zip(moved, self.marks.values(), strict=False))
        return Table(lines, marks, {*moved[len(self.marks) :], *((below + 1, at) for at, _ in meant)})

    def html(self) -> str:
        """Its look is in ``course/figures/result.css``: on a phone each line of a table that is too broad for it is a block."""
        head, *lines = self._named()
        longest = [
            max(columns(word) for cell in column for word in _words(cell)) for column in zip(*self.lines, strict=True)
        ]
        many = ' class="many"' if sum(longest) * SIGN + len(longest) * GAP > ROOM else ""
        heads = "".join(f'<th scope="col">{_breakable(cell)}</th>' for cell in head) if any(head) else ""
        body = "".join(
            f'<tr><th scope="row">{_breakable(line[0])}</th>'
            + "".join(self._cell(cell, (number, at)) for at, cell in enumerate(line[1:], 1))
            + "</tr>"
            for number, line in enumerate(lines)
        )
        return f"<table{many}>{f'<thead><tr>{heads}</tr></thead>' if heads else ''}<tbody>{body}</tbody></table>"

    def _named(self) -> Lines:
        held = {number for number, _ in self.bets}
        corner = t(f"{SAME} no change", f"{SAME} 没变") if any(SAME in line for line in self.lines) else ""
        names = {-1: corner} | dict.fromkeys(held, t("your bet", "你押的"))
        return [[line[0] or names.get(number, ""), *line[1:]] for number, line in enumerate(self.lines, -1)]

    def _bet_in(self, place: tuple[int, int]) -> bool:
        """Whether a cell was bet on and its line does not say so by its name."""
        return place in self.bets and bool(self.lines[place[0] + 1][0])

    def _cell(self, words: str, place: tuple[int, int]) -> str:
        names = [self.marks.get(place, ""), "bet" * (place in self.bets), "same" * (words == SAME)]
        mine = f"<small>{t('your bet', '你押的')}</small>" if self._bet_in(place) else ""
        of = escape(self.lines[0][place[1]], quote=True)
        return f'<td class="{" ".join(filter(None, names))}" data-of="{of}">{_breakable(words)}{mine}</td>'


def wide(table: str) -> str:
    """HTML of a table that may be wider than the page: it scrolls, also by keys."""
    return f'<div style="overflow-x:auto" tabindex="0">{table}</div>'


def _breakable(words: str) -> str:
    """The words as HTML; a narrow column may break a name of code after a dot or an underscore."""
    return BREAK.sub(r"\1<wbr>", escape(words))


def _words(cell: str) -> list[str]:
    """The pieces of a cell between which a line may break: a Chinese sign is one of its own."""
    return re.findall(r"[!-\u2e7f]+|[^\s!-\u2e7f]", BREAK.sub(r"\1 ", cell)) or [""]
