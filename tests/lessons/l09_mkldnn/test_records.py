"""Records of lesson 09: each outcome of a bet is met once, on invented rows. Nothing was measured."""

from __future__ import annotations

import pytest

from tests.lessons.l09_mkldnn.rows import steps
from tests.lessons.live import check_shown, record_of


@pytest.mark.parametrize(("value", "said"), [(1.5, "slow down both"), (300.0, "wait for a core")])
def test_an_absurd_factor_of_threads_is_called_waiting(value, said):
    rows = [
        {
            "size": size,
            "threads": 2,
            "ratio": value,
            "low": value,
            "high": value,
            "verdict": "slower",
            "one_ms": 1.0,
            "all_ms": value,
        }
        for size in ("small", "large")
    ]
    assert said in check_shown(record_of("09-threads", rows))
    assert "one thread" in check_shown(record_of("09-threads", [{**row, "threads": 1} for row in rows]))


@pytest.mark.parametrize(
    ("kinds", "turns"),
    [
        ("slower undecided faster", True),
        ("faster faster", False),
        ("slower slower", False),
        ("slower faster undecided", False),
    ],
)
def test_the_turning_point_is_named_only_where_there_is_one(kinds, turns):
    assert ("from 16 steps on" in check_shown(record_of("09-one-step", steps(*kinds.split())))) is turns
