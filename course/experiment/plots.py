"""Parts of pictures that the experiments of all lessons share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from course.figures.kinds import Bet
from course.figures.sheet import INKS
from course.figures.style import colors, faint, guide

BLUE, ORANGE = "C0", "C1"  # the theme's: safe for colour-blind readers; a word stands beside
Cell = tuple[str, "int | None"]  # a text and its mark
TABLE = "table"  # the gid of axes that hold a table and no scale
# where a text may be broken: after a space, in code after a sign, between Chinese characters
_PIECES = re.compile(r"\n|[^\s_.(=,/\u2e80-\u9fff]*[ _.(=,/]|[^\s_.(=,/\u2e80-\u9fff]+|.[，。；：！？）、”]*")
# points; the figure is 504 wide, a phone shows it at 400
_SIZE, _LINE, _PAD, _GAP, _MARK = 11.5, 14.5, 9.0, 16.0, 13.0


def table(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[Cell]]]) -> None:
    """A table of text with thin rules, as tall as its lines; alone in its figure it sets the height.

    heads: one for each column of words; all empty: no head line. lines: (label, cells), a cell (text, mark):
    mark None is plain text, 0 stands behind a dot, 1 behind a diamond and in bold, 2 behind a square. What is
    too wide for the picture is broken into lines.
    """
    marks = (("o", colors()[0]), ("D", colors()[1]), ("s", colors()[2]))
    rows = [("", [(head, None) for head in heads])] if any(heads) else []
    rows += [(label, list(cells)) for label, cells in lines]
    texts = [[label, *(text for text, _ in cells)] for label, cells in rows]
    bold = [[False, *(mark == 1 for _, mark in cells)] for _, cells in rows]
    marked = [0, *(_MARK * any(cells[at][1] is not None for _, cells in rows) for at in range(len(heads)))]
    whole = ax.figure.get_figwidth() * 72 - 10
    texts, widths = _fitted(ax, texts, bold, whole - _GAP * len(heads) - sum(marked))
    left = [sum(widths[:at]) + sum(marked[:at]) + _GAP * at for at in range(len(widths))]
    y = 0.0
    for number, (line, (_, cells)) in enumerate(zip(texts, rows, strict=True)):
        height = _LINE * max(1 + text.count("\n") for text in line) + _PAD
        head = number == 0 and any(heads)
        for at, text in enumerate(line):
            mark = cells[at - 1][1] if at else None
            if mark is not None:
                ax.plot(left[at] + 4, y + height / 2, marks[mark][0], color=marks[mark][1], markersize=6)
            ax.text(
                left[at] + marked[at],
                y + height / 2,
                text,
                va="center",
                fontsize=_SIZE,
                linespacing=1.2,
                fontweight="bold" if bold[number][at] else "normal",
                in_layout=False,  # else room is kept beside the table for what only seems to leave it
                **({"color": guide()} if head else {}),
            )
        y += height
        end = left[-1] + marked[-1] + widths[-1]
        ax.hlines(y, 0, end, color=guide() if head else faint(), linewidth=1.2 if head else 0.7)
    ax.set(xlim=(-2, whole), ylim=(max(y, 1) + 2, 0), xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.set_gid(TABLE)
    if len(ax.figure.axes) == 1:
        ax.figure.set_figheight((max(y, 1) + 34) / 72)


def _fitted(
    ax: Any, texts: list[list[str]], bold: list[list[bool]], room: float
) -> tuple[list[list[str]], list[float]]:
    """The texts broken so that the columns take at most `room` points, and the widths of the columns."""

    @cache
    def width(text: str, heavy: bool) -> float:
        shown = ax.text(0, 0, text, fontsize=_SIZE, fontweight="bold" if heavy else "normal")
        points = shown.get_window_extent().width * 72 / ax.figure.dpi
        shown.remove()
        return points

    def broken(text: str, heavy: bool, most: float) -> str:
        if width(text, heavy) <= most:
            return text
        lines = [""]
        for piece in _PIECES.findall(text):
            if piece == "\n" or lines[-1] and width(lines[-1] + piece.rstrip(), heavy) > most:
                lines.append("")
            lines[-1] += piece.lstrip("\n")
        return "\n".join(line.rstrip() for line in lines)

    def widest(cells: list[list[str]]) -> list[float]:
        return [max(map(width, *pair)) for pair in zip(zip(*cells), zip(*bold))]  # noqa: B905

    widths = widest(texts)
    if sum(widths) <= room:
        return texts, widths

    def fitted(share: float) -> list[list[str]]:
        return [[broken(text, heavy, share) for text, heavy in zip(*pair)] for pair in zip(texts, bold)]  # noqa: B905

    share = room / len(widths)  # narrow and broken columns leave what they do not need to the others
    while sum(widest(fitted(share + 4))) <= room:
        share += 4
    return fitted(share), widest(fitted(share))


def columns(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[str]]]) -> None:
    """A table of words: a label and one word a column; marked and bold where it is not the first column's."""
    cells = [(label, [(text, None if text == words[0] else 1) for text in words]) for label, words in lines]
    table(ax, heads, cells)


def tiles(ax: Any, lines: Sequence[tuple[str, str, bool]]) -> None:
    """A table of two columns, for each (label, word, bright): a dot before the word, a diamond if not bright."""
    table(ax, [""], [(label, [(text, 0 if bright else 1)]) for label, text, bright in lines])


def grid(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> None:
    """A table of marked words: for each line its label and, by column, (word, 0 good, 1 bad, 2 other)."""
    table(ax, heads, lines)


def interval_line(ax: Any, height: float, middle: float, low: float, high: float) -> None:
    """A value with its interval, at one height."""
    ax.plot([low, high], [height, height], color=BLUE, linewidth=3)
    ax.plot(middle, height, "o", color=BLUE)


def ratios(ax: Any, rows: Sequence[dict], names: Sequence[str], what: str, log: bool = True, digits: int = 3) -> None:
    """Ratios with their intervals (``ratio``, ``low``, ``high`` of each row) around 1, on an axis called ``what``."""
    from course.figures import intervals

    values, low, high = ([row[key] for row in rows] for key in ("ratio", "low", "high"))
    intervals(ax, names, values, low, high, "", reference=1.0, log=log, digits=digits, what=what)


def bet_line(ax: Any, words: str, *, x: float | None = None, y: float | None = None) -> None:
    """The learner's bet as a dashed line at ``x`` or ``y``; words: what was bet, without "your bet"."""
    ink = _bet_ink(ax)
    line, at = (ax.axvline, x) if x is not None else (ax.axhline, y)
    line(at, color=ink, linestyle=(0, (5, 3)), linewidth=1.8, zorder=3)
    place = (x, 0.97) if x is not None else (0.99, y)
    where = ax.get_xaxis_transform() if x is not None else ax.get_yaxis_transform()
    ax.annotate(
        Bet(words).full,
        place,
        xycoords=where,
        xytext=(5, -4),
        textcoords="offset points",
        color=ink,
        fontweight="bold",
        va="top",
        ha="left" if x is not None else "right",
    )


def bet_box(ax: Any, words: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    """The learner's bet as a dashed box from x[0] to x[1] and y[0] to y[1], in the units of the axes."""
    from matplotlib.patches import Rectangle

    ink = _bet_ink(ax)
    ax.add_patch(
        Rectangle(
            (x[0], y[0]), x[1] - x[0], y[1] - y[0], fill=False, edgecolor=ink, linestyle=(0, (5, 3)), linewidth=1.8
        )
    )
    ax.annotate(
        Bet(words).full,
        (x[0], max(y)),
        xytext=(2, 3),
        textcoords="offset points",
        color=ink,
        fontweight="bold",
        va="bottom",
    )


def _bet_ink(ax: Any) -> str:
    """The colour of a bet on the ground in force, the same as in our own SVG."""
    from matplotlib.colors import to_rgb

    return INKS["bet"][sum(to_rgb(ax.get_facecolor())) < 1.5]
