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
from course.lessons.l10_tuning_master.tuning_outcome import FEW, Table, came_out
from course.lessons.l10_tuning_master.tuning_plan import Config, Outcome, Plan, as_played, config_in, in_words, key
from course.questions.items import Item, Option


@dataclass(frozen=True)
class Bet:
    """A configuration, what was bet on it, how sure, and when. outcome: what came of it (None while nothing did); today: what
    today's configuration gave in the same measurement. came: what the bet should have said (see ``came_out``).
    """

    config: Config
    bet: str
    confidence: int
    outcome: Outcome | None
    today: Outcome
    came: str | None
    evidence: Mapping[str, Any]
    when: datetime = field(default_factory=now, compare=False)


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
    def plan(self) -> Plan:
        """The panel; after the hand-in that of the machine that decided it."""
        return self.table.plan

    @property
    def spent(self) -> int:
        """Runs used up."""
        return len(self.runs) - (self.back is not None)


def attempt_of(plan: Plan, found: Sequence[moves.Move]) -> Attempt:
    """The attempt that these moves made. A hand-in whose measurement decided nothing waits for another one."""

    def bet(one: moves.Move, outcome: Outcome | None, today: Outcome) -> Bet:
        line, said = (*one.choice, "", "")[:2]
        came = came_out(plan, outcome, today) if outcome else None
        return Bet(config_in(line), said, one.confidence or 1, outcome, today, came, one.evidence, one.when)

    measured = [(one, one.evidence["outcome"]) for one in moves.of_kind(found, "run") if one.evidence.get("outcome")]
    runs = [bet(one, outcome, one.evidence.get("today") or outcome) for one, outcome in measured]
    back = next((one for one in runs if one.outcome.get("verdict") == FEW and not one.came), None)
    handed, waits, table = None, None, Table(plan, {})
    for one in moves.of_kind(found, "hand-in"):
        if not one.choice or handed:
            continue
        hand, seen = one.choice[0], one.evidence.get("table") or {}
        here = Table(as_played(plan, seen), seen)
        if {here.today, hand} <= set(seen) and here.decided(hand):
            handed, waits, table = bet(one, seen[hand], seen[here.today]), None, here
        else:
            waits = bet(one, None, {})
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


def known(plan: Plan, runs: Sequence[Bet], config: Config) -> bool:
    """Whether there is nothing left to bet on: today's configuration, or one that a run decided."""
    return key(config) == key(plan.today) or any(one.config == config and one.came for one in runs)


def open_bets(one: Attempt) -> list[Bet]:
    """The bets on settings that were not known yet."""
    runs = [run for n, run in enumerate(one.runs) if not known(one.plan, one.runs[:n], run.config)]
    if one.handed and not known(one.plan, one.runs, one.handed.config):
        return [*runs, one.handed]
    return runs


def settled_bets(case: Case, one: Attempt) -> tuple[calibration.Bet, ...]:
    """The bets of an attempt as the course keeps all bets: each is a question whose options are the outcomes to bet on."""
    options = tuple(Option(name, text) for name, text in one.plan.bets().items())
    asked = Item(case.id, case.lesson, case.id, "predict", case.title, options)
    return tuple(
        calibration.Bet(
            asked,
            bet.when,
            bet.bet,
            bet.confidence,
            "inconclusive" if bet.came is None else "won" if bet.came == bet.bet else "lost",
            bet.came,
            settled=bet.when,
            setting=in_words(one.plan, dict(bet.config.items() - one.plan.today.items())),
            source=bet.evidence.get("machine") or EVIDENCE[bet.evidence.get("evidence", "live")],
        )
        for bet in open_bets(one)
    )
