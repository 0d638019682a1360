"""A chart on axes by matplotlib: PNG bytes in light or dark, HTML that holds both, its words where nothing can be drawn."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from typing import Any

from course.figures.style import style


class Drawing:
    """A matplotlib figure in the course's style, to be had in both themes; ``fill(figure)`` draws it.

    size: width and height in inches. tight: inches left around what is drawn; None keeps the size as it is. Where the
    axes go, and where the picture ends, is worked out for the theme asked for first and kept for the other: finding
    that out takes longer than drawing. smallest: of the text drawn last, in pixels of the PNG.
    """

    def __init__(
        self,
        fill: Callable[[Any], Any],
        size: tuple[float, float],
        layout: str | None = "constrained",
        dpi: int = 130,
        tight: float | None = None,
    ) -> None:
        self.fill, self.size, self.layout, self.dpi, self.tight = fill, size, layout, dpi, tight
        self.smallest = 0.0
        self._places: list[Any] | None = None
        self._edges: Any = None

    def png(self, dark: bool = False) -> bytes:
        """The PNG bytes in light or dark."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with style(dark):
            figure = Figure(figsize=self.size, layout=self.layout)
            FigureCanvasAgg(figure)
            self.fill(figure)
            figure.dpi = self.dpi
            self._lay_out(figure)
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=self.dpi, bbox_inches=self._edges)
            self.smallest = smallest(figure, self.dpi)
        return buffer.getvalue()

    def html(self, alt: str, width: int) -> str:
        """The picture in both themes, as ``both_themes`` gives it."""
        return both_themes(self.png, alt, width, lambda: self.smallest)

    def _lay_out(self, figure: Any) -> None:
        engine = figure.get_layout_engine()
        if engine is not None and self._places is None:
            engine.execute(figure)
            self._places = [ax.get_position(original=True) for ax in figure.axes]
        elif self._places is not None:
            for ax, place in zip(figure.axes, self._places, strict=True):
                ax.set_position(place)
        figure.set_layout_engine("none")
        if self.tight is not None and self._edges is None:
            self._edges = figure.get_tightbbox().padded(self.tight)


class Plot:
    """A picture of a result by matplotlib, as PNG for both themes, like an SvgPicture: ``alt`` and ``html()``.

    paint(ax) draws on the only axes, in the colours and the language in force. alt: the picture in words. size: inches.
    """

    def __init__(self, paint: Callable[[Any], None], alt: str, size: tuple[float, float] = (7.0, 3.8)) -> None:
        self.drawing, self.alt = Drawing(lambda figure: paint(figure.add_subplot()), size, tight=0.12), alt

    def html(self) -> str:
        """The picture in both themes; its words where it cannot be drawn."""
        try:
            return self.drawing.html(self.alt, 760)
        except Exception:  # noqa: BLE001  (what it says must still be seen)
            return f"<p>{html.escape(self.alt)}</p>"


READABLE = 11
"""Pixels of the smallest text on a page; a picture that would fall below it is scrolled instead."""


def smallest(figure: Any, dpi: float) -> float:
    """Pixels of the smallest text of a matplotlib figure that has been drawn."""
    from matplotlib.text import Text as Words

    texts = [
        one for one in figure.findobj(Words) if one.get_visible() and len(one.get_text().strip()) > 1
    ]  # one sign is a mark
    return min((one.get_fontsize() * dpi / 72 for one in texts), default=0.0)


def both_themes(png: Callable[[bool], bytes], alt: str, width: int, least: Callable[[], float]) -> str:
    """A picture as HTML, light and dark, one shown at a time by the theme; where styles are stripped, the light one.

    png(dark): its bytes. alt: its words. width: in pixels; narrower on a narrow page, as far as its text can be read. least(): pixels
    of its smallest text, once ``png`` has drawn it.
    """
    drawn = {dark: png(dark) for dark in (False, True)}
    natural = int.from_bytes(drawn[False][16:20], "big")  # as the header of a PNG says
    narrow = min(width, round(natural * READABLE / least())) if least() else 0

    def image(dark: bool) -> str:
        data = base64.b64encode(_webp(drawn[dark])).decode()
        name, shown = ("tb-dark", "none") if dark else ("tb-light", "block")
        return (
            f'<img class="{name}" style="display:{shown};max-width:100%;min-width:{narrow}px;width:{width}px" '
            f'alt="{html.escape(alt, quote=True)}" src="data:image/webp;base64,{data}">'
        )

    return image(False) + image(True)


def _webp(png: bytes) -> bytes:
    """The same pixels as lossless WebP, in about a quarter of the bytes."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(png)).save(made, "webp", lossless=True)
    return made.getvalue()
