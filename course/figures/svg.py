"""A picture as SVG of our own: words stay words, one source for both themes, drawn for a wide page, a narrow one and a phone.

Measured against matplotlib's SVG (text as text, colours replaced afterwards): see "An experiment" in docs/authoring.md.
The kinds of pictures are in ``kinds.py``; the colours in ``course/core/theme.css``.
"""

from __future__ import annotations

import base64
import html
import math
import re
import unicodedata
from collections.abc import Callable, Sequence

from course.core.i18n import language
from course.core.look import COLOURS

FONTS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif"
BROAD, SLIM, PHONE = 760, 490, 320
"""CSS pixels of a picture on a wide page, a narrow one, a phone; which is shown is said in ``course/figures/result.css``."""
WORDS = 13.5
"""Pixels of the words in a picture; values are 14 or 15 and bold, side remarks 12."""


def wide(words: str, size: float = WORDS, bold: bool = False) -> float:
    """Pixels that words need in any common font: 1 em for a Chinese sign, about 0.6 for others. Asks no font."""
    latin = 0.64 if bold else 0.58
    return sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else latin for sign in words) * size


def scale(low: float, high: float, left: float, right: float, log: bool = True) -> Callable[[float], float]:
    """value -> pixel, from ``low`` at ``left`` to ``high`` at ``right``."""
    of = math.log if log else float
    return lambda value: left + (of(value) - of(low)) / ((of(high) - of(low)) or 1) * (right - left)


class Canvas:
    """Marks on ``w`` × ``h`` pixels, the origin at the upper left. An ink is a name of ``COLOURS``."""

    def __init__(self, w: float, h: float) -> None:
        self.w, self.h, self.marks = w, h, []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        ink: str = "fg",
        size: float = WORDS,
        ha: str = "left",
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        """Words whose middle line is at ``y``; ha: which end of them is at ``x``, left, center or right.

        halo: paper around the signs, where a line may pass.
        """
        anchor = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}[ha]
        weight = ' font-weight="700"' if bold else ""
        weight += ' paint-order="stroke" stroke="@paper" stroke-width="5"' if halo else ""
        self.marks.append(
            f'<text x="{x:.1f}" y="{y + 0.36 * size:.1f}" fill="@{ink}" font-size="{size:g}"{anchor}{weight}>'
            f"{html.escape(words)}</text>"
        )

    def line(
        self, xs: Sequence[float], ys: Sequence[float], ink: str = "line", width: float = 1, dash: str = ""
    ) -> None:
        """A line through the points; dash: such as "6 5"."""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
        self.marks.append(
            f'<polyline points="{points}" fill="none" stroke="@{ink}" stroke-width="{width:g}"'
            + (f' stroke-dasharray="{dash}"' if dash else "")
            + ' stroke-linejoin="round"/>'
        )

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str = "",
        edge: str = "",
        r: float = 3,
        width: float = 1.5,
        dash: str = "",
        alpha: float = 1,
    ) -> None:
        """A rectangle with round corners; without ``fill`` hollow, without ``edge`` no outline."""
        look = f'fill="@{fill}"' if fill else 'fill="none"'
        look += f' stroke="@{edge}" stroke-width="{width:g}"' if edge else ""
        look += f' stroke-dasharray="{dash}"' if dash else ""
        look += f' opacity="{alpha:g}"' if alpha < 1 else ""
        self.marks.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{min(r, w / 2, h / 2):g}" {look}/>'
        )

    def strokes(
        self, ends: Sequence[tuple[float, float, float]], ink: str, width: float, cap: str = "butt", alpha: float = 1
    ) -> None:
        """Many level strokes at once, each (x from, x to, y): bars as high as ``width``, or dots (of no length, with a round cap)."""
        path = "".join(f"M{left:.1f} {y:.1f}h{right - left:.1f}" for left, right, y in ends)
        self.marks.append(
            f'<path d="{path}" fill="none" stroke="@{ink}" stroke-width="{width:.1f}" stroke-linecap="{cap}" opacity="{alpha:g}"/>'
        )

    def dot(self, x: float, y: float, r: float = 6.5, fill: str = "out", edge: str = "paper") -> None:
        self.marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" fill="@{fill}" stroke="@{edge}" stroke-width="2"/>'
        )

    def ask(self, x: float, y: float, words: str, ha: str = "left", size: float = 13) -> None:
        """Words of the learner's bet."""
        self.text(x, y, words, "bet", size, ha, True)

    def outline(self, x: float, y: float, w: float, h: float) -> None:
        """The dashed box of a bet."""
        self.box(x, y, w, h, "", "bet", 8, 1.8, "7 5")


class SvgPicture:
    """A picture that ``paint(width)`` draws on a Canvas. alt: what it shows, in a sentence, in the language in use.

    It holds no id, no style sheet and no clip path, so that two of them on a page cannot disturb each other.
    """

    def __init__(self, paint: Callable[[float], Canvas], alt: str) -> None:
        self._paint, self.alt = paint, alt
        self._papers: dict[tuple[float, str], Canvas] = {}

    def paint(self, width: float) -> Canvas:
        """The canvas of this width in the language in use, painted once."""
        key = width, language()
        if key not in self._papers:
            self._papers[key] = self._paint(width)
        return self._papers[key]

    def svg(self, width: float = BROAD, dark: bool | None = None) -> str:
        """The SVG. dark: None leaves the colours to the page (``var(--p-out, ...)``); else those of one theme are written."""
        paper, inks = self.paint(width), COLOURS
        if dark is None:
            inks = {name: (f"var(--p-{name},{light})",) for name, (light, _) in COLOURS.items()}
        said = html.escape(self.alt, quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {paper.w:g} {paper.h:g}" width="{paper.w:g}" '
            f'height="{paper.h:g}" role="img" aria-label="{said}" font-family="{FONTS}">'
            + re.sub(r'"@([a-z]+)"', lambda ink: f'"{inks[ink[1]][bool(dark)]}"', "".join(paper.marks))
            + "</svg>"
        )

    def img(self, width: float = BROAD, dark: bool = False) -> str:
        """The SVG as the data of an <img>: a saved notebook keeps it where inline SVG is taken out.

        Its place is kept while it loads.
        """
        paper = self.paint(width)
        data = base64.b64encode(self.svg(width, dark).encode()).decode()
        name, shown = ("tb-dark", "none") if dark else ("tb-light", "block")
        return (
            f'<img class="{name}" style="display:{shown};width:{width}px;max-width:100%;aspect-ratio:{paper.w:g}/{paper.h:g}" '
            f'alt="{html.escape(self.alt, quote=True)}" '
            f'src="data:image/svg+xml;base64,{data}">'
        )

    def html(self, saved: bool = True) -> str:
        """All widths; of an <img> both themes. saved: whether the page may be a saved notebook (False inside widgets)."""
        broad, slim, phone = (
            self.img(width) + self.img(width, True) if saved else self.svg(width) for width in (BROAD, SLIM, PHONE)
        )
        return (
            f'<div class="tbr-broad">{broad}</div><div class="tbr-slim" style="display:none">{slim}</div>'
            f'<div class="tbr-phone" style="display:none">{phone}</div>'
        )
