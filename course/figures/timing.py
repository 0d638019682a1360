"""The picture of a comparison from its plain rows: paired ratios."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from course.core.i18n import t
from course.core.units import format_ratio
from course.figures.block import Block
from course.figures.kinds import Rows, lines_of, ticks_between
from course.figures.svg import Canvas, SvgPicture, scale, wide

Row = Mapping[str, Any]
MOST_DOTS = 300
"""Dots drawn of one series; of a longer one evenly picked ones."""


def paired_plot(rows: Sequence[Row], title: str) -> Block:
    """Every ratio of a comparison as a dot, with its centre, interval and gate. rows: of `Comparison.rows()`; title: its sentence.

    Left of 1 is faster than the baseline, right of it slower. A line below tells how many ratios lie outside the picture.
    """
    gate, base = rows[0]["gate"], rows[0]["baseline"]
    low, high = _window(rows, gate)
    said = [_in_words(row) for row in rows]
    ratios = [ratio for row in rows for ratio in row["ratios"]]
    outside = sum(not low <= ratio <= high for ratio in ratios)
    below = [t(f"time ÷ time of {base} →", f"耗时 ÷ {base} 的耗时 →"), t("shaded: within the gate", "浅色带：阈值之内")]
    if outside:
        below.append(
            t(f"{outside} of {len(ratios)} lie outside the picture", f"{len(ratios)} 个中有 {outside} 个在图外")
        )

    def paint(w: float) -> Canvas:
        place = Rows(w, [(str(row["name"]), "") for row in rows], 4, 66)
        x = scale(low, high, place.x0 + 8, w - 14, False)
        paper = Canvas(w, place.bottom + 4)
        paper.box(x(1 - gate), 4, x(1 + gate) - x(1 - gate), place.bottom - 4, "wash", r=0)
        paper.line([x(1)] * 2, [4, place.bottom], "fg", 1.5)
        for number, row in enumerate(rows):
            y, shake = place.y(number) + 6, random.Random(number)
            place.name(paper, number)
            picked = row["ratios"][:: max(1, -(-len(row["ratios"]) // MOST_DOTS))]
            inside = [x(ratio) for ratio in picked if low <= ratio <= high]
            paper.strokes([(at, at, y + shake.uniform(-3, 18)) for at in inside], "out", 3.6, "round", 0.5)
            paper.line([x(end) for end in _ends(row)], [y - 14] * 2, "out", 4)
            paper.dot(x(row["ratio"]), y - 14, 5)
            half = wide(said[number], 13, True) / 2 + 2
            paper.text(min(max(x(row["ratio"]), half), w - half), y - 28, said[number], "fg", 13, "center", True, True)
        for tick in ticks_between(low, high, 5):
            paper.text(x(tick), paper.h + 12, f"{tick:g}", "soft", 12, "center")
        paper.h += 22
        for line in (line for words in below for line in lines_of(words, "", w - 24)):
            paper.text(w - 12, paper.h + 10, line, "soft", 12, "right")
            paper.h += 18
        return paper

    return Block(title, "", SvgPicture(paint, "; ".join(said) + t(".", "。")), "")


def _in_words(row: Row) -> str:
    """The candidate's ratio and its interval."""
    ratio, low, high = format_ratio(row["ratio"], *_ends(row))
    count = row.get("processes") or len(row["ratios"])
    if row["low"] is None:
        return t(f"{count}: too few to tell", f"{count} 个：太少，无法判断")
    return t(f"{ratio} ({low} to {high})", f"{ratio}（{low} 至 {high}）")


def _ends(row: Row) -> tuple[float, float]:
    """The interval of a ratio; the ratio itself where there is none."""
    return (row["ratio"], row["ratio"]) if row["low"] is None else (row["low"], row["high"])


def _window(rows: Sequence[Row], gate: float) -> tuple[float, float]:
    """Limits of the axis: 1, the gate, the intervals, and the ratios up to 2.5 interquartile ranges beyond their quarter points."""
    low, high = 1 - 1.5 * gate, 1 + 1.5 * gate
    for row in rows:
        ordered, (left, right) = sorted(row["ratios"]), _ends(row)
        lower, upper = ordered[len(ordered) // 4], ordered[-len(ordered) // 4]
        room = 2.5 * (upper - lower)
        low = min(low, left, max(ordered[0], lower - room))
        high = max(high, right, min(ordered[-1], upper + room))
    room = 0.05 * (high - low)
    return low - room, high + room
