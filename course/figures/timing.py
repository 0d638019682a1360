"""The picture of a comparison from its plain rows: paired ratios."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.core.units import format_ratio
from course.figures.kinds import Rows, lines_of, ticks_between
from course.figures.shown import Block
from course.figures.svg import Canvas, SvgPicture, scale, wide

Row = Mapping[str, Any]
MOST_DOTS = 300
"""Dots drawn of one series; of a longer one evenly picked ones."""
REACH = 2.5
"""How many interquartile ranges beyond the quarter points still lie inside the picture."""


def paired_plot(rows: Sequence[Row], title: str) -> Block:
    """Every ratio of a comparison as a dot, with its centre, interval and gate. rows: of `Comparison.rows()`; title: its sentence.

    Left of 1 is faster than the baseline, right of it slower. A line below tells how many ratios lie outside the picture.
    """
    gate, base = rows[0]["gate"], rows[0]["baseline"]
    low, high = _window(rows, gate)
    said = [_in_words(row) for row in rows]
    axis = t(f"time ÷ time of {base} →", f"耗时 ÷ {base} 的耗时 →")
    outside = sum(not low <= ratio <= high for row in rows for ratio in row["ratios"])
    below = [
        t("shaded: within the gate", "浅色带：阈值之内"),
        *_left_out(outside, sum(len(row["ratios"]) for row in rows)),
    ]

    def paint(w: float) -> Canvas:
        place = Rows(w, [(str(row["candidate"]), "") for row in rows], 4, 66)
        x = scale(low, high, place.x0 + 8, w - 14, False)
        paper = Canvas(w, place.bottom + 4)
        paper.box(x(1 - gate), 4, x(1 + gate) - x(1 - gate), place.bottom - 4, "wash", r=0)
        paper.line([x(1)] * 2, [4, place.bottom], "fg", 1.5)
        for number, row in enumerate(rows):
            y, shake = place.y(number) + 6, random.Random(number)
            place.name(paper, number)
            inside = [ratio for ratio in _picked(row["ratios"]) if low <= ratio <= high]
            paper.strokes([(x(one), x(one), y + shake.uniform(-3, 18)) for one in inside], "out", 3.6, "round", 0.5)
            paper.line([x(_end(row, "low")), x(_end(row, "high"))], [y - 14] * 2, "out", 4)
            paper.dot(x(row["ratio"]), y - 14, 5)
            half = wide(said[number], 13, True) / 2 + 2
            paper.text(min(max(x(row["ratio"]), half), w - half), y - 28, said[number], "fg", 13, "center", True, True)
        _axis(paper, x, ticks_between(low, high, 5), "{:g}".format, axis, below)
        return paper

    return Block(title, "", SvgPicture(paint, "; ".join(said) + t(".", "。")), "")


def _axis(paper: Canvas, x: Any, ticks: Sequence[float], said: Any, name: str, below: Sequence[str]) -> None:
    """The ticks of the lower axis, its name and further lines, added below what is drawn."""
    for tick in ticks:
        paper.text(x(tick), paper.h + 12, said(tick), "soft", 12, "center")
    paper.h += 22 * bool(ticks)
    for words in (name, *below):
        for line in lines_of(words, "", paper.w - 24):
            paper.text(paper.w - 12, paper.h + 10, line, "soft", 12, "right")
            paper.h += 18
    paper.h += 4


def _in_words(row: Row) -> str:
    """The candidate's ratio and its interval."""
    ratio, low, high = format_ratio(row["ratio"], _end(row, "low"), _end(row, "high"))
    count = row.get("processes") or len(row["ratios"])
    if row["low"] is None:
        return t(f"{count}: too few to tell", f"{count} 个：太少，无法判断")
    return t(f"{ratio} ({low} to {high})", f"{ratio}（{low} 至 {high}）")


def _end(row: Row, which: str) -> float:
    """An end of the interval of a ratio; the ratio itself where there is none."""
    return float(row["ratio"] if row[which] is None else row[which])


def _picked(values: Sequence[Any]) -> Sequence[Any]:
    return values[:: max(1, -(-len(values) // MOST_DOTS))]


def _left_out(count: int, total: int) -> list[str]:
    return [t(f"{count} of {total} lie outside the picture", f"{total} 个中有 {count} 个在图外")] if count else []


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
        low, high = min(low, _end(row, "low"), left), max(high, _end(row, "high"), right)
    room = 0.05 * (high - low)
    return low - room, high + room
