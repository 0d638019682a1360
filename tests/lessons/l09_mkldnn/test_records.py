"""Records of lesson 09: each outcome of a bet is met once, on invented rows. Nothing was measured."""

from __future__ import annotations

import pytest

from course.experiment.rows import kind_of
from course.lessons.l09_mkldnn import experiments, experiments_isa
from tests.lessons.l09_mkldnn.rows import SPAN, ratio, rungs, steps
from tests.lessons.live import check_shown, record_of


@pytest.mark.parametrize("kind", SPAN)
def test_two_percent_to_either_side_is_the_same(kind):
    assert kind_of(ratio(kind)) == kind


def test_the_ladder_claims_a_factor_only_when_the_processes_agree():
    told = experiments_isa.say_isa_ladder
    assert "2.0 times" in told(record_of("09-isa-ladder", rungs((10.0, 10.2), (5.0, 5.1))))["en"]
    assert "apart" in told(record_of("09-isa-ladder", rungs((10.0, 5.0), (5.1, 4.9))))["en"]
    assert "not x86" in told(record_of("09-isa-ladder", rungs((), (5.0,))))["en"]
    check_shown(record_of("09-isa-ladder", rungs((10.0, 10.2), (5.0, 5.1))))


@pytest.mark.parametrize(("value", "word"), [(1.5, "with 2"), (300.0, "waiting")])
def test_an_absurd_factor_of_threads_is_called_waiting(value, word):
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
    assert word in experiments_isa.say_threads(record_of("09-threads", rows))["en"]
    check_shown(record_of("09-threads", rows))
    assert "one thread" in experiments_isa.say_threads(record_of("09-threads", [{**rows[0], "threads": 1}]))["en"]


def test_the_turning_point_is_named_only_where_there_is_one():
    told = experiments.say_one_step
    assert "16 steps" in told(record_of("09-one-step", steps("slower", "undecided", "faster")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("faster", "faster")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("slower", "slower")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("slower", "faster", "undecided")))["en"]
    check_shown(record_of("09-one-step", steps("slower", "faster")))


def test_layers_without_a_line_are_named():
    rows = [
        {"layer": "Conv2d", "primitive": "reorder", "implementation": "r", "lines": 2, "logged_ms": 1.0},
        {"layer": "Conv2d", "primitive": "convolution", "implementation": "c", "lines": 1, "logged_ms": 3.0},
        {"layer": "GRU", "primitive": "", "implementation": "", "lines": 0, "logged_ms": 0.0},
    ]
    record = record_of("09-where-time", rows)
    assert "GRU" in experiments.say_where_time(record)["en"] and "25%" in experiments.say_where_time(record)["en"]
    check_shown(record)
    assert "runs none" in experiments.say_where_time(record_of("09-where-time", rows[2:]))["en"]
