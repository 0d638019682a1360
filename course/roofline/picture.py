"""The roofline as a picture. matplotlib is imported when it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.core.i18n import t
from course.core.units import scaled
from course.figures.plot import GUIDE
from course.roofline.layer import TINY, Peaks, Row, bound_word, by_bound, percent

NAMED = 6  # layers, the slowest first, are written by name
LARGEST = 500.0  # area of the point of a layer that takes all the time, in points squared


def draw(points: Sequence[Row], roof: Peaks, ax: Any) -> None:
    """Log-log: FLOP/s against FLOPs per byte, the two roofs, the layers as marks whose area grows with their time.

    What has no FLOPs, or no known traffic, has no place here; its time is in the parts that the legend tells.
    """
    from matplotlib.ticker import FuncFormatter

    shown = [row for row in points if row["flops"] and row["bytes"]]
    spots = [row["flops_per_byte"] for row in shown] + [roof.ridge]
    left, right = min(spots) / 4, max(spots) * 4
    heights = [row["flops_per_s"] for row in shown] + [roof.flops_per_s, roof.roof(left)]
    ax.set(xscale="log", yscale="log", xlim=(left, right), ylim=(min(heights) / 3, max(heights) * 3))
    rates = f"{scaled(roof.flops_per_s, 'FLOP/s')} ({roof.dtype}), {scaled(roof.bytes_per_s, 'B/s')}"
    label = t(f"measured peak: {rates}", f"实测峰值：{rates}")
    bend = [roof.roof(x) for x in (left, roof.ridge, right)]
    ax.plot([left, roof.ridge, right], bend, color=GUIDE, linewidth=2, label=label)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scaled(value, "FLOP/s")))
    ax.set_xlabel(t("arithmetic intensity (FLOPs a byte)", "计算强度（FLOPs/字节）"))
    ax.set_ylabel(t("rate (FLOP/s)", "速率（FLOP/s）"))
    _points(ax, shown, points)
    ax.figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    _names(ax, shown)


def _points(ax: Any, shown: Sequence[Row], every: Sequence[Row]) -> None:
    """The layers that have a place; the parts of the time in the legend are those of all, as in the text."""
    total, parts = max(sum(row["time_ms"] for row in every), TINY), by_bound(every)
    blue, ground, grey = "C0", ax.get_facecolor(), GUIDE
    looks = {"compute": ("o", blue, blue), "memory": ("s", ground, blue), "overhead": ("^", ground, grey)}
    for bound, (marker, face, edge) in looks.items():
        group, word = [row for row in shown if row["bound"] == bound], bound_word(bound)
        if group:
            part = percent(parts[bound])
            marks = {"marker": marker, "facecolors": face, "edgecolors": edge, "linewidths": 1.6, "zorder": 3}
            xs, ys = [row["flops_per_byte"] for row in group], [row["flops_per_s"] for row in group]
            ax.scatter(xs, ys, s=[20 + LARGEST * row["time_ms"] / total for row in group], alpha=0.75, **marks)
            label = t(f"limited by {word}: {part} of the time", f"受限于{word}：占耗时 {part}")
            ax.scatter([], [], s=40, **marks, label=label)


def _names(ax: Any, shown: Sequence[Row]) -> None:
    """Names of the slowest layers, one below the other beside the axes, in the order of their points, each with a line to its point."""
    slowest = sorted(shown, key=lambda row: -row["time_ms"])[:NAMED]
    line = {"arrowstyle": "-", "linewidth": 0.6, "color": GUIDE, "shrinkA": 0}
    look = {"textcoords": "axes fraction", "va": "center", "fontsize": 8, "arrowprops": line}
    for at, row in enumerate(sorted(slowest, key=lambda row: row["flops_per_s"])):
        spot, beside = (row["flops_per_byte"], row["flops_per_s"]), (1.02, (at + 0.5) / len(slowest))
        ax.annotate(row["layer"] or row["kind"], spot, beside, **look)
