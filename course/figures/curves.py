"""Two kinds of pictures with a height of their own: what is paid back or not, and a trend over a size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from course.core.i18n import t
from course.core.units import time_words
from course.figures.kinds import Bet, checked, ticks_between
from course.figures.svg import SLIM, Canvas, SvgPicture, scale, wide

# --- paid back? two running totals and where they cross ------------------------------------------------------


def cost_curve(
    price: float,
    slow: float,
    fast: float,
    names: tuple[str, str],
    words: tuple[str, str, str],
    bet: Bet | None = None,
    measured: int | None = None,
    total: str = "",
) -> SvgPicture:
    """A price paid at the start, then ``fast`` a step, against ``slow`` a step without it, all in seconds. names: without, with.

    words: not yet paid back, paid back, and when. bet: at, a number of steps, 0 for never.
    measured: steps that were run; beyond them the lines go on dotted, by the time of a step. total: the name of the
    upright axis, where it says more than total time.
    """
    checked(bet, "at")
    cross = price / (slow - fast) if slow > fast else math.inf
    last = max(2.4 * cross if cross < 1e6 else 40, 1.2 * bet.at if bet and bet.at else 0, measured or 5)
    seen = min(measured or last, last)
    axis = t("steps →", "步数 →")

    def paint(w: float) -> Canvas:
        x0, x1, y0, y1 = 24, w - 24 - max(wide(name, 14, True) for name in names), 44, 242
        paper = Canvas(w, 280 if not bet else 300)
        top = max(slow * last, price + (slow if bet and not bet.at else fast) * last)
        x, y = scale(0, last, x0, x1, False), scale(0, top, y1, y0, False)
        if cross < last:
            paper.box(x(cross), y0 - 32, x1 - x(cross), y1 - y0 + 32, "wash", r=6)
            if wide(words[0], bold=True) + 20 < x(cross) - x0:
                paper.text(x(cross) - 12, y0 - 22, words[0], "soft", ha="right", bold=True)
            paper.text(x(cross) + 12, y0 - 22, words[1], "out", bold=True)
        ends = [y(slow * last), y(price + fast * last)]
        if abs(ends[0] - ends[1]) < 18:
            ends = [ends[0] + 9 * (1 if ends[0] > ends[1] else -1), ends[1] - 9 * (1 if ends[0] > ends[1] else -1)]
        paper.line([x0, x1], [y1, y1], "fg", 1.5)
        for ink, width, start, each in (("edge", 2.5, 0, slow), ("out", 3, price, fast)):
            heights = [y(start + each * steps) for steps in (0, seen, last)]
            paper.line([x(0), x(0), x(seen)], [y(0), *heights[:2]], ink, width)
            paper.line([x(seen), x(last)], heights[1:], ink, width, "2 5")
        paper.text(x1 + 10, ends[0], names[0], "soft", 14)
        paper.text(x1 + 10, ends[1], names[1], "out", 14, bold=True)
        if y1 - y(price) > 44:
            paper.text(x0 + 8, y(price) + 16, f"+{time_words(price)}", "out", 14, bold=True, halo=True)
        if cross < last:
            paper.dot(x(cross), y(slow * cross))
            under = min(y(slow * cross) + 18, y1 - 10)  # not among the numbers of the axis
            paper.text(x(cross) + 14, under, words[2], size=15, bold=True, halo=True)
        else:
            paper.text((x(0) + x(last)) / 2, y0 - 30, words[2], size=15, ha="center", bold=True)
        paper.text(x0, y0 - 9, f"↑ {total or t('total time', '总时间')}", "soft", 12)
        paper.text(x1, y1 + 14, axis, "soft", 12, "right")
        _steps(paper, x, last, y1 + 14, x1 - wide(axis, 12) - 12)
        if bet:
            _expected(paper, x, y, (price, slow, last), bet, y1)
        return paper

    return SvgPicture(paint, words[2] + t(".", "。") + (t(" ", "") + bet.full + t(".", "。") if bet else ""))


def _steps(paper: Canvas, x: Callable[[float], float], last: float, y: float, end: float) -> None:
    """The round numbers of steps that have room before ``end``."""
    taken = -math.inf
    for value in ticks_between(0, last):
        half = wide(f"{value:,.0f}", 12) / 2
        if taken < x(value) - half and x(value) + half < end:
            paper.text(x(value), y, f"{value:,.0f}", "soft", 12, "center")
            taken = x(value) + half + 10


def _expected(
    paper: Canvas,
    x: Callable[[float], float],
    y: Callable[[float], float],
    sizes: tuple[float, float, float],
    bet: Bet,
    floor: float,
) -> None:
    """The line that the bet foretold: from the price to where both totals would be equal, or beside the other one for ever."""
    price, slow, last = sizes
    at = bet.at or last
    meet = y(slow * at) if bet.at else y(price + slow * last)
    beside = 0 if bet.at else 9  # no line hides the other
    paper.line([x(0), x(at)], [y(price) - beside, meet - beside], "bet", 2, "7 5")
    if bet.at:
        paper.line([x(at)] * 2, [meet, floor], "bet", 1.2, "2 4")
        paper.dot(x(at), meet, 5.5, "paper", "bet")
    half = wide(bet.full, 13, True) / 2
    paper.ask(min(max(x(at), half + 4), paper.w - half - 4), floor + 36, bet.full, "center")


# --- a trend: at most three lines, named at their ends -------------------------------------------------------


def trend(
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    alt: str,
    bet: Bet | None = None,
    *,
    across: str = "",
    x_words: Callable[[float], str] = "{:g}".format,
    y_words: Callable[[float], str] = "{:g}".format,
) -> SvgPicture:
    """Lines over a size: the last of ``series`` is what it is about, the others stand back. None leaves a gap.

    across: what x is. alt: the picture in words. bet: span, between which values the last line ends. At most three lines.
    """
    checked(bet, "span")
    values = [value for line in series.values() for value in line if value is not None]
    inks = (("edge", 2.0, "7 4"), ("soft", 2.2, ""), ("out", 3.0, ""))[-len(series) :]

    def paint(w: float) -> Canvas:
        above = w < SLIM  # the names, where the lines need the whole width
        y0 = 16 + 19 * len(series) * above
        y1 = y0 + 210
        ends = {name: next(value for value in reversed(line) if value is not None) for name, line in series.items()}
        x1 = w - (16 if above else 22 + max(wide(name, 13.5, True) for name in series))
        low, ticks = min(0, *values), ticks_between(0, max(values), 4)
        x0 = 20 + max(wide(y_words(value), 12) for value in ticks)
        paper = Canvas(w, y1 + (62 if bet else 42))
        place = scale(min(x), max(x), x0 + 10, x1 - 8, False)
        height = scale(low, max(*values, ticks[-1]), y1, y0, False)
        for value in ticks:
            paper.line([x0, x1], [height(value)] * 2, "line")
            paper.text(x0 - 8, height(value), y_words(value), "soft", 12, "right")
        taken, last = -math.inf, place(x[-1])
        for value in x:
            room = wide(x_words(value), 12) + 12
            if value == x[-1] or (place(value) - taken > room and last - place(value) > room):
                taken = place(value)
                paper.text(taken, y1 + 15, x_words(value), "soft", 12, "center")
        paper.text(x1, y1 + 33, across, "soft", 12, "right")
        spread = _spread({name: height(value) for name, value in ends.items()})
        for (name, line), (ink, width, dash) in zip(series.items(), inks, strict=True):
            points = [(place(at), height(value)) for at, value in zip(x, line, strict=True) if value is not None]
            paper.line([at for at, _ in points], [at for _, at in points], ink, width, dash)
            for at in points:
                paper.dot(*at, r=4.5 if ink == "out" else 3.5, fill=ink)
            label = (x1 + 8, spread[name])
            if above:
                label = (34, 10 + 19 * list(series)[::-1].index(name))
                paper.line([10, 28], [label[1]] * 2, ink, width, dash)
            paper.text(*label, name, ink if ink == "out" else "soft", bold=ink == "out")
        if bet:
            low_y, high_y = (height(value) for value in bet.span)
            left = place(x[-1]) - 14
            paper.outline(left, high_y, x1 + 6 - left, low_y - high_y)
            paper.ask(x1, y1 + 52, bet.full, "right")
        return paper

    return SvgPicture(paint, alt + (t(" ", "") + bet.full + t(".", "。") if bet else ""))


def _spread(heights: Mapping[str, float], least: float = 18) -> dict[str, float]:
    """The heights of names, moved apart where they would touch."""
    found: dict[str, float] = {}
    for name in sorted(heights, key=heights.__getitem__):
        above = max(found.values(), default=-math.inf)
        found[name] = max(heights[name], above + least)
    return found
