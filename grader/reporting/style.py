"""The look of the instructors' pages."""

from __future__ import annotations

from pathlib import Path

from course.look import css

CSS = css(Path(__file__).with_name("report.css"))
