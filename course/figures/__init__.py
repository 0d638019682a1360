"""Pictures: our own SVG for results, matplotlib where a picture is data, loaded when something is drawn."""

from __future__ import annotations

from course.figures.plots import grouped, intervals, lines, samples
from course.figures.reasons import differences
from course.figures.style import colors, style
from course.figures.timing import grid_plot, paired_plot, samples_plot

__all__ = [
    "colors",
    "differences",
    "grid_plot",
    "grouped",
    "intervals",
    "lines",
    "paired_plot",
    "samples",
    "samples_plot",
    "style",
]
