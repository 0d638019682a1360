"""A picture of what several counters report. matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from course.i18n import t

if TYPE_CHECKING:
    from course.crosscheck.check import CrossCheck


def draw_tools(check: CrossCheck, ax: Any = None) -> Any:
    """Horizontal bars of what each tool reports as MACs, ours as a line. Returns the Axes; without `ax` of a figure
    of its own. A tool without a number has a name and no bar."""
    if ax is None:
        from course.figures.own import own_figure

        return own_figure(lambda axes: draw_tools(check, axes), (7.0, 1.4 + 0.3 * len(check.tools)))
    from course.figures.style import colors

    ours = max(check.ours.macs, 1)
    bars = ax.barh(range(len(check.tools)), [(row.macs or 0) / 1e6 for row in check.tools], color=colors()[0])
    labels = [
        t("no number", "没有数字") if row.difference is None
        else f"{100 * row.difference / ours:+.2g} %" if row.difference
        else t("the same", "一样")
        for row in check.tools
    ]  # fmt: skip
    ax.bar_label(bars, labels, padding=3, fontsize=8)
    ax.axvline(check.ours.macs / 1e6, color=colors()[1])
    ax.set_yticks(range(len(check.tools)), [row.tool for row in check.tools], fontsize=8)
    ax.grid(False, axis="y")
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set_xlabel(t("million MACs; the line is course.flops", "百万 MAC；竖线是 course.flops"))
    ax.set_title(check.sentence(), loc="left", fontsize=9)
    return ax
