"""A chart on axes by matplotlib: PNG bytes in light or dark, HTML that holds both, its words where nothing can be drawn.

And how it looks: colours that colour-blind eyes tell apart, Chinese labels where a font has them.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from course.core.i18n import language, set_language
from course.core.look import COLOURS

DPI, WIDTH, NARROW = 130, 760, 700
"""Of the PNG; and pixels of the picture on a wide page, and on any: narrower, its smallest text could not be read, so it is scrolled."""
# Okabe and Ito's colours, darkened or lightened until each stands out from its background (contrast >= 3:1).
LIGHT = ("#0072B2", "#D55E00", "#00805E", "#A8437F", "#8A6D00", "#3B3B3B")
DARK = ("#56B4E9", "#F0A04B", "#2BC79A", "#E396C1", "#F0E442", "#CFCFCF")
GUIDE = "#808080"
"""Of lines that mark a value to compare with, on either background."""
CJK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "STHeiti",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Noto Sans CJK JP",
    "Noto Sans CJK TC",
    "Noto Serif CJK SC",
    "Noto Serif CJK JP",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)


@lru_cache(maxsize=1)
def cjk_font() -> str | None:
    """The first font known to hold Chinese characters in matplotlib's list that is still here, or None."""
    from matplotlib import font_manager

    known = font_manager.fontManager.ttflist
    installed = {entry.name for entry in known if entry.name in CJK_FONTS and os.path.exists(entry.fname)}
    return next((name for name in CJK_FONTS if name in installed), None)


class Plot:
    """A picture of a result by matplotlib, for both themes, like an SvgPicture: ``alt`` and ``html()``.

    paint(ax) draws on the only axes, in the colours and the language in force. alt: the picture in words. size: width and height in
    inches.
    """

    def __init__(self, paint: Callable[[Any], None], alt: str, size: tuple[float, float] = (7.0, 3.8)) -> None:
        self.paint, self.alt, self.size = paint, alt, size

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
        return buffer.getvalue()

    def html(self) -> str:
        """The picture in both themes, one shown at a time; where styles are stripped, the light one; its words where it cannot be drawn."""
        try:
            drawn = {dark: self.png(dark) for dark in (False, True)}
        except Exception:  # noqa: BLE001  (what it says must still be seen)
            return f"<p>{html.escape(self.alt)}</p>"
        found = ""
        for dark, png in drawn.items():
            data = base64.b64encode(_webp(png)).decode()
            name, shown = ("tb-dark", "none") if dark else ("tb-light", "block")
            found += (
                f'<img class="{name}" style="display:{shown};max-width:100%;min-width:{NARROW}px;width:{WIDTH}px" '
                f'alt="{html.escape(self.alt, quote=True)}" src="data:image/webp;base64,{data}">'
            )
        return found


def _webp(png: bytes) -> bytes:
    """The same pixels as lossless WebP, in about a quarter of the bytes."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(png)).save(made, "webp", lossless=True)
    return made.getvalue()


@contextlib.contextmanager
def style(dark: bool = False) -> Iterator[None]:
    """matplotlib settings of the course for one `with` block. Without a Chinese font the labels drawn inside are English, never empty
    boxes. Settings and language are as before afterwards.
    """
    import matplotlib
    from cycler import cycler

    colours, ink, faint = (DARK, "#E6E6E6", "#4A4A4A") if dark else (LIGHT, "#222222", "#C9C9C9")
    paper, before, font = COLOURS["paper"][dark], language(), cjk_font()
    fonts = [font, "DejaVu Sans"] if font and before == "zh" else ["DejaVu Sans", *([font] if font else [])]
    settings: dict[str, Any] = {
        "figure.facecolor": paper,
        "axes.facecolor": paper,
        "savefig.facecolor": paper,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.titlecolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.edgecolor": faint,
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": cycler(color=colours),
        "legend.frameon": False,
        "legend.labelcolor": ink,
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "figure.figsize": (7.0, 3.6),
        "figure.dpi": 100,
        "axes.unicode_minus": False,
        "font.family": "sans-serif",
        "font.sans-serif": fonts,
    }
    with matplotlib.rc_context(settings):
        if before == "zh" and font is None:
            set_language("en")
        try:
            yield
        finally:
            set_language(before)
