"""A call as a picture: one bar for each operation, from left to right, the operations it calls below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.figures.block import Block
from course.figures.kinds import lines_of, time_axis
from course.figures.svg import Canvas, SvgPicture, scale, wide

Row = Mapping[str, Any]
INKS, LEAST_SHARE = ("out", "good", "part", "bad"), 0.01
"""Names that have a colour of their own: as many, those with the largest time of their own, and no crumbs."""
DEEPEST, LANE, BAR = 5, 32, 26
"""Lanes of operations; pixels of a lane and of a bar."""
APART = 0.4
"""Pixels: nearer bars of one colour in a lane are drawn as one."""


def timeline_plot(rows: Sequence[Row], title: str) -> Block:
    """Bars over time, a lane for each depth, the kernels of a GPU in a lane below; a gap is time outside any operation.

    rows: of `course.trace.rows_of`. title: the sentence above it. What is deeper than DEEPEST is left out and counted.
    """
    bars = [row for row in rows if row["kind"] != "call"]
    shown = sorted((row for row in bars if row["depth"] <= DEEPEST), key=lambda row: row["start_us"])
    deep = max((row["depth"] for row in shown), default=0)
    kernels = any(row["device"] == "cuda" for row in bars)
    start = min((row["start_us"] for row in rows), default=0.0)
    end = max((row["start_us"] + row["us"] for row in rows), default=start + 1.0)
    factor, unit = (1.0, "µs") if end - start < 2000 else (1e-3, "ms")
    inks = _inks(bars)
    lanes = [t("your code calls", "你的代码调用"), *[t("that calls", "它再调用")] * deep, *(["GPU"] if kernels else [])]
    notes = [t("a gap: outside any operation", "空隙：不在任何操作里")]
    if left_out := len(bars) - len(shown):
        notes.append(t(f"{left_out} deep bars left out", f"另有 {left_out} 条太深，未画"))

    def paint(w: float) -> Canvas:
        x0 = 20 + max(wide(name, 12) for name in lanes)
        paper = Canvas(w, 8 + LANE * len(lanes))
        x = scale(0, max((end - start) * factor, 1e-9), x0, w - 16, False)
        for lane, name in enumerate(lanes):
            paper.text(x0 - 10, 4 + LANE * (lane + 0.5), name, "soft", 12, "right")
        spans: dict[tuple[float, str], list[tuple[float, float, float]]] = {}
        words = []
        for row in shown:
            y = 4 + LANE * ((deep + 1 if row["device"] == "cuda" else row["depth"]) + 0.5)
            left, right = (x((at - start) * factor) for at in (row["start_us"], row["start_us"] + row["us"]))
            ink, name = inks.get(row["name"], "quiet"), row["name"].removeprefix("aten::")
            own = spans.setdefault((y, ink), [])
            if own and left - own[-1][1] < APART:
                own[-1] = (own[-1][0], max(right, own[-1][1]), y)
            else:
                own.append((left, max(right, left + APART), y))
            if wide(name, 12) + 4 < right - left:
                words.append(((left + right) / 2, y, name, "fg" if ink == "quiet" else "paper"))
        for (_, ink), own in spans.items():
            paper.strokes(own, ink, BAR)
        for at, y, name, ink in words:
            paper.text(at, y, name, ink, 12, "center")
        time_axis(paper, x, (end - start) * factor, paper.h, unit)
        _key(paper, {**{_short(name): ink for name, ink in inks.items()}, t("others", "其他"): "quiet"}, notes)
        return paper

    drawn = ", ".join(_short(name) for name in inks)
    said = t(
        f"A bar for each operation over time; the longest: {drawn}.", f"每个操作一条，按时间排开；最长的：{drawn}。"
    )
    return Block("", title, SvgPicture(paint, said), "")


def _inks(bars: Sequence[Row]) -> dict[str, str]:
    """A colour for the names with the largest time of their own."""
    own: dict[str, float] = {}
    for row in bars:
        own[row["name"]] = own.get(row["name"], 0.0) + row["self_us"]
    large = [name for name in own if own[name] > LEAST_SHARE * sum(own.values())]
    return dict(zip(sorted(large, key=lambda name: -own[name]), INKS, strict=False))


def _key(paper: Canvas, inks: Mapping[str, str], notes: Sequence[str]) -> None:
    """Which colour is which operation, and what else is to be known, added below what is drawn."""
    at, paper.h = 12.0, paper.h + 32
    for name, ink in inks.items():
        if at > 12 and at + 18 + wide(name, 12) > paper.w - 8:
            at, paper.h = 12.0, paper.h + 20
        paper.box(at, paper.h - 6, 12, 12, ink)
        paper.text(at + 18, paper.h, name, "fg", 12)
        at += 34 + wide(name, 12)
    for note in notes:
        for line in lines_of(note, "", paper.w - 24):
            paper.h += 19
            paper.text(12, paper.h, line, "soft", 12)
    paper.h += 12


def _short(name: str, most: int = 34) -> str:
    """A name that fits: the middle of a long one is left out."""
    text = name.removeprefix("aten::").removeprefix("void ")
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"
