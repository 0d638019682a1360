"""The roofline as a picture. matplotlib is imported when it is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from course.figures.wrap import Sentence, wrap
from course.i18n import t
from course.roofline.layer import Alike, Layer, alike, by_bound
from course.roofline.roof import Peaks
from course.roofline.words import bound_word, percent
from course.units import scaled

NAMED = 6
"""How many groups of layers, the slowest first, are written by name."""
LARGEST = 500.0
"""Area of the point of a layer that takes all the time, in points squared."""
STRIP = 0.13
"""Width of the strip for layers without FLOPs, as a part of the axis."""


def draw(
    points: Sequence[Layer],
    roof: Peaks,
    title: Sentence,
    ax: Any = None,
    *,
    named: Alike | None = None,
    dark: bool | None = None,
) -> Any:
    """Log-log: FLOP/s against FLOPs per byte, the two roofs, the layers as marks whose area grows with their time.

    Layers that only move data stand in a strip of their own at 0 FLOPs a byte, as far below the roof as they are
    below the memory peak. named: layers whose name must be shown. Without `ax` a figure of its own, light or dark
    as the settings are (or as `dark` says). Returns the Axes.
    """
    if ax is None:
        from course.figures.own import own_figure

        return own_figure(lambda axes: draw(points, roof, title, axes, named=named), (7.4, 5.0), dark)
    from matplotlib.transforms import ScaledTranslation

    shown = [layer for layer in points if layer.moved]
    frame = _Frame(shown, roof)
    frame.draw(ax)
    _points(ax, shown, frame, points)
    if hidden := [layer for layer in points if not layer.moved]:
        ax.plot([], [], linestyle="", label=_listed(hidden))
    ax.set_xlabel(t("arithmetic intensity (FLOPs a byte)", "计算强度（FLOPs/字节）"))
    ax.set_ylabel(t("rate (FLOP/s)", "速率（FLOP/s）"))
    if title:
        ax.set_title(wrap(title, 76), loc="left")
    below = ScaledTranslation(0, -40 / 72, ax.figure.dpi_scale_trans)  # 40 points: under the label of the axis
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=ax.transAxes + below, ncols=2, fontsize=8)
    _names(ax, shown, frame, named)
    return ax


def _listed(hidden: Sequence[Layer]) -> str:
    """The layers that have no place in the picture, in words."""
    kinds = sorted({layer.kind for layer in hidden})
    names = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
    few = len(hidden) == 1
    return t(
        f"not drawn, because {'it moves' if few else 'they move'} no data: {len(hidden)} layer{'s' * (not few)} ({names})",
        f"未画出（不搬数据）：{len(hidden)} 层（{names}）",
    )


class _Frame:
    """Where things stand: limits of the axes, the roofs, the place of a layer."""

    def __init__(self, shown: Sequence[Layer], roof: Peaks) -> None:
        self.roof = roof
        spots = [layer.intensity for layer in shown if layer.flops] + [roof.ridge]
        self.first, self.right = min(spots) / 4, max(spots) * 4
        self.strip = any(not layer.flops for layer in shown)
        wide = (self.right / self.first) ** (STRIP / (1 - STRIP)) if self.strip else 1.0
        self.left, self.zero = self.first / wide, self.first / math.sqrt(wide)
        silent = [layer.name for layer in shown if not layer.flops]
        last = max(len(silent) - 1, 1)
        self.across = {name: self.left * wide ** (0.2 + 0.6 * at / last) for at, name in enumerate(silent)}

    def spot(self, layer: Layer) -> tuple[float, float]:
        """FLOPs per byte and FLOP/s. In the strip: places side by side, and the height of a layer with so many FLOPs per byte."""
        if layer.flops:
            return layer.intensity, layer.flops_per_s
        return self.across[layer.name], self.across[layer.name] * layer.bytes_per_s

    def draw(self, ax: Any) -> None:
        from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

        from course.figures.style import faint, guide

        roof = self.roof
        rates = f"{scaled(roof.flops_per_s, 'FLOP/s')} ({roof.dtype}), {scaled(roof.bytes_per_s, 'B/s')}"
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.plot(
            [self.left, roof.ridge, self.right],
            [roof.roof(self.left), roof.flops_per_s, roof.flops_per_s],
            color=guide(),
            linewidth=2,
            label=t(f"measured peak: {rates}", f"实测峰值：{rates}"),
        )
        ax.set_xlim(self.left, self.right)
        ticks = _ticks(self.first, self.right)
        if self.strip:
            ax.axvline(self.first, color=faint(), linewidth=1, linestyle="--")
            ax.annotate(
                t("moves\nonly", "只搬\n数据"),
                (self.zero, 1),
                (0, -4),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
                color=guide(),
            )
            ticks = [self.zero, *ticks]
        ax.xaxis.set_major_locator(FixedLocator(ticks))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: "0" if value == self.zero else f"{value:g}"))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scaled(value, "FLOP/s")))


def _ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... between the limits; of many the powers of ten alone."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        found = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
        if len(found) <= 7:
            break
    return found


def _points(ax: Any, shown: Sequence[Layer], frame: _Frame, every: Sequence[Layer]) -> None:
    """The layers that have a place; the parts of the time are those of all layers, as in the text."""
    from course.figures.style import colors, guide

    total, parts = sum(layer.time_ms for layer in every) or 1.0, by_bound(every)
    heights = [frame.spot(layer)[1] for layer in shown]
    edges = [frame.roof.flops_per_s, frame.roof.roof(frame.left)]
    ax.set_ylim(min(heights + edges) / 3, max(heights + edges) * 3)
    blue, ground, grey = colors()[0], ax.get_facecolor(), guide()
    looks = {"compute": ("o", blue, blue), "memory": ("s", ground, blue), "overhead": ("^", ground, grey)}
    for bound, (marker, face, edge) in looks.items():
        group = [layer for layer in shown if layer.bound == bound]
        if group:
            part = percent(parts.get(bound, 0.0))
            word = bound_word(bound)
            marks = {"marker": marker, "facecolors": face, "edgecolors": edge, "linewidths": 1.6, "zorder": 3}
            xs, ys = zip(*map(frame.spot, group), strict=True)
            ax.scatter(xs, ys, s=[20 + LARGEST * layer.time_ms / total for layer in group], alpha=0.75, **marks)
            ax.scatter(
                [], [], s=40, **marks, label=t(f"limited by {word}: {part} of the time", f"受限于{word}：占耗时 {part}")
            )


def _names(ax: Any, shown: Sequence[Layer], frame: _Frame, named: Alike | None) -> None:
    """Names of the slowest layers, each at the nearest place where it covers no name, no point and no roof."""
    from matplotlib.transforms import Bbox

    from course.figures.style import guide

    ax.figure.draw_without_rendering()  # settles the layout: only now is it known where a name would stand
    along = [frame.left * (frame.right / frame.left) ** (at / 80) for at in range(81)]
    spots = ax.transData.transform(
        [frame.spot(layer) for layer in shown] + [(intensity, frame.roof.roof(intensity)) for intensity in along]
    )
    points = [Bbox.from_extents(x - 4, y - 4, x + 4, y + 4) for x, y in spots]
    written: list[Any] = []
    groups = alike(shown)[:NAMED]
    must = [group for group in groups if named is not None and group.first.name == named.first.name]
    for group in [*must, *(group for group in groups if group not in must)]:
        more = len(group.layers) - 1
        name = (group.first.name or group.first.kind) + (f" +{more}" if more else "")
        spot = frame.spot(group.first)
        for taken in (points, []) if group in must else (points,):
            box = _write(ax, name, spot, [*written, *taken], guide())
            if box is not None:
                written.append(box)
                break


def _write(ax: Any, name: str, spot: tuple[float, float], taken: Sequence[Any], colour: Any) -> Any:
    """Write one name at the first free place around its point; its box, or None where there is none."""
    for x, y, across, upright in _PLACES:
        text = ax.annotate(name, spot, (x, y), textcoords="offset points", fontsize=8, ha=across, va=upright, zorder=4)
        box = text.get_window_extent().expanded(1.05, 1.15)
        inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 and ax.bbox.y0 <= box.y0 and box.y1 <= ax.bbox.y1
        if inside and not any(box.overlaps(other) for other in taken):
            ax.annotate(
                "",
                spot,
                (x, y),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": colour, "shrinkA": 0},
            )
            return box
        text.remove()
    return None


_PLACES = tuple(
    (x * far, y * far, across, upright)
    for far in (1, 2, 3, 4, 5, 6, 8, 10)
    for x, y, across, upright in (
        (0, 11, "center", "bottom"),
        (0, -11, "center", "top"),
        (10, 0, "left", "center"),
        (-10, 0, "right", "center"),
        (9, 9, "left", "bottom"),
        (-9, 9, "right", "bottom"),
        (9, -9, "left", "top"),
        (-9, -9, "right", "top"),
    )
)
"""Where a name may stand: points across and up from the layer's point, and how the text is aligned there."""
