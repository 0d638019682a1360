"""The board: every case of a game with its state, the rank, and this time against last time."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from course.catalog import LESSONS, lesson_folder
from course.game import score
from course.game.cases import FILE, Case, cases
from course.i18n import Text, both
from course.learning.entry import Entry


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one case. words: its state. scores: of every closed attempt, oldest first; the first that a
    measurement could decide is the one that counts.
    """

    case: Case
    words: Text
    scores: tuple[score.Score, ...] = ()

    @property
    def first(self) -> score.Score | None:
        return next((one for one in self.scores if one.counts), None)


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
