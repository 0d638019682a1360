"""The numbers of field reports as a picture that cannot be taken for a measurement of the course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from course.core.i18n import Text, pick, t
from course.core.tables import clip
from course.figures.kinds import Rows, alt_of
from course.figures.svg import Canvas, SvgPicture, scale, wide
from course.figures.words import one_in, time_words

MOST = 8
"""Rows in a picture; further figures stand in the folded reports."""
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6}
CHINESE = {
    "×": " 倍",
    "min": " 分钟",
    "plans": " 个计划",
    "calls": " 次",
    "error": "（误差）",
    "relative error": "（相对误差）",
    "error / mean": "（误差 / 平均值）",
    "difference": "（差）",
}
"""Units that are words, in Chinese; others are the same in both languages."""


class Told(NamedTuple):
    """A row of `reported`. who, remark: machine, year. points: (group, value)."""

    who: str
    remark: str
    points: Sequence[tuple[str, float]]


def reported(
    rows: Sequence[Told], mark: str, groups: Sequence[str] = (), *, said: Callable[[float], str] = time_words
) -> SvgPicture:
    """Numbers of others: never filled, never in the colour of what was measured. mark: the words of the corner.

    groups: the names written over the columns, where the points of every row fall into two. said: a value in words.
    """
    values = [value for row in rows for _, value in row.points]
    log = min(values) > 0 and max(values) > 12 * min(values)

    def paint(w: float) -> Canvas:
        place = Rows(w, [(row.who, row.remark) for row in rows], 72 if groups else 44, 52, extra=16)
        paper = Canvas(w, place.bottom + 16)
        low, high = (min(values) / 2.2, max(values) * 2.2) if log else (0, max(values) * 1.1)
        room = max(wide(said(value), 12) for value in values)
        x = scale(low, high, place.x0 + 10, w - 24 - room, log)
        paper.box(1.5, 1.5, w - 3, paper.h - 3, "", "edge", 10, 1.5, "7 5")
        badge = wide(mark, 12) + 16
        paper.box(w - 10 - badge, 10, badge, 22, "line", r=6)
        paper.text(w - 10 - badge / 2, 21, mark, "fg", 12, "center")
        for group, at in _heads(groups, rows, x, w).items():
            _mark(paper, at - wide(group, 14, True) / 2 - 12, place.top - 16, group, groups)
            paper.text(at, place.top - 16, group, size=14, ha="center", bold=True)
        for number, row in enumerate(rows):
            y = place.y(number)
            place.name(paper, number)
            mine = [value for _, value in row.points]
            paper.line([x(min(mine)), x(max(mine))], [y, y], "edge", 1, "2 3")
            for group, value in row.points:
                _mark(paper, x(value), y, group, groups)
            edge = 0.0  # where the words of the group before end
            for group in sorted(dict.fromkeys(name for name, _ in row.points), key=lambda one: min(_of(row, one))):
                one = _of(row, group)
                words = _range(one, said)
                if groups:
                    at = max((x(min(one)) + x(max(one))) / 2, edge + wide(words, 12) / 2)
                    edge = at + wide(words, 12) / 2 + 10
                    paper.text(at, y + 19, words, "soft", 12, "center")
                else:
                    paper.text(x(max(one)) + 12, y, words, "fg", 14, bold=True)
        return paper

    told = []
    for row in rows:
        names = dict.fromkeys(name for name, _ in row.points)
        values_said = ((f"{name} " if groups else "") + _range(_of(row, name), said) for name in names)
        told.append((row.who + t(", ", "，") + row.remark, t(", ", "，").join(values_said)))
    return SvgPicture(paint, alt_of(told, None, mark + t(": ", "：")))


def _mark(paper: Canvas, x: float, y: float, group: str, groups: Sequence[str]) -> None:
    """An open diamond; for the second group an open circle."""
    if group in groups[1:]:
        paper.dot(x, y, 5.5, "paper", "soft")
    else:
        paper.diamond(x, y)


def _heads(groups: Sequence[str], rows: Sequence[Told], x: Callable[[float], float], w: float) -> dict[str, float]:
    """Where the names of the columns stand: over their points, apart from each other, on the paper."""
    found: dict[str, float] = {}
    middles = {group: [x(value) for row in rows for name, value in row.points if name == group] for group in groups}
    edge = 14.0
    for group in sorted(groups, key=lambda one: sum(middles[one]) / len(middles[one])):
        half = wide(group, 14, True) / 2 + 20
        found[group] = max(sum(middles[group]) / len(middles[group]), edge + half)
        edge = found[group] + half
    over = max(0.0, edge - (w - 10))
    return {group: at - over for group, at in found.items()}


def _of(row: Told, group: str) -> list[float]:
    return [value for name, value in row.points if name == group]


def _range(values: Sequence[float], said: Callable[[float], str]) -> str:
    low, high = said(min(values)), said(max(values))
    return low if low == high else f"{low} – {high}"


def picture(found: Sequence[Any], groups: Sequence[Text] = ()) -> SvgPicture | None:
    """The figures of these reports (`course.experiment.reports.Report`), the strongest first, as one picture.

    groups: where figures name one of two columns, those with the same name are a row. Else the first report with two
    figures in one unit is drawn, a figure a row. None where no report has two.
    """
    rows: dict[tuple[str, str], list[tuple[str, float]]] = {}
    years, unit = [], ""
    for report in found:
        figures = [one for one in report.figures if one.group in groups] if groups else list(report.figures)
        units = Counter(_unit(figure.unit) for figure in figures)
        most = units.most_common(1)[0] if units else ("", 0)
        unit = unit or most[0]
        if most[1] < 2 or most[0] != unit or (rows and not groups):
            unit = unit if rows else ""
            continue
        years.append(report.date[:4])
        for figure in (one for one in figures if _unit(one.unit) == unit):
            name, machine = pick(figure.name), pick(report.machine)
            remark = report.date[:4] if groups else clip(machine, 28) + t(", ", "，") + report.date[:4]
            rows.setdefault((name, remark), []).append(
                (pick(figure.group), figure.value * SECONDS.get(figure.unit, 1.0))
            )
    if not rows:
        return None
    mark = t("reported by others", "他人报告") + " · " + t(", ", "、").join(sorted(set(years)))
    told = [Told(name, remark, points) for (name, remark), points in rows.items()][:MOST]
    return reported(told, mark, [pick(one) for one in groups], said=time_words if unit == "s" else _in(unit))


def _in(unit: str) -> Callable[[float], str]:
    """A value in words: as it was reported, a small one with two digits, a very small one as a part: never a power of ten."""
    said = t(f" {unit}", CHINESE.get(unit, f" {unit}"))

    def words(value: float) -> str:
        if 0 < value < 1e-3:
            return one_in(value) + said
        return ((f"{value:,g}" if abs(value) >= 0.01 else f"{value:.2g}") + said).strip()

    return words


def _unit(unit: str) -> str:
    return "s" if unit in SECONDS else unit
