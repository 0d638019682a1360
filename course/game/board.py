"""The board: every case of a game with its state, the rank."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import ModuleType

from course.core.catalog import BY_ID, LESSONS, lesson_folder
from course.core.i18n import Text, both, pick, t
from course.core.units import format_points
from course.game import score
from course.game.cases import FILE, Case, cases, origin_said
from course.game.play import attempts, ended
from course.learning.bets import Bet
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


def standing(case: Case, entries: Sequence[Entry]) -> Standing:
    """The standing of one case: its state in the words of its game, what each closed attempt gave, the bets of the first."""
    its, read = game(case.lesson), game(case.lesson).reader(case)
    found = attempts(case, entries, read)
    done = [one for one in found if one.closed]
    scores, ends = tuple(one.score() for one in done), tuple(ended(one, read) for one in done)
    return Standing(case, its.words(found), scores, its.marks(case), ends, found[0].bets())


def standings(lesson: str, entries: Sequence[Entry]) -> list[Standing]:
    """The standing of each case of a game, in file order."""
    return [standing(case, entries) for case in cases(lesson).values()]


def played(entries: Sequence[Entry]) -> list[Standing]:
    """The standing of each case of every game in which a move was made."""
    met = {entry.lesson for entry in entries if entry.event == "move"}
    return [standing for lesson in games() if lesson in met for standing in standings(lesson, entries)]


@dataclass(frozen=True)
class Career:
    """Mean of first attempts; None while nothing was closed. closed, all: cases; the tutorial does not count."""

    mean: float | None
    closed: int
    all: int
    ranks: score.Ranks = score.RANKS

    @property
    def rank(self) -> tuple[str, Text]:
        return score.rank(self.mean or 0.0, self.closed, self.ranks)


def career(standings: Iterable[Standing], ranks: score.Ranks = score.RANKS) -> Career:
    """The career of a learner."""
    played = [one for one in standings if not one.case.tutorial]
    firsts = [one.first for one in played if one.first]
    return Career(score.standing(firsts), len(firsts), len(played), ranks)


def career_line(found: Career) -> str:
    """The rank, the mean of first attempts, and how many cases are closed. With marks."""
    if found.mean is None:
        return t("No case closed yet: the night is young.", "还一个都没做完：夜还长着呢。")
    (sign, name), mean = found.rank, format_points(round(found.mean, 1))
    said = t(
        f"{mean} of 10 on average, {found.closed} of {found.all} cases closed.",
        f"平均 {mean} 分（满分 10），做完 {found.closed} 个（共 {found.all} 个）。",
    )
    return f"{sign} **{pick(name)}** · {said}"


OPEN = both("open", "待接")


@dataclass(frozen=True)
class Board:
    """The board of one game, as the log has it."""

    lesson: str
    entries: Sequence[Entry]

    @property
    def title(self) -> Text:
        return BY_ID[self.lesson].question

    @cached_property
    def standings(self) -> list[Standing]:
        return standings(self.lesson, self.entries)

    @cached_property
    def career(self) -> Career:
        return career(self.standings, getattr(game(self.lesson), "RANKS", score.RANKS))

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
