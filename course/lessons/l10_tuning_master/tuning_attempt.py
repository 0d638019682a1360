"""One attempt at a case of the tuning game, read from its moves: the runs, the hand-in, and what came out of the bets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from course.game import moves
from course.game.cases import EVIDENCE, Case
from course.learning import calibration
from course.learning.entry import Entry, now
from course.lessons.l10_tuning_master.tuning_outcome import FEW, came_out, decided
from course.lessons.l10_tuning_master.tuning_plan import (
    Config,
    Outcome,
    Plan,
    Table,
    as_played,
    config_in,
    in_words,
    key,
)
from course.questions.items import Item, Option


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, how sure, what came of it (None while nothing did), and when."""

    config: Config
    bet: str
    confidence: int
    outcome: Outcome | None
    evidence: Mapping[str, Any]
    when: datetime = field(default_factory=now, compare=False)

    @property
    def today(self) -> Outcome:
        """What today's configuration gave in the same measurement."""
        return self.evidence.get("today") or self.outcome or {}


@dataclass(frozen=True)
class Attempt:
    """One attempt, read from its moves. waits: a hand-in that the measurement could not decide; nothing of it is shown. back: the
    run that is given back, the first in which too few rounds told nothing.
    """

    runs: tuple[Bet, ...]
    handed: Bet | None
    table: Table
    causes: tuple[str, ...]
    hints: int
    waits: Bet | None = None
    back: Bet | None = None

    @property
    def spent(self) -> int:
        """Runs used up."""
        return len(self.runs) - (self.back is not None)


def attempt_of(plan: Plan, found: Sequence[moves.Move]) -> Attempt:
    """The attempt that these moves made. A hand-in whose measurement decided nothing waits for another one."""

    def bet(one: moves.Move, outcome: Outcome | None) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        return Bet(config_in(line), said, one.confidence or 1, outcome, one.evidence, one.when)

    runs = [bet(one, one.evidence.get("outcome")) for one in moves.of_kind(found, "run") if one.evidence.get("outcome")]
    back = next((one for one in runs if one.outcome.get("verdict") == FEW and not decides(plan, one)), None)
    handed, waits, table = None, None, {}
    for one in moves.of_kind(found, "hand-in"):
        if not one.choice or handed:
            continue
        seen = one.evidence.get("table") or {}
        here = as_played(plan, seen)
        if {key(here.today), one.choice[0]} <= set(seen) and decided(here, seen, key(here.today), one.choice[0]):
            handed, waits, table = bet(one, seen[one.choice[0]]), None, seen
        else:
            waits = bet(one, None)
    causes = tuple(one.choice[0] for one in moves.of_kind(found, "cause") if one.choice)
    return Attempt(tuple(runs), handed, table, causes, len(moves.of_kind(found, "hint")), waits, back)


def attempts_of(case: Case, plan: Plan, entries: Sequence[Entry]) -> list[Attempt]:
    """All attempts at a case, oldest first."""
    return [attempt_of(plan, one) for one in moves.attempts(case.id, entries, lambda done: is_closed(case, plan, done))]


def is_closed(case: Case, plan: Plan, found: Sequence[moves.Move]) -> bool:
    """Whether an attempt is over: decided, and the cause found."""
    return over(case, attempt_of(plan, found))


def over(case: Case, one: Attempt) -> bool:
    """Whether an attempt is decided, and the cause found."""
    return one.handed is not None and case.cause.right.id in one.causes


def decides(plan: Plan, run: Bet) -> str | None:
    """What came out of a run (see ``came_out``); None where it decided nothing."""
    return came_out(plan, run.outcome, run.today) if run.outcome else None


def known(plan: Plan, runs: Sequence[Bet], config: Config) -> bool:
    """Whether there is nothing left to bet on: today's configuration, or one that a run decided."""
    return key(config) == key(plan.today) or any(one.config == config and decides(plan, one) for one in runs)


def open_bets(plan: Plan, one: Attempt) -> list[tuple[Bet, str | None]]:
    """Each bet on a setting that was not known yet, and what came out; None where nothing was decided."""
    runs = [(run, decides(plan, run)) for n, run in enumerate(one.runs) if not known(plan, one.runs[:n], run.config)]
    if one.handed and not known(plan, one.runs, one.handed.config):
        return [*runs, (one.handed, came_out(plan, one.handed.outcome, one.table[key(plan.today)]))]
    return runs


def counted_bets(plan: Plan, one: Attempt) -> list[tuple[int, bool | None]]:
    """(confidence, whether it came out so) of each open bet; None where nothing was decided."""
    return [(bet.confidence, came and came == bet.bet) for bet, came in open_bets(plan, one)]


def settled_bets(case: Case, plan: Plan, one: Attempt) -> tuple[calibration.Bet, ...]:
    """The bets of an attempt as the course keeps all bets: each is a question whose options are the outcomes to bet on."""
    plan = as_played(plan, one.table)
    options = tuple(Option(name, text) for name, text in plan.bets().items())
    asked = Item(case.id, case.lesson, case.id, "predict", "medium", "outcome", case.title, options)
    return tuple(
        calibration.Bet(
            asked,
            bet.when,
            bet.bet,
            bet.confidence,
            "inconclusive" if came is None else "won" if came == bet.bet else "lost",
            came,
            settled=bet.when,
            setting=in_words(plan, dict(bet.config.items() - plan.today.items())),
            source=bet.evidence.get("machine") or EVIDENCE[bet.evidence.get("evidence", "live")],
        )
        for bet, came in open_bets(plan, one)
    )
