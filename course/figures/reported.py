"""The numbers of a field report as a picture that cannot be taken for a measurement of the course."""

from __future__ import annotations

import base64
import html
import io
from collections import Counter
from typing import Any

from course.figures.plots import _log
from course.figures.show import THEME_RULES
from course.figures.style import colors, style
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


def png(report: Any, dark: bool = False) -> bytes:
    """The picture as PNG bytes; empty where there are too few numbers."""
    figures = drawn(report)
    if not figures:
        return b""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style(dark):
        figure = Figure(figsize=(7.0, 0.9 + 0.34 * len(figures)), layout="constrained")
        FigureCanvasAgg(figure)
        draw(report, figure.add_subplot())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", pad_inches=0.1)
    return buffer.getvalue()


def picture(report: Any) -> str:
    """Both pictures as HTML, one shown at a time by the theme; empty where there is nothing to draw."""
    if not drawn(report):
        return ""
    alt = html.escape(pick(report.what).replace("`", "").replace("**", ""), quote=True)

    def image(dark: bool) -> str:
        name, shown = ("tb-dark", "none") if dark else ("tb-light", "block")
        data = base64.b64encode(png(report, dark)).decode()
        return f'<img class="{name}" style="display:{shown};max-width:100%" alt="{alt}" src="data:image/png;base64,{data}">'

    return THEME_RULES + image(False) + image(True)
