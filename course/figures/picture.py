"""A chart on axes by matplotlib: PNG bytes in light or dark, HTML that holds both, its words where nothing can be drawn."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from typing import Any

from course.figures.style import style

DPI, WIDTH = 130, 760
"""Of the PNG, and pixels of the picture on a wide page."""
READABLE = 11
"""Pixels of the smallest text on a page; a picture that would fall below it is scrolled instead."""


class Plot:
    """A picture of a result by matplotlib, for both themes, like an SvgPicture: ``alt`` and ``html()``.

    paint(ax) draws on the only axes, in the colours and the language in force. alt: the picture in words. size: width and height in
    inches.
    """

    def __init__(self, paint: Callable[[Any], None], alt: str, size: tuple[float, float] = (7.0, 3.8)) -> None:
        self.paint, self.alt, self.size = paint, alt, size
        self.smallest = 0.0
        """Pixels of the smallest text of the PNG drawn last."""

    def png(self, dark: bool = False) -> bytes:
        """The PNG bytes in light or dark."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with style(dark):
            figure = Figure(figsize=self.size, layout="constrained", dpi=DPI)
            FigureCanvasAgg(figure)
            self.paint(figure.add_subplot())
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", bbox_inches="tight", pad_inches=0.12)
            self.smallest = smallest(figure)
        return buffer.getvalue()

    def html(self) -> str:
        """The picture in both themes, one shown at a time; where styles are stripped, the light one; its words where it cannot be drawn.

        On a narrow page it is narrower, as far as its text can be read.
        """
        try:
            drawn = {dark: self.png(dark) for dark in (False, True)}
        except Exception:  # noqa: BLE001  (what it says must still be seen)
            return f"<p>{html.escape(self.alt)}</p>"
        natural = int.from_bytes(drawn[False][16:20], "big")  # as the header of a PNG says
        narrow = min(WIDTH, round(natural * READABLE / self.smallest)) if self.smallest else 0
        found = ""
        for dark, png in drawn.items():
            data = base64.b64encode(_webp(png)).decode()
            name, shown = ("tb-dark", "none") if dark else ("tb-light", "block")
            found += (
                f'<img class="{name}" style="display:{shown};max-width:100%;min-width:{narrow}px;width:{WIDTH}px" '
                f'alt="{html.escape(self.alt, quote=True)}" src="data:image/webp;base64,{data}">'
            )
        return found


def smallest(figure: Any) -> float:
    """Pixels of the smallest text of a matplotlib figure that has been drawn."""
    from matplotlib.text import Text as Words

    texts = [one for one in figure.findobj(Words) if one.get_visible() and len(one.get_text().strip()) > 1]
    return min((one.get_fontsize() * DPI / 72 for one in texts), default=0.0)  # one sign alone is a mark


def _webp(png: bytes) -> bytes:
    """The same pixels as lossless WebP, in about a quarter of the bytes."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(png)).save(made, "webp", lossless=True)
    return made.getvalue()
