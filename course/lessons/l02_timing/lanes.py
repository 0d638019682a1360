"""Who works when: scenes one below the other, in each a lane for everyone who works, and the time that a clock read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.figures.kinds import alt_of, time_axis
from course.figures.svg import Canvas, SvgPicture, scale, wide

HEAD, LANE, BAR, GAP = 52, 32, 22, 14
"""Pixels: the two lines above a scene, a lane, the bar in it, the gap between two scenes."""
LOOKS = {"out": ("out", "", "paper"), "quiet": ("quiet", "", "fg"), "open": ("paper", "edge", "soft")}
"""look of a span -> inks of its bar, of the outline, of the words."""


class Span(NamedTuple):
    """One piece of work or waiting. look: "out" what the picture is about, "quiet" other work, "open" only waiting.

    words: in the bar; beside it where the bar is too short; left out where the next span is too near.
    """

    start: float
    end: float
    look: str
    words: str


class Scene(NamedTuple):
    """One story. lanes: who works -> what it does; read: when the clock started and stopped; said: its reading in words."""

    name: str
    lanes: Mapping[str, Sequence[Span]]
    read: tuple[float, float]
    said: str


def timed_lanes(scenes: Sequence[Scene], unit: str) -> SvgPicture:
    """The scenes on one axis of time, in ``unit``. The time that the clock read is shaded, between two upright lines."""
    ends = [span.end for scene in scenes for spans in scene.lanes.values() for span in spans]
    last = max(ends + [scene.read[1] for scene in scenes])

    def paint(w: float) -> Canvas:
        x0 = 24 + max(wide(name) for scene in scenes for name in scene.lanes)
        x, top = scale(0, last, x0, w - 18, False), 4.0
        paper = Canvas(w, 34 + sum(HEAD + LANE * len(scene.lanes) + GAP for scene in scenes))
        for scene in scenes:
            bottom, (start, stop) = top + HEAD + LANE * len(scene.lanes), map(x, scene.read)
            paper.text(x0, top + 12, scene.name, bold=True)
            paper.box(start, top + HEAD - 6, stop - start, bottom - top - HEAD + 6, "wash", r=0)
            for row, (name, spans) in enumerate(scene.lanes.items()):
                y = top + HEAD + LANE * (row + 0.5)
                paper.text(x0 - 12, y, name, ha="right")
                nexts = [*(x(span.start) for span in spans[1:]), w]
                for span, room in zip(spans, nexts, strict=True):
                    _bar(paper, x(span.start), x(span.end), room, y, span)
            for at in (start, stop):
                paper.line([at, at], [top + HEAD - 20, bottom], "fg", 1.8)
            beside = stop + 8 if stop - start < 4 else start + 8  # of no time at all: right of its one upright
            fits = beside + wide(scene.said, 14, True) < w
            paper.text(
                beside if fits else stop - 8,
                top + HEAD - 14,
                scene.said,
                size=14,
                bold=True,
                halo=True,
                ha="left" if fits else "right",
            )
            top = bottom + GAP
        time_axis(paper, x, last, top - GAP + 8, unit)
        return paper

    return SvgPicture(paint, alt_of([(scene.name, scene.said) for scene in scenes], None))


def _bar(paper: Canvas, left: float, right: float, room: float, y: float, span: Span) -> None:
    """One span; room: where the next one of its lane begins."""
    fill, edge, ink = LOOKS[span.look]
    long, need = max(right - left, 3), wide(span.words) + 12
    paper.box(left, y - BAR / 2, long, BAR, fill, edge, 3, 1.2)
    if need < long:
        paper.text(left + long / 2, y, span.words, ink, ha="center")
    elif need < room - left - long:
        paper.text(left + long + 6, y, span.words, "soft")
