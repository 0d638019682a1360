"""A figure of its own for a picture: pyplot's, and in a notebook light or dark with the page around it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from course.core.i18n import t
from course.figures.picture import alone, both_themes, smallest
from course.figures.style import palette, style

PARTS = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")


def own_figure(fill: Callable[[Any], Any], size: tuple[float, float], dark: bool | None = None) -> Any:
    """A figure in the course's style, filled by `fill(ax)`; width and height in inches. Returns the Axes.

    A notebook shows it light on a light page and dark on a dark one; saved, it is light, or as `dark` or the
    settings in force say. With `dark` given it is shown as it is saved. Raises ModuleNotFoundError, in words, without
    matplotlib.
    """
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            t(
                "A picture needs matplotlib: pip install matplotlib. The rows of the result are there without it.",
                "画图需要 matplotlib：pip install matplotlib。不装也可以用结果的 rows()。",
            ),
            name="matplotlib",
        ) from error
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    plt.draw_if_interactive()  # loads the backend: inside `style` a notebook's would lose what it sets, and show one figure only
    with style(dark) as night:
        kind = {} if dark is not None else {"FigureClass": _two_backgrounds(), "night": night}
        figure, ax = plt.subplots(figsize=size, layout="constrained", **kind)
        fill(ax)
        fonts = list(matplotlib.rcParams["font.sans-serif"])
        for text in figure.findobj(Text):  # fonts are looked up when the figure is shown, after this block
            text.set_fontfamily(fonts)
    return ax


@lru_cache(maxsize=1)
def _two_backgrounds() -> type:
    """The class of such figures; made here, because matplotlib is loaded only when something is drawn."""
    from matplotlib.figure import Figure

    class TwoGrounds(Figure):
        """Its HTML holds both pictures, and the page's theme picks; as PNG, PDF, ... it is an ordinary figure."""

        def __init__(self, *args: Any, night: bool = False, **settings: Any) -> None:
            super().__init__(*args, **settings)
            self.night = night

        def _repr_html_(self) -> str:
            titles = [ax.get_title(loc="left") for ax in self.axes]
            alt = " ".join(filter(None, titles)).replace("\\$", "$")
            pictures = {self.night: _png(self)}
            with repainted(self, self.night):
                pictures[not self.night] = _png(self)
            width = round(104 * self.get_figwidth())
            return alone(both_themes(pictures.__getitem__, alt, width, lambda: smallest(self, DPI)))

    return TwoGrounds


DPI = 130


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="png", dpi=DPI, bbox_inches="tight", pad_inches=0.12, facecolor=figure.get_facecolor()
    )
    return buffer.getvalue()


@contextlib.contextmanager
def repainted(figure: Any, night: bool) -> Iterator[None]:
    """`figure` with every colour of the course taken from the other theme, for one `with` block.

    night: the theme it is painted in. Other colours, and whatever a learner has added, stay as they are.
    """
    from matplotlib.colors import to_hex

    other = {to_hex(old): new for old, new in zip(palette(night), palette(not night), strict=True)}
    undo = [change for artist in _artists(figure) for part in PARTS for change in _change(artist, part, other)]
    try:
        yield
    finally:
        for set_back, value in reversed(undo):
            set_back(value)


def _artists(figure: Any) -> Iterator[Any]:
    for artist in figure.findobj():
        yield artist
        if getattr(artist, "arrow_patch", None) is not None:  # of an annotation; not among its children
            yield artist.arrow_patch


def _change(artist: Any, part: str, other: dict[str, str]) -> Iterator[tuple[Callable[[Any], Any], Any]]:
    """Repaint one part of one artist; gives how to undo that, if anything was done."""
    from matplotlib.colors import to_hex, to_rgba, to_rgba_array

    get, put = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
    if get is None or put is None:
        return
    before = get()
    rows = to_rgba_array(before)
    after = [(*to_rgba(other.get(to_hex(row), row))[:3], row[3]) for row in rows]
    if [to_hex(row) for row in after] != [to_hex(row) for row in rows]:
        put(after[0] if len(after) == 1 else after)
        yield put, before
