"""A record -> picture, one sentence, table. matplotlib is loaded when something is drawn."""

from __future__ import annotations

from course.figures.plots import grouped, intervals, lines, samples
from course.figures.reasons import differences
from course.figures.show import Shown, show
from course.figures.style import colors, style
from course.figures.timing import grid_plot, paired_plot, samples_plot

__all__ = [
    "Shown",
    "colors",
    "differences",
    "grid_plot",
    "grouped",
    "intervals",
    "lines",
    "paired_plot",
    "samples",
    "samples_plot",
    "show",
    "style",
]
