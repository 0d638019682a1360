"""The few kinds of picture the course draws, each on one matplotlib Axes: intervals, lines, raw samples."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from course.figures.style import DASHES, MARKERS, colors, guide
from course.i18n import t


def intervals(
    ax: Any,
    labels: Sequence[str],
    mids: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    unit: str,
    *,
    reference: float | None = None,
    what: str = "",
    log: bool = False,
    digits: int = 3,
) -> None:
    """A point and its interval for each label, one a line, top to bottom, the figure written beside it.

    unit stands on the axis ("ms"; "" for a ratio). reference: a dashed guide line, such as 1 for ratios.
    what: axis text before the unit. log: logarithmic axis. Raises ValueError for lists of unequal length.
    """
    if not len(labels) == len(mids) == len(lows) == len(highs):
        raise ValueError(
            f"labels, mids, lows and highs differ in length: {len(labels)}, {len(mids)}, {len(lows)}, {len(highs)}"
        )
    colour, paper = colors(), {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.6}
    for i, (mid, low, high) in enumerate(zip(mids, lows, highs, strict=True)):
        shade = colour[i % len(colour)]
        ax.plot([low, high], [i, i], color=shade, linewidth=2.5, solid_capstyle="butt")
        ax.plot([mid], [i], marker=MARKERS[i % len(MARKERS)], markersize=7, color=shade)
        said, offset = f"{mid:.{digits}g}", {"xytext": (0, 8), "textcoords": "offset points"}
        ax.annotate(said, (mid, i), **offset, ha="center", fontsize=9, bbox=paper)
    if log:
        _log(ax, "x")
    if reference is not None:
        ax.axvline(reference, color=guide(), linestyle="--", linewidth=1.3, zorder=0.5)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.7)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(_axis(what, unit))
    ax.margins(x=0.12)


def _axis(what: str, unit: str) -> str:
    if what and unit:
        return t(f"{what} ({unit})", f"{what}（{unit}）")
    return what or unit


def _log(ax: Any, which: str) -> None:
    """A logarithmic axis with ticks at 1, 2, 5, 10, ... written as plain numbers; closer ones where it shows few of these."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    class Plain(LogLocator):
        def tick_values(self, low: float, high: float) -> Any:
            for subs in ((1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)):
                self.set_params(subs=subs)
                ticks = super().tick_values(low, high)
                if sum(low <= one <= high for one in ticks) >= 3:
                    return ticks
            return [one for one in MaxNLocator(5).tick_values(low, high) if one > 0]

    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    axis.set_major_locator(Plain(numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def lines(
    ax: Any,
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    *,
    xlabel: str = "",
    ylabel: str = "",
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    """One line a series over common x, told apart by colour, dash and marker; None leaves a gap.

    bands: series name -> (lows, highs), drawn as a shade. Axis texts carry their units.
    """
    colour = colors()
    for i, (name, values) in enumerate(series.items()):
        drawn = [float("nan") if v is None else v for v in values]
        shade = colour[i % len(colour)]
        ax.plot(
            x,
            drawn,
            color=shade,
            linestyle=DASHES[i % len(DASHES)],
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            label=name,
        )
        if bands and name in bands:
            ax.fill_between(x, *bands[name], color=shade, alpha=0.2, linewidth=0)
    if log_x:
        _log(ax, "x")
        if len(x) <= 10:
            ax.set_xticks(x, [f"{v:g}" for v in x], minor=False)
    if log_y:
        _log(ax, "y")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if len(series) > 1:
        ax.legend()


def samples(
    ax: Any, groups: Mapping[str, Sequence[float]], unit: str, *, what: str = "", log: bool = False, most: int = 600
) -> None:
    """Every raw sample as a dot, one strip a group, the median as a bar across.

    At most `most` samples of a group are drawn (evenly picked). unit stands on the axis.
    """
    shake, colour = random.Random(0), colors()
    for i, (_, values) in enumerate(groups.items()):
        shown = list(values)[:: max(1, -(-len(values) // most))]
        heights = [i + shake.uniform(-0.25, 0.25) for _ in shown]
        ax.plot(
            shown,
            heights,
            linestyle="",
            marker=MARKERS[i % len(MARKERS)],
            markersize=3,
            color=colour[i % len(colour)],
            alpha=0.45,
            markeredgewidth=0,
        )
        if values:
            middle = median(values)
            ax.plot([middle, middle], [i - 0.36, i + 0.36], color=colour[i % len(colour)], linewidth=2.5)
    if log:
        _log(ax, "x")
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(_axis(what, unit))


def grouped(
    ax: Any,
    labels: Sequence[str],
    series: Mapping[str, Sequence[tuple[float, float, float]]],
    unit: str,
    *,
    what: str = "",
    reference: float | None = None,
    log: bool = False,
) -> None:
    """Several (mid, low, high) per label, one colour and marker a series, with a legend."""
    colour = colors()
    step = 0.7 / max(len(series), 1)
    for j, (name, triples) in enumerate(series.items()):
        heights = [i + (j - (len(series) - 1) / 2) * step for i in range(len(labels))]
        shade = colour[j % len(colour)]
        for height, (_, low, high) in zip(heights, triples, strict=True):
            ax.plot([low, high], [height, height], color=shade, linewidth=2.2, solid_capstyle="butt")
        ax.plot(
            [mid for mid, _, _ in triples],
            heights,
            linestyle="",
            marker=MARKERS[j % len(MARKERS)],
            markersize=6.5,
            color=shade,
            label=name,
        )
    if log:
        _log(ax, "x")
    if reference is not None:
        ax.axvline(reference, color=guide(), linestyle="--", linewidth=1.3, zorder=0.5)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(_axis(what, unit))
    ax.legend()


def default_draw(record: Any, ax: Any) -> None:
    """Intervals where rows have a ratio or median_ms with low and high, else raw samples, else points."""
    rows = record.rows
    first = rows[0]
    labels = [" ".join(v for v in row.values() if isinstance(v, str)) or str(i) for i, row in enumerate(rows)]
    for mid, low, high, unit in (
        ("ratio", "low", "high", ""),
        ("ratio", "ratio_low", "ratio_high", ""),
        ("median_ms", "low_ms", "high_ms", "ms"),
    ):
        if {mid, low, high} <= first.keys():
            columns = [[row[key] for row in rows] for key in (mid, low, high)]
            intervals(ax, labels, *columns, unit, reference=1 if mid == "ratio" else None, what=mid)
            return
    raw = next((key for key, value in first.items() if isinstance(value, list)), None)
    if raw:
        samples(ax, dict(zip(labels, (row[raw] for row in rows), strict=True)), "", what=raw)
        return
    key = next(k for k, v in first.items() if isinstance(v, (int, float)) and not isinstance(v, bool))
    ax.plot([row[key] for row in rows], range(len(rows)), "o")
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xlabel(key)
