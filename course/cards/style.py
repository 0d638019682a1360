"""The one look of all cards, with its colours, as it stands in front of them on a page."""

from __future__ import annotations

from pathlib import Path

from course.core.look import css

SHEET = f"<style>{css(Path(__file__).with_name('cards.css'))}</style>"
