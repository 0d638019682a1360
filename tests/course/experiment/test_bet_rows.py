"""Every option of every bet can come out: rows of a record that settle the bet on it.

Each lesson brings them in ``rows.py`` of its tests: ``ROWS`` maps bet -> option -> rows, ``FURTHER`` bet -> more rows, each with
the option that they settle it on, None where they cannot tell. The rows are invented.
"""

from __future__ import annotations

from importlib import import_module

import pytest

from course.core.records import Record
from course.experiment import base
from course.questions.bank import Bank
from tests.conftest import ROOT
from tests.lessons.l01_map.rows import flags

BETS = {item.id: item for item in Bank().items() if item.kind == "predict"}
MODULES = {
    path.parent.name[1:3]: import_module(f"tests.lessons.{path.parent.name}.rows")
    for path in sorted(ROOT.glob("tests/lessons/*/rows.py"))
}
ROWS = {bet: rows for module in MODULES.values() for bet, rows in module.ROWS.items()}
FURTHER = {bet: rows for module in MODULES.values() for bet, rows in getattr(module, "FURTHER", {}).items()}


def settled(bet, rows):
    item = BETS[bet]
    experiment = base.get(item.experiment)
    return experiment.settles(Record(experiment.name, experiment.version, experiment.lesson, {}, rows)).get(bet)


@pytest.mark.parametrize("bet", sorted(BETS))
def test_every_option_can_come_out(bet):
    rows, options = ROWS.get(bet, {}), {one.id for one in BETS[bet].options}
    assert set(rows) == options, (
        f"add rows that settle {bet} on each option to tests/lessons/l{BETS[bet].lesson}/rows.py"
    )
    assert {option: settled(bet, found) for option, found in rows.items()} == {option: option for option in rows}


@pytest.mark.parametrize("bet", sorted(FURTHER))
def test_further_rows_settle_it_on_what_they_say_or_leave_it_open(bet):
    for rows, outcome in FURTHER[bet]:
        assert settled(bet, rows) == outcome


def test_more_changed_flags_than_options_leave_the_bet_open():
    assert settled("01-bet-flags", [{**row, "inside": 1} for row in flags(4)]) is None
