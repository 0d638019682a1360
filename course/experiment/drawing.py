"""The picture of a result from data: its kind and columns in experiments.yaml, the rows of the reading, the learner's bet.

Every kind names its rows by the column ``row``; a bet names them the same way. Texts may hold columns and numbers in
braces, such as ``{first_ms:ms}`` (`telling.filled`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.core.i18n import Text, pick, t
from course.core.tables import Table
from course.experiment.reading import Reading, left_open_in_words
from course.experiment.telling import Telling, TellingError, filled
from course.figures.curves import trend
from course.figures.kinds import ALIKE, Bar, Bet, Ratio, Share, bars, ratio_rows, share_grid
from course.figures.svg import SvgPicture

Rows = Sequence[Mapping[str, Any]]
MANY_POINTS = 10
"""Points of a curve that a person who cannot see it hears one by one."""


class Drawn:
    """One picture to be made: what experiments.yaml says, the rows, and how the bet is shown in them."""

    def __init__(self, telling: Telling, reading: Reading, rows: Rows, bets: Mapping[str, str]) -> None:
        self.spec, self.telling, self.numbers = telling.picture, telling, dict(reading.numbers)
        self.rows = rows if reading.drawn is None else reading.drawn
        self.places = {row[self.spec["row"]]: at for at, row in enumerate(self.rows)} if "row" in self.spec else {}
        self.placed = [shown[bets[bet]] for bet, shown in telling.bets.items() if bets.get(bet) is not None]
        self.mine = self.placed[0] if self.placed else {}

    def words(self, text: Text, row: Mapping[str, Any] | None = None) -> str:
        """A text with the numbers of the reading and of a row; a value is called by its name, which may hold numbers, too."""
        row = row or {}
        numbers = self.numbers | row
        named = {key: name for key, name in self.telling.called(row).items() if name != row[key]}
        texts = {key: filled(pick(name), numbers) for key, name in named.items() if isinstance(name, (str, Mapping))}
        return filled(pick(text), numbers | named | texts)

    def value(self, said: Any) -> float:
        """A number of the file: itself, or the product of named ones, such as ``kernel * 0.7``."""
        factors = str(said).split("*")
        return math.prod(self.numbers[one.strip()] if one.strip() in self.numbers else float(one) for one in factors)

    def name(self, row: Mapping[str, Any]) -> str:
        """What a row is called: the name of its column ``row``, or what ``name`` says: another column, or a text."""
        named = self.spec.get("name", self.spec["row"])
        return self.telling.name(row[named]) if isinstance(named, str) and named in row else self.words(named, row)

    def remark(self, row: Mapping[str, Any]) -> str:
        return self.words(self.spec.get("remark", ""), row)

    def marked(self, key: str, row: Mapping[str, Any]) -> bool:
        """Whether a row is one of those that ``key`` lists; a word there is a column that says so, or column: value."""
        listed = self.spec.get(key, ())
        if isinstance(listed, Mapping):
            return all(row.get(column) == value for column, value in listed.items())
        return bool(row.get(listed)) if isinstance(listed, str) else row[self.spec["row"]] in listed

    def bet(self) -> Bet | None:
        """The bet as the kinds of `course.figures` draw it; None without one, or where none of its rows is drawn."""
        if not self.mine:
            return None
        rows = self.mine.get("rows", ())
        here = [(self.places[one], one) for one in rows if one in self.places]
        if rows and not here:
            return None
        span = self.mine.get("span")
        return Bet(
            self.words(self.mine["words"]),
            {place: rows[one] for place, one in here}
            if isinstance(rows, Mapping)
            else tuple(place for place, _ in here),
            span and (self.value(span[0]), self.value(span[1])),
            each=self.mine.get("each", ()),
        )


def draw(telling: Telling, reading: Reading, rows: Rows, bets: Mapping[str, str]) -> SvgPicture | Table:
    """The picture of a reading. Raises KeyError where a row lacks a column that the picture shows, TellingError for an
    unknown kind.
    """
    if (kind := telling.picture["kind"]) not in KINDS:
        raise TellingError(f"experiments.yaml, picture: {kind!r} is none of {', '.join(KINDS)}")
    return KINDS[kind](Drawn(telling, reading, rows, bets))


def _ratio_rows(this: Drawn) -> SvgPicture:
    rows = [
        Ratio(
            this.name(row),
            row["ratio"],
            row["low"],
            row["high"],
            this.remark(row),
            row.get("rounds", 0),
            left_open_in_words(row),
        )
        for row in this.rows
    ]
    left, right = (pick(side) for side in this.spec["sides"])
    middle, same = pick(this.spec.get("middle", "")), this.numbers.get("same", ALIKE)
    return ratio_rows(rows, (left, right), this.bet(), middle=middle, same=same)


def _bars(this: Drawn) -> SvgPicture:
    rows = [
        Bar(
            this.name(row),
            max(0.0, row[this.spec["value"]]),
            this.words(this.spec["said"], row),
            this.marked("quiet", row),
            this.remark(row),
        )
        for row in this.rows
    ]
    return bars(rows, this.bet())


def _shares(this: Drawn) -> SvgPicture:
    rows = [Share(this.name(row), row[this.spec["each"]], this.words(this.spec["said"], row)) for row in this.rows]
    return share_grid(rows, this.bet())


def _trend(this: Drawn) -> SvgPicture:
    x, spec = [row[this.spec["x"]] for row in this.rows], this.spec
    series = {this.telling.name(one): [row[one] for row in this.rows] for one in spec["series"]}
    colon = t(": ", "：")
    at = {row[spec["x"]]: row for row in this.rows}
    x_words = lambda value: this.words(spec.get("x_words", "{value:g}"), at.get(value, {}) | {"value": value})  # noqa: E731
    y_words = lambda value: this.words(spec.get("y_words", "{value:g}"), {"value": value})  # noqa: E731
    lines = (f"{name}{colon}{_points(x, values, x_words, y_words)}" for name, values in series.items())
    return trend(
        x,
        series,
        pick(spec["across"]) + colon + t("; ", "；").join(lines) + t(".", "。"),
        this.bet(),
        across=pick(spec["across"]),
        x_words=x_words,
        y_words=y_words,
    )


def _points(
    x: Sequence[float], y: Sequence[float | None], x_words: Callable[[float], str], y_words: Callable[[float], str]
) -> str:
    """A series in words: every point, or of more than MANY_POINTS the least and the most."""
    found = [(place, value) for place, value in zip(x, y, strict=True) if value is not None]
    if len(found) <= MANY_POINTS:
        return ", ".join(f"{x_words(place)} {y_words(value)}" for place, value in found)
    low, high = (y_words(end([value for _, value in found])) for end in (min, max))
    return low if low == high else t(f"{low} to {high}", f"{low}到 {high}")


def _table(this: Drawn) -> Table:
    """A line a row. A column has a head and what its cells say: a text, or one for each value; a word is called by its name.

    ``told`` and ``quiet`` of a row list the columns that stand out or back. A bet names the line it belongs to, and its
    cells; or ``lines``: line -> cells.
    """
    columns = this.spec["columns"]
    lines, marks = [["", *(pick(column.get("head", "")) for column in columns.values())]], {}
    for at, row in enumerate(this.rows):
        lines.append([this.name(row), *(_cell(this, column.get("said"), key, row) for key, column in columns.items())])
        marks |= {
            (at, place): mark
            for place, key in enumerate(columns, 1)
            for mark in ("told", "quiet")
            if key in row.get(mark, ())
        }
    table = Table(lines, marks)
    for line, cells in _bets_on_lines(this):
        said = [
            _cell(this, columns[key].get("said"), key, {key: cells[key]}) if key in cells else "" for key in columns
        ]
        table = table.bet_on(line, said)
    return table


def _bets_on_lines(this: Drawn) -> list[tuple[int | None, Mapping[str, Any]]]:
    """(line, cells) of every bet that was placed, the lowest first: a line that is added moves only what stands below it."""
    found = []
    for mine in this.placed:
        lines = mine.get("lines", {mine.get("line"): mine.get("cells", {})})
        found += [
            (this.places.get(name), cells) for name, cells in lines.items() if name in this.places or len(lines) == 1
        ]
    return sorted(found, key=lambda one: len(this.rows) if one[0] is None else one[0], reverse=True)


def _cell(this: Drawn, said: Any, key: str, row: Mapping[str, Any]) -> str:
    value = row.get(key, "")
    if isinstance(value, Mapping):
        return pick(value)
    if isinstance(said, Mapping) and value in said:
        return this.words(said[value], row)
    if said is None or isinstance(value, str):
        return this.telling.name(value)
    return this.words(said, row)


KINDS: Mapping[str, Callable[[Drawn], SvgPicture | Table]] = {
    "ratio rows": _ratio_rows,
    "bars": _bars,
    "shares": _shares,
    "trend": _trend,
    "table": _table,
}
