"""The numbers of a field report as a picture that cannot be taken for a measurement of the course."""

from __future__ import annotations

from collections import Counter
from typing import Any

from course.figures.picture import Drawing, both_themes
from course.figures.plots import _log
from course.figures.style import colors
from course.i18n import pick, t

ENOUGH = 3
"""Fewer numbers of one unit are told, not drawn."""
WIDE = 20
"""Numbers further apart than this factor get a logarithmic axis."""


def drawn(report: Any) -> list[Any]:
    """The figures of a report that share the unit most of them have; empty where they are too few to draw."""
    units = Counter(figure.unit for figure in report.figures)
    unit, count = units.most_common(1)[0] if units else ("", 0)
    return [figure for figure in report.figures if figure.unit == unit] if count >= ENOUGH else []


def draw(report: Any, ax: Any) -> None:
    """The figures as bars from the top down, each with its number as published."""
    figures = drawn(report)
    values = [figure.value for figure in figures]
    shade = colors()[5]  # grey: the colours of measured pictures stay with what was measured
    bars = ax.barh(range(len(values)), values, 0.62, color=shade, hatch="//", fill=False, edgecolor=shade)
    ax.bar_label(bars, [f"{value:g}" for value in values], padding=3, fontsize=9)
    ax.set_yticks(range(len(values)), [pick(figure.name) for figure in figures], fontsize=9)
    ax.set_ylim(len(values) - 0.4, -0.6)
    if min(values) > 0 and max(values) > WIDE * min(values):
        _log(ax, "x")
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.15)
    ax.set_xlabel(figures[0].unit + t("  · reported, not measured here", "  · 他人报告，并非本机实测"))


def picture(report: Any) -> str:
    """Both pictures as HTML, one shown at a time by the theme; empty where there are too few numbers."""
    figures = drawn(report)
    if not figures:
        return ""
    size = (7.0, 0.9 + 0.34 * len(figures))
    drawing = Drawing(lambda figure: draw(report, figure.add_subplot()), size, dpi=110, tight=0.1)
    return both_themes(drawing.png, pick(report.what).replace("`", "").replace("**", ""))
