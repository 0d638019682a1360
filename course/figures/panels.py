"""Panels joined by arrows: how something goes, in a picture without numbers. Side by side, or one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from course.figures.svg import Canvas, SvgPicture, wide

EDGE, TITLE, LINE, FOOT = 14, 40, 25, 34
"""Pixels: around the words of a panel, of its title, of one line, of its foot."""
DOT = 18
"""Pixels that the mark before a line takes."""


class Panel(NamedTuple):
    """One panel of `panels`. lines: words, with "+" in front where the line is what matters, "-" where it stays behind.

    foot: a last line, set off from the others.
    """

    title: str
    lines: Sequence[str]
    foot: str = ""

    @property
    def need(self) -> float:
        """The pixels of its widest words."""
        sizes = [wide(self.title, 14, True), wide(self.foot, 12.5, True)]
        return 2 * EDGE + max(
            sizes + [wide(line.lstrip("+-"), bold=line[:1] == "+") + DOT * _marked(line) for line in self.lines]
        )


def panels(found: Sequence[Panel], alt: str, joints: Sequence[str] = ()) -> SvgPicture:
    """The panels in their order. alt: the picture in words. joints: the words at the arrows between them; () draws no arrows."""
    gaps = [max(34.0, wide(words, 12) + 18) for words in joints] or [12.0] * (len(found) - 1)
    tall = (
        max(len(panel.lines) for panel in found) * LINE + TITLE + (FOOT if any(panel.foot for panel in found) else 10)
    )

    def paint(w: float) -> Canvas:
        spare = w - 8 - sum(panel.need for panel in found) - sum(gaps)
        if spare < 0:
            return _stacked(found, joints, w)
        paper, x = Canvas(w, tall + 8), 4.0
        for number, panel in enumerate(found):
            width = panel.need + spare / len(found)
            _panel(paper, panel, x, 4, width, tall)
            x += width
            if joints and number < len(joints):
                gap = gaps[number]
                paper.text(x + gap / 2, tall / 2 - 10, joints[number], "soft", 12, "center")
                paper.line([x + 6, x + gap - 6], [tall / 2 + 6] * 2, "edge", 2)
                paper.line(
                    [x + gap - 12, x + gap - 6, x + gap - 12], [tall / 2, tall / 2 + 6, tall / 2 + 12], "edge", 2
                )
            x += gaps[number] if number < len(gaps) else 0
        return paper

    return SvgPicture(paint, alt)


def _stacked(found: Sequence[Panel], joints: Sequence[str], w: float) -> Canvas:
    heights = [len(panel.lines) * LINE + TITLE + (FOOT if panel.foot else 10) for panel in found]
    gap = 34 if joints else 10
    paper, y = Canvas(w, sum(heights) + gap * (len(found) - 1) + 8), 4.0
    for number, (panel, height) in enumerate(zip(found, heights, strict=True)):
        _panel(paper, panel, 4, y, w - 8, height)
        y += height
        if number < len(joints):
            paper.line([30, 30], [y + 5, y + gap - 6], "edge", 2)
            paper.line([24, 30, 36], [y + gap - 12, y + gap - 6, y + gap - 12], "edge", 2)
            paper.text(48, y + gap / 2, joints[number], "soft", 12)
        y += gap
    return paper


def _panel(paper: Canvas, panel: Panel, x: float, y: float, w: float, h: float) -> None:
    paper.box(x, y, w, h, "", "edge", 10)
    paper.text(x + EDGE, y + 22, panel.title, size=14, bold=True)
    for number, line in enumerate(panel.lines):
        at, words = y + TITLE + LINE * (number + 0.5), line.lstrip("+-")
        bright = line.startswith("+")
        if _marked(line):
            paper.dot(x + EDGE + 5, at, 5, "out" if bright else "paper", "out" if bright else "edge")
        left = x + EDGE + DOT * _marked(line)
        paper.text(left, at, words, "out" if bright else "soft" if _marked(line) else "fg", bold=bright)
    if panel.foot:
        paper.text(x + EDGE, y + h - 17, panel.foot, "fg", 12.5, bold=True)


def _marked(line: str) -> bool:
    return line[:1] in "+-"
