"""Pictures of measurements from their plain rows: paired ratios, samples of one function."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.core.units import format_ms, format_ratio
from course.figures.own import own_figure
from course.figures.style import MARKERS, colors, faint, guide
from course.figures.wrap import Sentence, wrap

Row = Mapping[str, Any]

MOST_DOTS = 600
"""Dots drawn of one series; of a longer one evenly picked ones."""
REACH = 2.5
"""How many interquartile ranges beyond the quarter points still lie inside the picture."""


def paired_plot(rows: Sequence[Row], title: Sentence, ax: Any = None, dark: bool | None = None) -> Any:
    """Every ratio of a comparison as a dot, with median, interval and gate. rows: of `Comparison.rows()`.

    Left of 1 is faster than the baseline, right of it slower. A line below tells how many ratios lie outside
    the picture. Without `ax` a figure of its own (dark: None follows the settings). Returns the Axes.
    """
    if ax is None:
        height = 2.3 + 0.75 * len(rows)
        return own_figure(lambda axes: paired_plot(rows, title, axes), (7.0, height), dark)
    gate = rows[0]["gate"]
    low, high = _window(rows, gate)
    ax.axvspan(1 - gate, 1 + gate, color=faint(), alpha=0.35, linewidth=0, zorder=0)
    ax.axvline(1, color=guide(), linestyle="--", linewidth=1.3, zorder=0.5)
    for at, row in enumerate(rows):
        _strip(ax, row, at)
    ax.set_yticks(range(len(rows)), [_literal(row["candidate"]) for row in rows])
    ax.set_ylim(len(rows) - 0.45, -0.75)
    ax.set_xlim(low, high)
    ax.grid(axis="y", visible=False)
    base = _literal(rows[0]["baseline"])
    axis = t(
        f"time / time of {base}   (below 1: faster; band: within the gate)",
        f"耗时 / {base} 的耗时（小于 1 更快；灰带：阈值之内）",
    )
    outside = sum(not low <= ratio <= high for row in rows for ratio in row["ratios"])
    total = sum(len(row["ratios"]) for row in rows)
    ax.set_xlabel("\n".join([axis, *_left_out(outside, total)]))
    _title(ax, title, 80 - max(len(str(row["candidate"])) for row in rows))
    return ax


def samples_plot(rows: Sequence[Row], title: Sentence, ax: Any = None, dark: bool | None = None) -> Any:
    """The samples of one function in the order taken, their distribution beside, the first call apart.

    rows: the one of `Measurement.rows()`. A line marks the median, a band its interval. Without `ax`
    a figure of its own (dark: None follows the settings). Returns the Axes.
    """
    if ax is None:
        return own_figure(lambda axes: samples_plot(rows, title, axes), (7.0, 3.9), dark)
    (row,) = rows
    scale, unit = _unit(row["median_ms"])
    values = [ms * scale for ms in row["samples_ms"]]
    low, high = _reach(values)
    room = 0.08 * (high - low) or 0.05 * high or 1.0
    low, high = low - room, high + room
    colour = colors()[0]
    numbers, shown = range(1, len(values) + 1), slice(None, None, max(1, -(-len(values) // MOST_DOTS)))
    ax.plot(
        numbers[shown],
        values[shown],
        linestyle="",
        marker="o",
        markersize=3,
        markeredgewidth=0,
        color=colour,
        alpha=0.5,
    )
    if row["low_ms"] is not None:
        ax.axhspan(row["low_ms"] * scale, row["high_ms"] * scale, color=colour, alpha=0.25, linewidth=0)
    ax.axhline(row["median_ms"] * scale, color=colour, linewidth=1.6)
    _first_call(ax, row["first_call_ms"], scale, -max(1.0, 0.05 * len(values)), low, high, room)
    ax.set_ylabel(t(f"time of one call ({unit})", f"单次耗时（{unit}）"))
    ax.xaxis.get_major_locator().set_params(integer=True)
    calls = row["calls_per_sample"]
    axis = t("sample (one call each)" if calls == 1 else f"sample ({calls} calls each)", f"样本（每个 {calls} 次调用）")
    ax.set_xlabel("\n".join([axis, *_left_out(sum(not low <= v <= high for v in values), len(values))]))
    _beside(ax, [v for v in values if low <= v <= high], colour)
    _title(ax, title)
    return ax


def _first_call(ax: Any, ms: float, scale: float, x: float, low: float, high: float, room: float) -> None:
    """The first call left of the samples: at its height, or as an arrow at the upper edge when far above."""
    first, colour, words = ms * scale, colors()[1], format_ms(ms)
    inside = low <= first <= high
    at = first if inside else high + room / 2
    ax.plot([x], [at], marker="s" if inside else "^", color=colour, markersize=7, clip_on=False)
    ax.annotate(
        t(f"first call {words}", f"第一次调用 {words}"),
        (x, at),
        color=colour,
        fontsize=9,
        zorder=5,
        xytext=(-3, 9) if inside else (9, -4),
        textcoords="offset points",
    )
    ax.set_ylim(low, high + (1.5 * room if not inside or first > high - room else 0))


def _low(row: Row) -> float:
    """Lower end of the interval of a ratio; the ratio itself where there is none."""
    return float(row["ratio"] if row["low"] is None else row["low"])


def _high(row: Row) -> float:
    """Upper end, likewise."""
    return float(row["ratio"] if row["high"] is None else row["high"])


def _literal(text: object) -> str:
    """`text` as it is: a dollar sign would start a formula."""
    return str(text).replace("$", r"\$")


def _strip(ax: Any, row: Row, at: int) -> None:
    """One candidate: its ratios as dots, above them median, interval and figures."""
    shake, shade = random.Random(at), colors()[at % len(colors())]
    dots = row["ratios"][:: max(1, -(-len(row["ratios"]) // MOST_DOTS))]
    ax.plot(
        dots,
        [at + shake.uniform(-0.12, 0.36) for _ in dots],
        linestyle="",
        marker="o",
        markersize=3.6,
        color=shade,
        alpha=0.6,
        markeredgewidth=0,
    )
    ax.plot([_low(row), _high(row)], [at - 0.25] * 2, color=shade, linewidth=3.5, solid_capstyle="butt")
    ax.plot([row["ratio"]], [at - 0.25], marker=MARKERS[at % len(MARKERS)], markersize=7.5, color=shade)
    ratio, low, high = format_ratio(row["ratio"], _low(row), _high(row))
    count = row.get("processes") or len(row["ratios"])
    ax.annotate(
        t(f"{ratio} ({low} to {high})", f"{ratio}（{low} 至 {high}）")
        if row["low"] is not None
        else t(f"{count}: too few to tell", f"{count} 个：太少，无法判断"),
        (row["ratio"], at - 0.25),
        xytext=(0, 7),
        textcoords="offset points",
        ha="center",
        fontsize=9,
    )


def _beside(ax: Any, values: Sequence[float], colour: str) -> None:
    """The distribution on the right, on the same axis of times."""
    if len(values) < 8:
        return
    side = ax.inset_axes((1.02, 0, 0.16, 1), sharey=ax)
    side.hist(values, bins=min(40, max(8, len(values) // 8)), orientation="horizontal", color=colour, alpha=0.6)
    side.axis("off")


def _left_out(count: int, total: int) -> list[str]:
    if not count:
        return []
    return [t(f"{count} of {total} lie outside the picture", f"{total} 个中有 {count} 个在图外")]


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """The range of the values, cut at REACH interquartile ranges beyond the quarter points."""
    ordered = sorted(values)
    lower, upper = ordered[len(ordered) // 4], ordered[-len(ordered) // 4]
    room = REACH * (upper - lower)
    return max(ordered[0], lower - room), min(ordered[-1], upper + room)


def _window(rows: Sequence[Row], gate: float) -> tuple[float, float]:
    """Limits of the axis of ratios: what the ratios reach, with 1, the gate and the intervals inside."""
    low, high = 1 - 1.5 * gate, 1 + 1.5 * gate
    for row in rows:
        left, right = _reach(row["ratios"])
        low, high = min(low, _low(row), left), max(high, _high(row), right)
    room = 0.05 * (high - low)
    return low - room, high + room


def _unit(ms: float) -> tuple[float, str]:
    """Factor and name of a unit in which `ms` reads as 1 to 1000."""
    for limit, scale, unit in ((1e-3, 1e6, "ns"), (1.0, 1e3, "µs"), (1e3, 1.0, "ms")):
        if ms < limit:
            return scale, unit
    return 1e-3, "s"


def _title(ax: Any, sentence: Sentence, width: int = 80) -> None:
    ax.set_title(_literal(wrap(sentence, max(30, width))), loc="left")
