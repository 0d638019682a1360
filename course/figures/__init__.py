"""Pictures: our own SVG for results, matplotlib where a picture is data, loaded when something is drawn."""

from __future__ import annotations

from course.figures.reasons import differences
from course.figures.style import colors, style
from course.figures.timing import paired_plot, samples_plot

__all__ = ["colors", "differences", "paired_plot", "samples_plot", "style"]
