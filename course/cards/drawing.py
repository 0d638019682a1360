"""Small drawings in cards, as SVG of our own: the pictures of options, and a number on its scale.

Colours come from the card's style, so a drawing follows its light or dark look. Every drawing has its words
beside it; the SVG itself is hidden from screen readers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from course.core.i18n import pick
from course.core.markup import inline, plain
from course.learning.reporting import Ruler
from course.questions.items import Axes, Item, Plot

WIDTH, HEIGHT = 240, 132  # of an option's picture, in SVG units
LEFT, RIGHT, TOP, BOTTOM = 14, 8, 22, 24  # margins around its plotting area


def plot_svg(plot: Plot, axes: Axes, highest: float) -> str:
    """The picture of an option: bars, a line or dots above a base line at 0, with the axes named.

    highest: the top of the y axis, shared by all options of an item so that they can be compared.
    """
    wide, tall = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step, base = wide / len(plot.y), HEIGHT - BOTTOM
    places = [(LEFT + step * (k + 0.5), base - tall * max(y, 0) / highest) for k, y in enumerate(plot.y)]
    marks = {"bars": _bars, "line": _line, "dots": _dots}[axes.style](places, base, step)
    return (
        f'<svg class="tbq-plot" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" focusable="false">'
        f'<path class="axis" d="M{LEFT} {TOP - 6}V{base}H{WIDTH - RIGHT}"/>{marks}'
        f'<text x="{LEFT}" y="11">↑ {inline(plain(pick(axes.y)))}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 7}" text-anchor="end">{inline(plain(pick(axes.x)))} →</text></svg>'
    )


def _bars(places: Sequence[tuple[float, float]], base: float, step: float) -> str:
    wide = step * 0.62
    return "".join(
        f'<rect x="{x - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{max(base - y, 1):.1f}" rx="2"/>'
        for x, y in places
    )


def _line(places: Sequence[tuple[float, float]], base: float, step: float) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}"/>'


def _dots(places: Sequence[tuple[float, float]], base: float, step: float) -> str:
    return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places)


def highest(item: Item) -> float:
    """The top of the y axis that all pictures of an item share."""
    return max((y for one in item.options if one.plot for y in one.plot.y), default=1.0) or 1.0


def place_on(stops: Sequence[float], value: float) -> float:
    """Where a value stands on a scale whose stops are equally far apart: 0 at the first, 1 at the last.

    Between two stops, equal factors are equal lengths. A value beyond an end stands at that end.
    """
    if value <= stops[0]:
        return 0.0
    for number, (left, right) in enumerate(zip(stops, stops[1:], strict=False)):
        if value <= right:
            part = math.log(value / left) / math.log(right / left)
            return (number + part) / (len(stops) - 1)
    return 1.0


def ruler_html(ruler: Ruler) -> str:
    """A scale with what counts as right, the answer and the truth; its words stand in the messages."""

    def left(value: float) -> str:
        return f"{100 * place_on(ruler.stops, value):.2f}%"

    band = place_on(ruler.stops, ruler.high) - place_on(ruler.stops, ruler.low)
    ticks = "".join(f'<i style="left:{left(stop)}"><u>{short(stop)}</u></i>' for stop in ruler.stops)
    return (
        f'<div class="tbq-ruler" aria-hidden="true"><div><s style="left:{left(ruler.low)};'
        f'width:{100 * band:.2f}%"></s>{ticks}<b class="truth" style="left:{left(ruler.truth)}"></b>'
        f'<b class="given" style="left:{left(ruler.given)}"></b></div></div>'
    )


def short(value: float) -> str:
    """A number as short as a mark on a scale allows: 0.5, 20, 10k, 5M, 1e9."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if size * 10 <= value < size * 1000 or (size == 1e6 and size <= value < size * 1000):
            return f"{value / size:g}{letter}"
    return f"{value:g}" if value < 1e9 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
