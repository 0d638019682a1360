"""Parts of pictures that the experiments of all lessons share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.figures.style import colors, ink_on

BLUE, ORANGE = "C0", "C1"  # the theme's: safe for colour-blind readers; a word stands beside


def columns(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[str]]]) -> None:
    """A table of tiles: a label and one word a column; orange where a word is not that of the first column."""
    width = 1 / len(heads)
    for height, (_, words) in enumerate(reversed(lines)):
        for place, text in enumerate(words):
            colour = BLUE if text == words[0] else ORANGE
            ax.barh(height, width - 0.01, left=place * width, height=0.82, color=colour)
            ax.text((place + 0.5) * width, height, text, ha="center", va="center", color=ink_on(colour), fontsize=9)
    for place, head in enumerate(heads if len(heads) > 1 else ()):
        ax.text((place + 0.5) * width, len(lines) - 0.35, head, ha="center", va="center", fontsize=9)
    ax.set_yticks(range(len(lines)), [label for label, _ in reversed(lines)], fontsize=9)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.5, len(lines) - (0.05 if len(heads) > 1 else 0.4))
    ax.set_xticks([])
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)


def tiles(ax: Any, lines: Sequence[tuple[str, str, bool]]) -> None:
    """One line for each (label, word, bright): the label at the left, the word on a coloured tile."""
    columns(ax, [""], [(label, [text]) for label, text, _ in lines])
    for bar, (_, _, bright) in zip(ax.patches, reversed(lines), strict=True):
        bar.set_color(BLUE if bright else ORANGE)
    for text, (_, _, bright) in zip(ax.texts, reversed(lines), strict=True):
        text.set_color(ink_on(BLUE if bright else ORANGE))


def grid(ax: Any, heads: Sequence[str], lines: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> None:
    """A table of coloured cells: for each line its label and, by column, (word, colour 0 good, 1 bad, 2 other)."""
    blue, orange, green = colors()[:3]
    for y, (_, cells) in enumerate(lines):
        for x, (text, shade) in enumerate(cells):
            colour = (green, orange, blue)[shade]
            ax.barh(y, 0.94, left=x - 0.47, height=0.84, color=colour)
            ax.text(x, y, text, ha="center", va="center", fontsize=8.5, color=ink_on(colour))
    ax.set_xticks(range(len(heads)), heads, fontsize=9 if max(map(len, heads)) < 18 else 8)
    ax.set_yticks(range(len(lines)), [label for label, _ in lines], fontsize=9)
    ax.set_xlim(-0.5, len(heads) - 0.5)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.invert_yaxis()
    ax.grid(False)


def interval_line(ax: Any, height: float, middle: float, low: float, high: float) -> None:
    """A value with its interval, at one height."""
    ax.plot([low, high], [height, height], color=BLUE, linewidth=3)
    ax.plot(middle, height, "o", color=BLUE)
