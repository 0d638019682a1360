"""The roofline as a picture. matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import Any

from course.i18n import pick, t
from course.roofline.result import Layer, Roofline
from course.roofline.words import percent, scaled

NAMED = 5
"""How many layers, the slowest first, are written by name."""


def draw(roofline: Roofline, ax: Any = None) -> Any:
    """Log-log: FLOPs a byte against FLOP/s, the two roofs, the layers as points with areas by time.

    Layers without FLOPs have no place on these axes: the legend says how many and their share of the time.
    Without `ax` a figure of its own, light or dark as the settings are. Returns the Axes.
    """
    if ax is None:
        return _own_figure(roofline)
    from course.figures.show import wrap

    shown = [layer for layer in roofline.points if layer.flops and layer.moved]
    _roofs(roofline, ax, shown)
    _points(roofline, ax, shown)
    ax.set_xlabel(t("arithmetic intensity (FLOPs a byte)", "算术强度（FLOPs/字节）"))
    ax.set_ylabel(t("rate (FLOP/s)", "速率（FLOP/s）"))
    ax.set_title(wrap(pick(roofline.finding()), 76), loc="left")
    ax.legend(loc="best", fontsize=8)
    return ax


def _own_figure(roofline: Roofline) -> Any:
    import matplotlib
    import matplotlib.pyplot as plt

    from course.figures.style import style

    with style():
        figure, ax = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
        draw(roofline, ax)
        fonts = list(matplotlib.rcParams["font.sans-serif"])
        for text in figure.findobj(matplotlib.text.Text):  # fonts are looked up when shown, after this block
            text.set_fontfamily(fonts)
    return ax


def _roofs(roofline: Roofline, ax: Any, shown: list[Layer]) -> None:
    from matplotlib.ticker import FuncFormatter

    from course.figures.style import guide

    roof = roofline.peaks
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
    ax.set_ylim(lowest / 2.5, highest * 4)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scaled(value, "FLOP/s")))


def _points(roofline: Roofline, ax: Any, shown: list[Layer]) -> None:
    from course.figures.style import MARKERS, colors

    total = sum(layer.time_ms for layer in roofline.points) or 1.0
    words = {"compute": t("limited by compute", "受限于计算"), "memory": t("limited by memory", "受限于访存")}
    for at, (bound, label) in enumerate(words.items()):
        group = [layer for layer in shown if layer.bound == bound]
        if group:
            ax.scatter([layer.intensity for layer in group], [layer.flops_per_s for layer in group],
                       s=[25 + 700 * layer.time_ms / total for layer in group], color=colors()[at],
                       marker=MARKERS[at], alpha=0.65, linewidths=0, zorder=3, label=label)
    for at, layer in enumerate(_to_name(shown)):
        down = at % 2
        ax.annotate(layer.name or layer.kind, (layer.intensity, layer.flops_per_s), fontsize=8, ha="center",
                    xytext=(0, -11 if down else 11), textcoords="offset points",
                    va="top" if down else "bottom", zorder=4)
    silent = [layer for layer in roofline.points if layer.memory_only]
    if silent:
        part = percent(sum(layer.time_ms for layer in silent) / total)
        ax.plot([], [], linestyle="", label=t(
            f"not shown: {len(silent)} memory-only layers, {part} of the time",
            f"未画出：{len(silent)} 个仅访存的层，占用时 {part}"))


def _to_name(shown: list[Layer]) -> list[Layer]:
    """The slowest layers, at most NAMED, none close to another that is named already."""
    named: list[Layer] = []
    for layer in sorted(shown, key=lambda layer: -layer.time_ms):
        if len(named) < NAMED and all(_apart(layer, other) for other in named):
            named.append(layer)
    return named


def _apart(one: Layer, other: Layer) -> bool:
    """Whether two points are a factor of two from each other along an axis."""
    pairs = (one.intensity, other.intensity), (one.flops_per_s, other.flops_per_s)
    return any(max(pair) > 2 * min(pair) for pair in pairs)
