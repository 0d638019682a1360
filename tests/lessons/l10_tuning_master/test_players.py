"""The tuning game's score on the recorded tables, played by those who know nothing, and by those who know everything.

Nothing is measured: a run gives what the recording of the case says, a case by rule what its rules say. The tutorial is left out.
"""

from __future__ import annotations

from statistics import mean

import pytest

from course.core.catalog import lesson_folder
from course.core.records import load
from course.game import cases
from course.lessons.l10_tuning_master import panel
from course.lessons.l10_tuning_master.panel import Config, Table
from course.lessons.l10_tuning_master.tuning import Attempt, Bet

LESSON = "10_tuning_master"


def recorded(case: cases.Case) -> Table:
    """The table of a case: of a live one the newest that was recorded."""
    plan = panel.plan_of(case)
    if plan.rules:
        return Table(plan, panel.ruled(plan))
    newest = max((lesson_folder(LESSON) / "recordings").glob(f"{case.id}--*.json"))
    return Table(plan, {row["config"]: panel.outcome_of(row) for row in load(newest).rows})


TABLES = {case.id: recorded(case) for case in cases.cases(LESSON).values() if not case.tutorial}


def bet(table: Table, config: Config, said: str | None = None) -> Bet:
    """A certain bet on a setting (None: the right one), with what came of it."""
    name, outcomes = panel.key(config), table.outcomes
    came = table.came_out(name)
    return Bet(config, said or came or "same", 3, outcomes[name], outcomes[table.today], came, {})


def earned(name: str, handed: Bet, *runs: Bet, knows: bool) -> float:
    """The points of an attempt. knows: whether the cause is found at once."""
    case = cases.find(name)
    made = Attempt(case)
    made.runs, made.handed, made.table, made.causes = runs, handed, TABLES[name], [case.right.id] * knows
    return made.score().points


def best(table: Table) -> Config:
    """One of the best set: what runs today, where it is among it."""
    names = table.best_set()
    return panel.config_in(table.today if table.today in names else names[0])


def usual_advice(name: str) -> float:
    """Hands in what is usually advised, certain that it is right."""
    table = TABLES[name]
    return earned(name, bet(table, table.plan.advice, next(iter(table.plan.bets()))), knows=False)


def expert(name: str) -> list[float]:
    """Knows everything: what that earns without a run, and with the two runs that show the most."""
    table = TABLES[name]
    others, hand = [one for one in table.plan.configs() if one != table.plan.today], bet(table, best(table))
    pairs = [(bet(table, a), bet(table, b)) for a in others for b in others if a != b]
    return [earned(name, hand, knows=True), max(earned(name, hand, *runs, knows=True) for runs in pairs)]


def test_knowing_nothing_earns_little():
    assert mean(map(usual_advice, TABLES)) <= 2.5


@pytest.mark.parametrize("name", TABLES)
def test_an_expert_who_shows_it_earns_the_most_and_one_who_has_not_looked_does_not(name):
    unseen, shown = expert(name)
    assert unseen <= 8 and shown >= 9.5


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if not table.plan.rules])
def test_a_recording_decides_whatever_is_handed_in(name):
    assert all(map(TABLES[name].decided, TABLES[name].outcomes))
