"""Two kinds of pictures with a height of their own: what is paid back or not, and a trend over a size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from course.figures.kinds import Bet, checked, ticks_to, upright
from course.figures.svg import Canvas, SvgPicture, scale, wide
from course.i18n import t

# --- paid back? two running totals and where they cross ------------------------------------------------------


def cost_curve(
    price: float, slow: float, fast: float, names: tuple[str, str], words: tuple[str, str, str], bet: Bet | None = None
) -> SvgPicture:
    """A price paid at the start, then ``fast`` a step, against ``slow`` a step without it. names: without, with.

    words: not yet paid back, paid back, and when. bet: at, a number of steps.
    """
    checked(bet, "at")
    cross = price / (slow - fast) if slow > fast else math.inf
    last = max(2.4 * cross if cross < 1e6 else 40, 1.2 * bet.at if bet else 0, 5)

    def paint(w: float) -> Canvas:
        x0, x1, y0, y1 = 24, w - 24 - max(wide(name, 14, True) for name in names), 34, 232
        paper = Canvas(w, 270 if not bet else 290)
        top = max(slow * last, price + fast * last)
        x, y = scale(0, last, x0, x1, False), scale(0, top, y1, y0, False)
        if cross < last:
            paper.box(x(cross), y0 - 22, x1 - x(cross), y1 - y0 + 22, "wash", r=6)
            if wide(words[0], bold=True) + 20 < x(cross) - x0:
                paper.text(x(cross) - 12, y0 - 8, words[0], "soft", ha="right", bold=True)
            paper.text(x(cross) + 12, y0 - 8, words[1], "out", bold=True)
        ends = [y(slow * last), y(price + fast * last)]
        if abs(ends[0] - ends[1]) < 18:
            ends = [ends[0] + 9 * (1 if ends[0] > ends[1] else -1), ends[1] - 9 * (1 if ends[0] > ends[1] else -1)]
        paper.line([x0, x1], [y1, y1], "fg", 1.5)
        paper.line([x(0), x(last)], [y(0), y(slow * last)], "edge", 2.5)
        paper.text(x1 + 10, ends[0], names[0], "soft", 14)
        paper.line([x(0), x(0), x(last)], [y(0), y(price), y(price + fast * last)], "out", 3)
        paper.text(x1 + 10, ends[1], names[1], "out", 14, bold=True)
        if cross < last:
            paper.dot(x(cross), y(slow * cross))
            paper.text(x(cross) + 14, y(slow * cross) + 18, words[2], size=15, bold=True)
        else:
            paper.text((x(0) + x(last)) / 2, y0 - 8, words[2], size=15, ha="center", bold=True)
        paper.text(x0 + 6, y1 - 10, t("↑ total time", "↑ 累计耗时"), "soft", 12)
        for value in ticks_to(last):
            said = t(f"step {value:g}", f"第 {value:g} 步") if value == ticks_to(last)[1] else f"{value:g}"
            paper.text(x(value), y1 + 14, said, "soft", 12, "center")
        if bet and bet.at:
            upright(paper, x(bet.at), y0 - 2, y1, bet.full, y1 + 36)
        return paper

    return SvgPicture(paint, words[2] + t(".", "。") + (t(" ", "") + bet.full + t(".", "。") if bet else ""))


# --- a trend: at most three lines, named at their ends -------------------------------------------------------

DOTTED = 40
"""Points of a line that are marked and named below; where there are more, the line alone is drawn, over round numbers."""


def trend(
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    alt: str,
    bet: Bet | None = None,
    *,
    across: str = "",
    x_words: Callable[[float], str] = "{:g}".format,
    y_words: Callable[[float], str] = "{:g}".format,
    log_x: bool = False,
    log_y: bool = False,
    levels: Sequence[float] = (),
) -> SvgPicture:
    """Lines over a size: the last of ``series`` is what it is about, the others stand back. None leaves a gap.

    across: what x is. alt: the picture in words. levels: the values of y that are named; without them round ones.
    bet: at, a value of x; or span, values of y. Raises ValueError for more than three lines.
    """
    checked(bet, "at", "span")
    if not 1 <= len(series) <= 3:
        raise ValueError(
            f"a trend has one to three lines, not {len(series)}; draw more with matplotlib, or another picture"
        )
    values = [value for line in series.values() for value in line if value is not None]
    inks = (("edge", 2.0), ("soft", 2.2), ("out", 3.0))[-len(series) :]

    def paint(w: float) -> Canvas:
        y0, y1 = 16, 226
        ends = {name: next(value for value in reversed(line) if value is not None) for name, line in series.items()}
        x1 = w - 22 - max(wide(name, 13.5, True) for name in series)
        low = min(values) if log_y else min(0, *values)
        ticks = levels or (_log_ticks(low, max(values)) if log_y else ticks_to(max(values), 4))
        x0 = 20 + max(wide(y_words(value), 12) for value in ticks)
        paper = Canvas(w, 268 if not bet else 288)
        held = [*x, bet.at] if bet and bet.at else x
        place = scale(min(held), max(held), x0 + 10, x1 - 8, log_x)
        span = bet.span if bet and bet.span else ()
        height = scale(min(low, *ticks, *span) if log_y else low, max(*values, *ticks, *span), y1, y0, log_y)
        for value in ticks:
            paper.line([x0, x1], [height(value)] * 2, "line")
            paper.text(x0 - 8, height(value), y_words(value), "soft", 12, "right")
        taken = -math.inf
        for value in x if len(x) <= DOTTED else ticks_to(max(x)):
            if place(value) - taken > wide(x_words(value), 12) + 12:
                taken = place(value)
                paper.text(taken, y1 + 15, x_words(value), "soft", 12, "center")
        paper.text(x1, y1 + 33, across, "soft", 12, "right")
        spread = _spread({name: height(value) for name, value in ends.items()})
        for (name, line), (ink, width) in zip(series.items(), inks, strict=True):
            points = [(place(at), height(value)) for at, value in zip(x, line, strict=True) if value is not None]
            paper.line([at for at, _ in points], [at for _, at in points], ink, width)
            for at in points if len(points) <= DOTTED else ():
                paper.dot(*at, r=4.5 if ink == "out" else 3.5, fill=ink)
            paper.text(x1 + 8, spread[name], name, ink if ink == "out" else "soft", bold=ink == "out")
        if bet and bet.at:
            upright(paper, place(bet.at), y0, y1, bet.full, y1 + 52)
        if span:
            up, down = height(span[1]), height(span[0])
            paper.outline(x0 + 2, up, x1 - x0 - 2, max(down - up, 6))
            paper.ask(max(8, min(x0 + 2, w - 10 - wide(bet.full, 13, True))), y1 + 52, bet.full)
        return paper

    return SvgPicture(paint, alt + (t(" ", "") + bet.full + t(".", "。") if bet else ""))


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [10.0**power for power in powers]
    return found[:: max(1, len(found) // 4)]


def _spread(heights: Mapping[str, float], least: float = 18) -> dict[str, float]:
    """The heights of names, moved apart where they would touch."""
    found: dict[str, float] = {}
    for name in sorted(heights, key=heights.__getitem__):
        above = max(found.values(), default=-math.inf)
        found[name] = max(heights[name], above + least)
    return found
