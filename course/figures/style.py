"""How every figure looks: light or dark, colour-blind-safe, with Chinese labels where a font has them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from course.core.i18n import language, set_language
from course.core.look import COLOURS

# Okabe and Ito's colours, darkened or lightened until each stands out from its background (contrast >= 3:1).
LIGHT = ("#0072B2", "#D55E00", "#00805E", "#A8437F", "#8A6D00", "#3B3B3B")
DARK = ("#56B4E9", "#F0A04B", "#2BC79A", "#E396C1", "#F0E442", "#CFCFCF")
PAPER = dict(zip((False, True), COLOURS["paper"], strict=True))
INK = {False: "#222222", True: "#E6E6E6"}
FAINT = {False: "#C9C9C9", True: "#4A4A4A"}
GUIDE = {False: "#6B6B6B", True: "#A9A9A9"}
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


@contextlib.contextmanager
def style(dark: bool | None = None) -> Iterator[bool]:
    """matplotlib settings of the course for one `with` block; gives back whether it is dark.

    dark: None follows the background in force before. Without a Chinese font the labels drawn inside are
    English, never empty boxes. Settings and language are as before afterwards.
    """
    import matplotlib
    from cycler import cycler

    night = _is_dark(matplotlib.rcParams["axes.facecolor"]) if dark is None else dark
    colours, ink, paper = (DARK if night else LIGHT), INK[night], PAPER[night]
    before = language()
    font = cjk_font()
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
        "axes.edgecolor": FAINT[night],
        "grid.color": FAINT[night],
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
            yield night
        finally:
            set_language(before)


def colors() -> tuple[str, ...]:
    """The six colours in force: distinct for colour-blind eyes on the present background."""
    import matplotlib

    return DARK if _is_dark(matplotlib.rcParams["axes.facecolor"]) else LIGHT


def guide() -> str:
    """The colour of lines that mark a value to compare with, such as 1 on an axis of ratios."""
    import matplotlib

    return GUIDE[_is_dark(matplotlib.rcParams["axes.facecolor"])]


def _is_dark(colour: Any) -> bool:
    from matplotlib.colors import to_rgb

    try:
        red, green, blue = to_rgb(colour)
    except ValueError:
        return False
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
