"""The board: every case of a game with its state, the case of the day, the rank, and this time against last time."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from types import ModuleType
from typing import Any

from course.catalog import BY_ID, LESSONS, lesson_folder
from course.game import moves, score
from course.game.cases import FILE, Case, cases, origin_said
from course.i18n import Text, both
from course.learning.calibration import Bet
from course.learning.entry import Entry


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one case. words: its state. scores: of every closed attempt, oldest first; the first counts.
    marks: what a game says of the case on the board, each a sign and words. closed: when each of the scored attempts ended.
    bets: the settled bets of the first attempt.
    """

    case: Case
    words: Text
    scores: tuple[score.Score, ...] = ()
    marks: tuple[Text, ...] = ()
    closed: tuple[datetime, ...] = ()
    bets: tuple[Bet, ...] = ()

    @property
    def first(self) -> score.Score | None:
        return self.scores[0] if self.scores else None

    @property
    def signs(self) -> tuple[Text, ...]:
        """What its signs stand for: where its outcome comes from, then ``marks``."""
        return (origin_said(self.case), *self.marks)


def games() -> list[str]:
    """Ids of the lessons that are games: those whose folder has cases."""
    return [one.id for one in LESSONS if (lesson_folder(one.id) / FILE).exists()]


def game(lesson: str) -> ModuleType:
    """The module ``game`` of a lesson's folder (see ``course.game``)."""
    return importlib.import_module(f"course.lessons.l{lesson}.game")


def standings(lesson: str, entries: Sequence[Entry]) -> list[Standing]:
    """The standing of each case of a game, in file order."""
    standing: Callable[[Case, Any], Standing] = game(lesson).standing
    return [standing(case, entries) for case in cases(lesson).values()]


def played(entries: Sequence[Entry]) -> list[Standing]:
    """The standing of each case of every game in which a move was made."""
    met = {entry.lesson for entry in entries if entry.event == "move"}
    return [standing for lesson in games() if lesson in met for standing in standings(lesson, entries)]


@dataclass(frozen=True)
class Career:
    """Mean of first attempts now, and before the last case was closed; None while nothing was closed. closed, all: cases."""

    mean: float | None
    before: float | None
    closed: int
    all: int
    ranks: score.Ranks = score.RANKS

    @property
    def rank(self) -> tuple[str, Text]:
        return score.rank(self.mean or 0.0, self.closed, self.ranks)

    @property
    def climbed(self) -> float:
        """How far up the ranks, 0 to 1 (see ``score.climbed``)."""
        return score.climbed(self.mean or 0.0, self.closed, self.ranks)

    @property
    def climbed_before(self) -> float:
        """The same before the last case was closed."""
        return score.climbed(self.before or 0.0, max(0, self.closed - 1), self.ranks)

    @property
    def next(self) -> tuple[float, int, str, Text] | None:
        """The lowest rank that is not reached yet; None on the highest."""
        mean = self.mean or 0.0
        return next((one for one in self.ranks if mean < one[0] or self.closed < one[1]), None)


def career(standings: Iterable[Standing], order: Sequence[str] = (), ranks: score.Ranks = score.RANKS) -> Career:
    """The career of a learner. order: ids of the cases in the order in which they were first closed; the tutorial does not count."""
    played = [one for one in standings if not one.case.tutorial]
    firsts = {one.case.id: one.first for one in played if one.first}
    last = next((case for case in reversed(order) if case in firsts), None)
    before = [first for case, first in firsts.items() if case != last]
    return Career(
        score.standing(list(firsts.values())),
        score.standing(before) if last else None,
        sum(bool(one.first) for one in played),
        len(played),
        ranks,
    )


OPEN = both("open", "待接")


def case_of_the_day(known: Collection[Case], day: date) -> Case:
    """The case of that day: the same for everybody who has these cases. In as many days as there are cases each comes once."""
    turn, place = divmod(day.toordinal(), len(known))
    return sorted(known, key=lambda one: hashlib.sha256(f"{turn} {one.id}".encode()).digest())[place]


def days_played(lesson: str, entries: Iterable[Entry]) -> list[date]:
    """The days, by the clock of this machine, on which a learner made a move in this game, oldest first."""
    return sorted({one.when.astimezone().date() for one in entries if one.event == "move" and one.lesson == lesson})


def in_a_row(days: Collection[date], today: date) -> int:
    """How many of these days stand in a row up to today, or up to yesterday while today is still open."""
    day = today if today in days else today - timedelta(days=1)
    count = 0
    while day - timedelta(days=count) in days:
        count += 1
    return count


@dataclass(frozen=True)
class Board:
    """The board of one game, as the log has it on one day."""

    lesson: str
    entries: Sequence[Entry]
    today: date

    @property
    def title(self) -> Text:
        return BY_ID[self.lesson].question

    @cached_property
    def standings(self) -> list[Standing]:
        return standings(self.lesson, self.entries)

    @cached_property
    def career(self) -> Career:
        played = [
            one.item for one in self.entries if one.event == "move" and one.options[:1] not in ((), (moves.AGAIN,))
        ]
        order = list(dict.fromkeys(reversed(played)))[::-1]  # by the last move on each case
        return career(self.standings, order, getattr(game(self.lesson), "RANKS", score.RANKS))

    @cached_property
    def days(self) -> list[date]:
        return days_played(self.lesson, self.entries)

    @property
    def of_the_day(self) -> Standing:
        case = case_of_the_day([one.case for one in self.standings if not one.case.tutorial], self.today)
        return self.of(case.id)

    def of(self, case_id: str) -> Standing:
        return next(one for one in self.standings if one.case.id == case_id)

    @property
    def groups(self) -> list[tuple[Standing, ...]]:
        """Every case: twins together and first, else in file order."""
        found: dict[str, tuple[Standing, ...]] = {}
        for one in self.standings:
            if one.case.twin not in found:
                found[one.case.id] = (one, self.of(one.case.twin)) if one.case.twin else (one,)
        return sorted(found.values(), key=len, reverse=True)
