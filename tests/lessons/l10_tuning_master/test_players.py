"""The tuning game's score, played by those who know nothing, much, or everything: what bends it, and what it is for."""

from __future__ import annotations

from functools import cache
from statistics import mean

import pytest

from course.game import cases
from tests.lessons.l10_tuning_master.players import earned, nights, recorded

NIGHTS = nights()


@cache
def points(name: str) -> float:
    """The mean points of a player over all cases; the order of the tests does not change it."""
    return mean(earned(name, night) for night in nights())


@pytest.mark.parametrize("name", ["random", "today's setting", "usual advice"])
def test_knowing_nothing_earns_little(name):
    assert points(name) <= 2.5


def test_measuring_pays_for_those_who_know_and_for_those_who_do_not():
    assert points("expert, decisive runs") >= 9.5
    assert points("expert, decisive runs") >= points("expert, no run") + 1
    assert points("three random runs") >= points("random") + 1


def test_no_case_gives_everything_to_those_who_have_not_looked():
    for night in NIGHTS:
        for name in ("today's setting", "expert, no run"):
            assert earned(name, night) <= 8, (night.case.id, name)


@pytest.mark.parametrize("name", [night.case.id for night in NIGHTS if not night.plan.rules])
def test_a_recording_decides_whatever_is_handed_in(name):
    table = recorded(cases.find(name))
    assert all(map(table.decided, table.outcomes))
