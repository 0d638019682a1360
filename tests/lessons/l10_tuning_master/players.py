"""Simulated players of the tuning game, on the recorded tables: what each way to play earns.

Nothing is measured: a run gives what the recording of the case says, a case by rule what its rules say. The tutorial is left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from course.core.catalog import lesson_folder
from course.core.records import load
from course.game import cases
from course.game.play import Score
from course.lessons.l10_tuning_master import panel
from course.lessons.l10_tuning_master.panel import Config, Plan, Table
from course.lessons.l10_tuning_master.tuning import Attempt, Bet

LESSON = "10_tuning_master"
PLAYS = 300
"""How often a player who draws lots plays a case."""


@dataclass(frozen=True)
class Night:
    """One case as a player meets it. table: what came out of every setting. lots: where chance comes from."""

    case: cases.Case
    table: Table
    lots: random.Random

    @property
    def plan(self) -> Plan:
        return self.table.plan

    def bet(self, config: Config, bet: str | None = None, confidence: int = 3) -> Bet:
        """A bet on a setting (None: the right one), with what came of it."""
        name, outcomes = panel.key(config), self.table.outcomes
        came = self.table.came_out(name)
        return Bet(config, bet or came or "same", confidence, outcomes[name], outcomes[self.table.today], came, {})

    def guess(self, config: Config) -> Bet:
        """A bet by lot, its confidence too."""
        return self.bet(config, self.lots.choice(list(self.plan.bets())), self.lots.choice((1, 2, 3)))

    def over(self, handed: Bet, runs: tuple[Bet, ...] = (), knows: bool = False) -> Score:
        """The score of an attempt. knows: the cause is named at once; else by lot."""
        causes = [one.id for one in self.case.cause.options]
        self.lots.shuffle(causes)
        causes = [self.case.right.id] if knows else causes
        made = Attempt(self.case)
        made.runs, made.handed, made.table, made.causes = runs, handed, self.table, causes
        return made.score()


def nights() -> list[Night]:
    """Every case but the tutorial, with its recorded or ruled table."""
    found = []
    for case in cases.cases(LESSON).values():
        if not case.tutorial:
            found.append(Night(case, recorded(case), random.Random(case.id)))
    return found


def recorded(case: cases.Case) -> Table:
    """The table of a case: of a live one the newest that was recorded."""
    plan = panel.plan_of(case)
    if plan.rules:
        return Table(plan, panel.ruled(plan))
    newest = max((lesson_folder(LESSON) / "recordings").glob(f"{case.id}--*.json"))
    return Table(plan, {row["config"]: panel.outcome_of(row) for row in load(newest).rows})


def usual_advice(night: Night) -> Score:
    """Hands in what is usually advised, certain that it is right; where that is what runs today, leaves it."""
    if night.plan.advice == night.plan.today:
        return todays(night)
    return night.over(night.bet(night.plan.advice, next(iter(night.plan.bets()))))


def todays(night: Night) -> Score:
    """Looks at one setting drawn by lot, as one must, and leaves all as it is."""
    others = [one for one in night.plan.configs() if one != night.plan.today]
    return night.over(night.bet(night.plan.today), (night.guess(night.lots.choice(others)),))


def at_random(night: Night) -> Score:
    """Hands in any setting."""
    config = night.lots.choice(night.plan.configs())
    return todays(night) if config == night.plan.today else night.over(night.guess(config))


def three_runs(night: Night) -> Score:
    """Measures three settings drawn by lot and hands in the best of them, or what runs today."""
    others = [one for one in night.plan.configs() if one != night.plan.today]
    runs = tuple(map(night.guess, night.lots.sample(others, night.plan.runs)))
    return night.over(best_of(night, runs), runs)


def best_of(night: Night, runs: tuple[Bet, ...]) -> Bet:
    """What somebody hands in who believes these runs: the best of them that breaks nothing, or today's."""
    seen = {panel.key(one.config): one.outcome for one in (*runs, night.bet(night.plan.today))}
    best = Table(night.plan, seen).best_set() or [max(seen, key=lambda name: seen[name].get("share", 0))]
    return night.bet(panel.config_in(best[0]))


def expert_unseen(night: Night) -> Score:
    """Knows everything and measures nothing."""
    return night.over(night.bet(best(night)), knows=True)


def expert(night: Night) -> Score:
    """Knows everything, and shows it: with as few runs as the evidence needs."""
    hand = best(night)
    others = [one for one in night.plan.configs() if one != night.plan.today]
    ways = [()] + [(night.bet(one),) for one in others] + [(night.bet(a), night.bet(b)) for a in others for b in others]
    tried = [night.over(night.bet(hand), runs, knows=True) for runs in ways]
    return max(tried, key=lambda one: one.points)


def best(night: Night) -> Config:
    """One of the best set: what runs today, where it is among it."""
    names, today = night.table.best_set(), night.table.today
    return panel.config_in(today if today in names else names[0])


PLAYERS: dict[str, tuple[Callable[[Night], Score], int]] = {
    "usual advice": (usual_advice, PLAYS),
    "today's setting": (todays, PLAYS),
    "random": (at_random, PLAYS),
    "three random runs": (three_runs, PLAYS),
    "expert, no run": (expert_unseen, 1),
    "expert, decisive runs": (expert, 1),
}
"""Name -> (how it plays, how often it plays a case: chance is at work, or not)."""


def earned(name: str, night: Night) -> float:
    """The mean points of a player at one case."""
    player, plays = PLAYERS[name]
    return mean(player(night).points for _ in range(plays))
