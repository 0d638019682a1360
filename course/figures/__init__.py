"""Pictures: results in our own SVG, charts on axes by matplotlib, which is loaded when one is drawn."""

from __future__ import annotations

from course.figures.style import colors, style

__all__ = ["colors", "style"]
