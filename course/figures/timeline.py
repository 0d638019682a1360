"""A call as a picture: one bar for each operation, from left to right, the operations it calls below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.figures.own import own_figure
from course.figures.style import colors, guide, ink_on
from course.figures.wrap import Sentence, wrap

Row = Mapping[str, Any]

NAMED, LEAST_SHARE = 4, 0.01
"""Names that have a colour of their own: at most so many, those with the largest time of their own, and no crumbs."""
DEEPEST = 5
MOST_BARS = 20_000
LETTER = 0.0135
"""Width of a letter as a share of the picture."""


def timeline_plot(rows: Sequence[Row], title: Sentence, ax: Any = None, dark: bool | None = None) -> Any:
    """Bars over time, a lane for each depth, the kernels of a GPU in a lane below; a gap is time outside any operation.

    rows: of `course.trace.rows_of`. title: the sentence above it, also its words for who cannot see it; empty: none.
    Deeper than DEEPEST and more than MOST_BARS is left out and counted. Without `ax` a figure of its own
    (dark: None follows the settings). Returns the Axes.
    """
    bars = [row for row in rows if row["kind"] != "call"]
    deep = min(DEEPEST, max((row["depth"] for row in bars), default=0))
    kernels = any(row["device"] == "cuda" for row in bars)
    if ax is None:
        height = 2.2 + 0.42 * (deep + 1 + kernels)
        return own_figure(lambda own: timeline_plot(rows, title, own), (7.0, height), dark)
    start = min((row["start_us"] for row in rows), default=0.0)
    end = max((row["start_us"] + row["us"] for row in rows), default=1.0)
    scale, unit = (1.0, "µs") if end - start < 2000 else (1e-3, "ms")
    width = max((end - start) * scale, 1e-9)
    shown = sorted((row for row in bars if row["depth"] <= DEEPEST), key=lambda row: -row["us"])[:MOST_BARS]
    colour = _colours(bars)
    spans: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for row in shown:
        lane = deep + 1 if row["device"] == "cuda" else row["depth"]
        left, long = (row["start_us"] - start) * scale, row["us"] * scale
        shade = colour.get(row["name"], guide())
        spans.setdefault((lane, shade), []).append((left, max(long, width / 2000)))
        name = row["name"].removeprefix("aten::")
        if long > LETTER * width * (len(name) + 1):
            ax.text(left + long / 2, lane, name, ha="center", va="center", fontsize=8.5, color=ink_on(shade))
    for (lane, shade), bands in spans.items():
        ax.broken_barh(bands, (lane - 0.42, 0.84), facecolor=shade, linewidth=0)
    ax.set_ylim(deep + 0.6 + kernels, -0.6)
    ax.set_xlim(0, width)
    lanes = [t("your code calls", "你的代码调用"), *[t("that calls", "它再调用")] * deep]
    ax.set_yticks(range(deep + 1 + kernels), [*lanes, *(["GPU"] if kernels else [])])
    ax.grid(axis="y", visible=False)
    left_out = len(bars) - len(shown)
    rest = t(f"; {left_out} short or deep bars left out", f"；另有 {left_out} 条太短或太深，未画") if left_out else ""
    ax.set_xlabel(
        t(f"time ({unit}); a gap: outside any operation{rest}", f"时间（{unit}）；空隙：不在任何操作里{rest}")
    )
    _key(ax, colour)
    if title:
        ax.set_title(wrap(title).replace("$", r"\$"), loc="left")
    return ax


def _colours(bars: Sequence[Row]) -> dict[str, str]:
    """A colour for the names with the largest time of their own."""
    own: dict[str, float] = {}
    for row in bars:
        own[row["name"]] = own.get(row["name"], 0.0) + row["self_us"]
    large = [name for name in own if own[name] > LEAST_SHARE * sum(own.values())]
    return dict(zip(sorted(large, key=lambda name: -own[name])[:NAMED], colors(), strict=False))


def _key(ax: Any, colour: Mapping[str, str]) -> None:
    """Which colour is which operation, below the axis; the rest is grey."""
    from matplotlib.patches import Patch

    patches = [Patch(color=shade, label=_short(name)) for name, shade in colour.items()]
    patches.append(Patch(color=guide(), label=t("others", "其他")))
    ax.figure.legend(handles=patches, loc="outside lower center", ncols=3, fontsize=8.5)


def _short(name: str, most: int = 34) -> str:
    """A name that fits: the middle of a long one is left out. The space keeps a leading underscore in the legend."""
    text = name.removeprefix("aten::").removeprefix("void ")
    text = text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"
    return " " + text.replace("$", r"\$")
