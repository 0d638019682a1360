"""The roofline as a picture. matplotlib is imported when it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.i18n import t
from course.roofline.layer import Layer
from course.roofline.roof import Peaks
from course.roofline.words import percent, scaled

NAMED = 6
"""How many layers, the slowest first, are written by name."""
LARGEST = 500.0
"""Area of the point of a layer that takes all the time, in points squared."""


def draw(points: Sequence[Layer], roof: Peaks, title: str, ax: Any = None) -> Any:
    """Log-log: FLOPs a byte against FLOP/s, the two roofs, the layers as points with areas by time.

    Layers without FLOPs have no place on these axes: the legend says how many and their share of the time.
    Without `ax` a figure of its own, light or dark as the settings are. Returns the Axes.
    """
    if ax is None:
        from course.figures.own import own_figure

        return own_figure(lambda axes: draw(points, roof, title, axes), (7.4, 5.0))
    from matplotlib.transforms import ScaledTranslation

    from course.figures.show import wrap

    shown = [layer for layer in points if layer.flops and layer.moved]
    _roofs(roof, ax, shown)
    total = sum(layer.time_ms for layer in points) or 1.0
    _points(ax, shown, total)
    silent = [layer for layer in points if layer.memory_only]
    if silent:
        part = percent(sum(layer.time_ms for layer in silent) / total)
        ax.plot([], [], linestyle="", label=t(
            f"not shown: {len(silent)} memory-only layers, {part} of the time",
            f"未画出：{len(silent)} 个仅访存的层，占耗时 {part}"))
    ax.set_xlabel(t("arithmetic intensity (FLOPs a byte)", "计算强度（FLOPs/字节）"))
    ax.set_ylabel(t("rate (FLOP/s)", "速率（FLOP/s）"))
    if title:
        ax.set_title(wrap(title, 76), loc="left")
    below = ScaledTranslation(0, -40 / 72, ax.figure.dpi_scale_trans)  # 40 points: under the label of the axis
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=ax.transAxes + below, ncols=2, fontsize=8,
              markerscale=0.5)
    _names(ax, shown, roof)
    return ax


def _roofs(roof: Peaks, ax: Any, shown: Sequence[Layer]) -> None:
    from matplotlib.ticker import FuncFormatter

    from course.figures.style import guide

    spots = [layer.intensity for layer in shown] + [roof.ridge]
    left, right = min(spots) / 4, max(spots) * 4
    rates = f"{scaled(roof.flops_per_s, 'FLOP/s')} ({roof.dtype}), {scaled(roof.bytes_per_s, 'B/s')}"
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.plot([left, roof.ridge, right], [roof.roof(left), roof.flops_per_s, roof.flops_per_s], color=guide(),
            linewidth=2, label=t(f"measured peak: {rates}", f"实测峰值：{rates}"))
    ax.set_xlim(left, right)
    lowest = min([layer.flops_per_s for layer in shown] + [roof.roof(left)])
    highest = max([layer.flops_per_s for layer in shown] + [roof.flops_per_s])
    ax.set_ylim(lowest / 3, highest * 3)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scaled(value, "FLOP/s")))


def _points(ax: Any, shown: Sequence[Layer], total: float) -> None:
    from course.figures.style import MARKERS, colors

    words = {"compute": t("limited by compute", "受限于计算"), "memory": t("limited by memory", "受限于访存")}
    for at, (bound, label) in enumerate(words.items()):
        group = [layer for layer in shown if layer.bound == bound]
        if group:
            ax.scatter([layer.intensity for layer in group], [layer.flops_per_s for layer in group],
                       s=[20 + LARGEST * layer.time_ms / total for layer in group], color=colors()[at],
                       marker=MARKERS[at], alpha=0.65, linewidths=0, zorder=3, label=label)


def _names(ax: Any, shown: Sequence[Layer], roof: Peaks) -> None:
    """Names of the slowest layers, each at the nearest place where it covers no name, no point and no roof."""
    from matplotlib.transforms import Bbox

    from course.figures.style import guide

    ax.figure.draw_without_rendering()  # settles the layout: only now is it known where a name would stand
    left, right = ax.get_xlim()
    along = [left * (right / left) ** (at / 80) for at in range(81)]
    spots = ax.transData.transform([(layer.intensity, layer.flops_per_s) for layer in shown]
                                   + [(intensity, roof.roof(intensity)) for intensity in along])
    taken = [Bbox.from_extents(x - 4, y - 4, x + 4, y + 4) for x, y in spots]
    for layer in sorted(shown, key=lambda one: -one.time_ms)[:NAMED]:
        spot = layer.intensity, layer.flops_per_s
        for x, y, across, upright in _PLACES:
            text = ax.annotate(layer.name or layer.kind, spot, (x, y), textcoords="offset points", fontsize=8,
                               ha=across, va=upright, zorder=4)
            box = text.get_window_extent().expanded(1.05, 1.15)
            inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 and ax.bbox.y0 <= box.y0 and box.y1 <= ax.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                ax.annotate("", spot, (x, y), textcoords="offset points",
                            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": guide(), "shrinkA": 0})
                break
            text.remove()


_PLACES = tuple((x * far, y * far, across, upright) for far in (1, 2, 3, 4, 5, 6) for x, y, across, upright in (
    (0, 11, "center", "bottom"), (0, -11, "center", "top"), (10, 0, "left", "center"), (-10, 0, "right", "center"),
    (9, 9, "left", "bottom"), (-9, 9, "right", "bottom"), (9, -9, "left", "top"), (-9, -9, "right", "top")))
"""Where a name may stand: points across and up from the layer's point, and how the text is aligned there."""
