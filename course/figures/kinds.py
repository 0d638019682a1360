"""The kinds of pictures of a result: one idea each, as high as its rows, the bet drawn in, names where things are.

A row is a small tuple of its own; ``bet`` is a `Bet` or None. Every kind gives back a `SvgPicture`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from course.core.i18n import t
from course.core.units import ratio_words
from course.figures.svg import BROAD, Canvas, SvgPicture, scale, wide

LEAST_ROUNDS = 12
"""Fewer rounds are drawn as boxes, without a place on the axis."""
ALIKE = 1.03
"""A likely range around 1 that stays below it, and above its inverse, counts as 1; a wider one could be on either side."""


@dataclass(frozen=True)
class Bet:
    """What the learner bet, as a picture draws it. words: what was bet, such as "it does not pay".

    rows: the rows it speaks of; in `ratio_rows` row -> side: "left", "middle" or "right". span: from and to on the
    axis, outlined in those rows. at: one value of the axis, 0 for never. each: counts, as in `Share`.
    """

    words: str
    rows: Mapping[int, str] | Sequence[int] = ()
    span: tuple[float, float] | None = None
    at: float | None = None
    each: Sequence[int] = ()

    @property
    def full(self) -> str:
        return t(f"your bet: {self.words}", f"你押：{self.words}")


def checked(bet: Bet | None, *drawn: str) -> Bet | None:
    """The bet, if this kind of picture draws what it holds. Raises ValueError."""
    held = [name for name in ("rows", "span", "at", "each") if getattr(bet, name, None) not in (None, (), [])]
    if bet is not None and (not held or set(held) - set(drawn)):
        raise ValueError(f"this picture draws a bet by {', '.join(drawn)}, not by {', '.join(held) or 'nothing'}")
    return bet


def alt_of(rows: Sequence[tuple[str, str]], bet: Bet | None, lead: str = "") -> str:
    """The words of a picture: each row and its value, then the bet."""
    said = t("; ", "；").join((name + t(": ", "：") if name else "") + value for name, value in rows) + t(".", "。")
    return lead + said + (t(" ", "") + bet.full + t(".", "。") if bet else "")


def _with_remark(row: Bar | Ratio) -> str:
    """The name in words; rows of one name differ by their remark alone."""
    return row.name + (t(f" ({row.remark})", f"（{row.remark}）") if row.remark else "")


def ticks_between(low: float, high: float, count: int = 6) -> list[float]:
    """Up to ``count`` + 1 round values from ``low`` to ``high``."""
    fits = (
        one * 10.0**power for power in range(-9, 12) for one in (1, 2, 5) if (high - low) / (one * 10.0**power) <= count
    )
    step = next(fits)
    return [
        round(step * place, 12) for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


LINE = 17
"""Pixels from one line of a name to the next."""


def lines_of(name: str, remark: str, room: float) -> list[str]:
    """A name with its remark, in as many lines as the room asks for; a line ends after a dot where it can."""
    lines = [""]
    for part in re.split(r"(?<=·)\s+", name + (f"  ·  {remark}" if remark else "")):
        whole = wide(part, 13) <= room
        for number, piece in enumerate([part] if whole else re.findall(r"[!-~]+\s*|.\s*", part)):
            longer = f"{lines[-1]}{' ' * (number == 0 and bool(lines[-1]))}{piece}"
            lines = [*lines[:-1], longer] if wide(longer.rstrip(), 13) <= room or not lines[-1] else [*lines, piece]
    return [line.strip() for line in lines]


class Rows:
    """Where rows stand: their names at the left, or above them where there is no room."""

    def __init__(
        self,
        w: float,
        names: Sequence[tuple[str, str]],
        top: float,
        tall: float,
        above: bool = False,
        extra: float = 18,
    ) -> None:
        need = 30 + max(max(wide(name), wide(remark, 12)) for name, remark in names)
        self.above = above or need > 0.36 * w
        self.x0 = 14 if self.above else need
        self.lines = [lines_of(name, remark, w - self.x0 - 4) for name, remark in names] if self.above else []
        more = LINE * (max(map(len, self.lines), default=1) - 1)
        self.head = 18 + more
        self.names, self.top, self.tall = names, top, tall + (extra + more) * self.above
        self.bottom = top + self.tall * len(names)

    def y(self, row: int) -> float:
        """The middle of what is drawn in a row."""
        lower = (self.tall + self.head) / 2 if self.above else self.tall / 2
        return self.top + self.tall * row + lower

    def name(self, paper: Canvas, row: int, bold: bool = False, ink: str = "fg") -> None:
        name, remark = self.names[row]
        if self.above:
            for place, line in enumerate(self.lines[row]):
                y = self.top + self.tall * row + 11 + self.head - 18 - LINE * (len(self.lines[row]) - 1 - place)
                paper.text(self.x0 + 2, y, line, ink, 13, bold=bold, halo=True)
            return
        y = self.y(row)
        paper.text(self.x0 - 12, y - (8 if remark else 0), name, ink, ha="right", bold=bold)
        if remark:
            paper.text(self.x0 - 12, y + 10, remark, "soft", 12, "right")


def _extra(bet: Bet | None) -> float:
    """Room of a row whose name stands above it; the words of a bet stand below it, before the next name."""
    return 36 if bet and bet.rows else 18


# --- ratios: one row a case, two named sides -----------------------------------------------------------------


class Ratio(NamedTuple):
    """A row of `ratio_rows`. low, high: the likely range; None where too few rounds carry none: then ``rounds`` counts them.

    said: in the place of the ratio in words.
    """

    name: str
    ratio: float
    low: float | None
    high: float | None
    remark: str = ""
    rounds: int = 0
    said: str = ""


def ratio_rows(
    rows: Sequence[Ratio], sides: tuple[str, str], bet: Bet | None = None, *, middle: str = "", same: float = ALIKE
) -> SvgPicture:
    """With over without, in a few cases. sides: the names of left (less than 1, the better) and right.

    bet: rows (row -> side). middle: the word at 1, else "same time". same: see `ALIKE`.
    """
    checked(bet, "rows")
    told = [row for row in rows if row.low is not None and row.high is not None]
    values = {row: row.said or _said_of(row, same) for row in told}
    few = t("too few rounds to tell", "轮数太少，说不准")
    axis = bool(told or bet)

    def paint(w: float) -> Canvas:
        place = Rows(w, [(row.name, row.remark) for row in rows], _top_of(sides, w) if axis else 8, 48, w < BROAD, 14)
        x0, x1 = place.x0, w - 14
        paper = Canvas(w, place.bottom + (28 if axis else 4))
        x = _ratio_scale(told, values, x0, x1)
        one = x(1)
        if axis:
            _sides(paper, place, x, x1, sides, middle or t("same time", "一样久"))
        free = [row for number, row in enumerate(rows) if row in values and not (bet and number in bet.rows)]
        broadest = max(free, key=lambda row: x(row.high) - x(row.low), default=None)
        for number, row in enumerate(rows):
            y = place.y(number)
            place.name(paper, number)
            if bet and number in bet.rows:
                words = bet.full if number == min(bet.rows) else t("your bet", "你押的")
                _side_bet(paper, (x0, one, x1), y, words, bet.rows[number], x)
            if row not in values:
                _boxes(paper, one + 12 if axis and x1 - one > 340 else x0 + 6, y, row.rounds, few)
                continue
            paper.box(x(row.low), y - 6, max(x(row.high) - x(row.low), 1), 12, "out", r=6, alpha=0.35)
            paper.dot(x(row.ratio), y)
            left, end = row.ratio < 0.98, x(row.high)
            if bet and isinstance(bet.rows, Mapping) and bet.rows.get(number) == "middle":
                end = max(end, x(1.03) + 14)
            room = wide(
                values[row], 14, True
            )  # on a phone the words may reach over their own mark, never over the edge
            paper.text(
                max(x(row.low) - 12, room + 2) if left else min(end + 12, w - room - 2),
                y,
                values[row],
                size=14,
                ha="right" if left else "left",
                bold=True,
            )
            if row is broadest and x(row.high) - x(row.low) > 22:
                words = t("likely range", "可能的范围")
                at, half = (x(row.low) + x(row.high)) / 2, wide(words, 12) / 2 + 4
                if abs(at - one) < half:  # the middle line would cross it
                    at = one + (half if at > one else -half)
                paper.text(at, y + 17, words, "soft", 12, "center")
        return paper

    return SvgPicture(paint, alt_of([(_with_remark(row), values.get(row, few)) for row in rows], bet))


def _top_of(sides: tuple[str, str], w: float) -> float:
    """Where the rows begin, below the names of the sides: one line where both fit into it, else two."""
    return 40 if wide("← " + "  ".join(sides) + " →", bold=True) <= w - 30 else 40 + LINE


def _said_of(row: Ratio, same: float) -> str:
    """The value in words; where the likely range holds 1: that it is the same, or that it may be either."""
    if not row.low < 1 < row.high:
        return ratio_words(row.ratio)
    if 1 / same < row.low and row.high < same:
        return t("the same", "一样")
    return t("could be either", "两边都有可能")


def _ratio_scale(told: Sequence[Ratio], values: Mapping[Ratio, str], x0: float, x1: float) -> Callable[[float], float]:
    """An axis on which each value has room on the outer side of its mark, so that no word crosses the middle."""
    low = min([row.low for row in told] + [0.6]) / 1.2
    high = max([row.high for row in told] + [1.7]) * 1.2
    for _ in range(60):
        x, grow = scale(low, high, x0, x1), False
        for row in told:
            need = wide(values[row], 14, True) + 24
            if row.ratio < 0.98 and x(row.low) - x0 < need:
                low, grow = low / 1.06, True
            if row.ratio >= 0.98 and x1 - x(row.high) < need:
                high, grow = high * 1.06, True
        if not grow:
            break
    return scale(low, high, x0, x1)


def _sides(
    paper: Canvas, place: Rows, x: Callable[[float], float], x1: float, sides: tuple[str, str], middle: str
) -> None:
    """The washed better side, the middle line, the names of both sides, the ticks in words."""
    x0, one, y1 = place.x0, x(1), place.bottom
    bands = [(place.top - 6, y1)]
    if place.above:  # names stand between the bands, so that no line crosses a word
        bands = [(place.y(row) - 19, place.y(row) + 19) for row in range(len(place.names))]
    for up, down in bands:
        paper.box(x0, up, one - x0, down - up, "wash", r=6)
        paper.line([one, one], [up, down], "fg", 1.5)
    paper.text(x0 + 8, 18, "← " + sides[0], "out", bold=True)
    paper.text(x1 - 8, place.top - 22, sides[1] + " →", "soft", ha="right", bold=True)
    words = {
        0.01: t("a hundredth", "百分之一"),
        0.1: t("a tenth", "十分之一"),
        0.25: t("a quarter", "四分之一"),
        0.5: t("half", "一半"),
        1: middle,
    }
    words |= {value: t(f"{value:g}×", f"{value:g} 倍") for value in (2, 5, 10, 20, 50, 100, 1000)}
    taken: list[tuple[float, float]] = []
    for value in sorted(words, key=lambda value: abs(math.log(value))):
        half = wide(words[value], 12) / 2 + 6
        if not x0 <= x(value) <= x1 or any(abs(x(value) - at) < half + other for at, other in taken):
            continue
        taken.append((x(value), half))
        if value != 1:
            paper.line([x(value)] * 2, [y1 - 5, y1], "edge")
        paper.text(
            min(max(x(value), half), paper.w - half),
            y1 + 14,
            words[value],
            "fg" if value == 1 else "soft",
            12,
            "center",
            value == 1,
        )


def _side_bet(
    paper: Canvas, edges: tuple[float, float, float], y: float, words: str, side: str, x: Callable[[float], float]
) -> None:
    """The dashed box of a bet on one side, or around 1; its words on its lower edge."""
    x0, one, x1 = edges
    left, right = {"left": (x0 + 4, one - 7), "right": (one + 7, x1 - 4), "middle": (x(0.97) - 14, x(1.03) + 14)}[side]
    paper.outline(left, y - 17, right - left, 34)
    half = wide(words, 13, True) / 2 + 4
    centre = min(max((left + right) / 2, x0 + half), paper.w - half)
    paper.text(centre, y + 17, words, "bet", 13, "center", True, halo=True)


def _boxes(paper: Canvas, x: float, y: float, rounds: int, words: str) -> None:
    """Rounds taken, of those it takes; on a phone the boxes are small."""
    step = 14 if paper.w - x > 14 * LEAST_ROUNDS + 12 + wide(words, 14, True) else 7
    paper.box(x - 4, y - 9, step * LEAST_ROUNDS + 16 + wide(words, 14, True), 18, "paper")
    for number in range(LEAST_ROUNDS):
        paper.box(x + step * number, y - 5, step - 4, 10, "out" if number < rounds else "paper", "edge", 2, 1)
    paper.text(x + step * LEAST_ROUNDS + 8, y, words, size=14, bold=True)


# --- amounts: bars from zero ---------------------------------------------------------------------------------


class Bar(NamedTuple):
    """A row of `bars`. said: its value in words. quiet: what was before, or is not the point."""

    name: str
    value: float
    said: str
    quiet: bool = False
    remark: str = ""


def bars(rows: Sequence[Bar], bet: Bet | None = None) -> SvgPicture:
    """A few amounts from zero, such as before and after. bet: rows, with or without a span."""
    checked(bet, "rows", "span")
    held = list(bet.span or ()) if bet else []

    def paint(w: float) -> Canvas:
        place = Rows(w, [(row.name, row.remark) for row in rows], 8, 52, extra=_extra(bet))
        most = max([row.value for row in rows] + held) or 1
        asked = bet.rows if bet and bet.span else ()
        raised = 6 if place.above and asked else 0  # room between the words of a bet and the next name
        room = max(
            [wide(row.said, 15, True) for at, row in enumerate(rows) if row.value > 0.5 * most or at in asked] or [0]
        )
        x = scale(0, most, place.x0, w - 30 - room, False)
        paper = Canvas(w, place.bottom + (20 if bet else 4))
        if not place.above:
            paper.line([place.x0] * 2, [place.top + 4, place.bottom - 4], "fg", 1.5)
        for number, row in enumerate(rows):
            y = place.y(number) - raised
            place.name(paper, number)
            if place.above:  # between the names, so that it crosses no word
                paper.line([place.x0] * 2, [y - 18, y + 18], "fg", 1.5)
            paper.box(place.x0, y - 12, max(x(row.value) - place.x0, 2), 24, "quiet" if row.quiet else "out")
            end = x(row.value)
            if bet and bet.span and number in bet.rows:
                left, right = x(bet.span[0]), x(bet.span[1])
                words = wide(row.said, 15, True)
                inside = left < end < right - 16 - words
                if not inside and left < end + 20 + words:  # the words have no room between the bar and the bet
                    end = max(end, right)
                paper.outline(left, y - 18, max(right - left, 6), 36)
                paper.ask(left + 3, y + 28, bet.full)
            paper.text(end + 10, y, row.said, size=15, bold=True)
        if bet and not bet.span:
            _row_bet(paper, place, bet, 40)
        return paper

    return SvgPicture(paint, alt_of([(_with_remark(row), row.said) for row in rows], bet))


def _row_bet(
    paper: Canvas, place: Rows, bet: Bet, tall: float, left: float | None = None, right: float | None = None
) -> None:
    """An outline around the rows that a bet speaks of, its words under the last of them, at the right."""
    x0, x1 = (place.x0 - 6 if left is None else left), (paper.w - 8 if right is None else right)
    rows = sorted(bet.rows)
    runs = [[row] for row in rows[:1]]
    for row in rows[1:]:
        if row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    for run in runs:
        up, down = place.y(run[0]) - tall / 2, place.y(run[-1]) + tall / 2
        paper.outline(x0, up, x1 - x0, down - up)
    paper.ask(x1 - 4, place.y(rows[-1]) + tall / 2 + 10, bet.full, "right")


def time_axis(paper: Canvas, x: Callable[[float], float], most: float, y: float, unit: str) -> None:
    """An axis from 0 to ``most``, its round steps in ``unit``."""
    paper.line([x(0), x(most)], [y, y], "line")
    for value in ticks_between(0, most, min(6, int((x(most) - x(0)) / 55))):
        paper.text(x(value), y + 12, f"{value:g} {unit}" if value else "0", "soft", 12, "center")


# --- shares: one square a run, the same number for the same result ------------------------------------------


class Share(NamedTuple):
    """A row of `share_grid`. each: how many runs had each of the different results, most first. said: that in words."""

    name: str
    each: Sequence[int]
    said: str


def share_grid(rows: Sequence[Share], bet: Bet | None = None) -> SvgPicture:
    """Same or different: counts, sorted, not the order of the runs. bet: rows, or each: a row of its own."""
    checked(bet, "rows", "each")
    lines = [*rows, Share(bet.full, bet.each, "")] if bet and bet.each else rows
    runs = max(sum(row.each) for row in lines)

    def paint(w: float) -> Canvas:
        place = Rows(w, [(row.name, "") for row in lines], 8, 46, w < BROAD)
        said = 0 if place.above else max(wide(row.said, 14, True) for row in rows) + 26
        step = min(26, (w - place.x0 - 20 - said) / runs)
        paper = Canvas(w, place.bottom + (18 if bet and not bet.each else 4))
        for number, row in enumerate(rows):
            place.name(paper, number)
            _squares(paper, row.each, place.x0, place.y(number), step)
            if place.above:
                paper.text(w - 14, place.y(number) - place.tall / 2 + 3, row.said, size=14, ha="right", bold=True)
            else:
                paper.text(place.x0 + step * sum(row.each) + 14, place.y(number), row.said, size=14, bold=True)
        if bet and bet.each:
            place.name(paper, len(rows), True, "bet")
            _squares(paper, bet.each, place.x0, place.y(len(rows)), step, mine=True)
        if bet and bet.rows:
            _row_bet(paper, place, bet, step + 12, place.x0 - 6, place.x0 + step * runs + 4)
        return paper

    return SvgPicture(paint, alt_of([(row.name, row.said) for row in rows], bet))


def _squares(paper: Canvas, each: Sequence[int], x0: float, y: float, step: float, mine: bool = False) -> None:
    """One square a run, those with the most common result filled if there are several, or all dashed where they are a bet."""
    gap = min(3, step / 4)
    for place, kind in enumerate(kind for kind, count in enumerate(each, 1) for _ in range(count)):
        x, side = x0 + step * place, step - gap
        filled = kind == 1 and each[0] > 1 and not mine
        edge, dash = ("bet", "4 3") if mine else ("out", "")
        paper.box(x, y - side / 2, side, side, "out" if filled else "paper", edge, 3, 1.2, dash)
        if step >= 25:  # smaller figures cannot be read
            paper.text(x + side / 2, y, str(kind), "paper" if filled else "bet" if mine else "fg", 12, "center")
