"""Records of lesson 09: each outcome of a bet is met once, on invented rows. Nothing was measured."""

from __future__ import annotations

import pytest

from course.experiment import base
from course.lessons.l09_mkldnn import experiments, experiments_isa
from tests.lessons.l09_mkldnn.rows import SPAN, race_rows, ratio, rungs, steps
from tests.lessons.l09_mkldnn.test_lesson import check_shown, record_of


@pytest.mark.parametrize(
    ("kinds", "option"),
    [
        ("faster faster faster faster", "a"),
        ("faster faster same faster", "b"),
        ("faster faster same same", "c"),
        ("faster slower same same", "d"),
        ("same same same same", None),
        ("faster faster undecided same", None),
    ],
)
def test_the_layer_bet_follows_the_intervals(kinds, option):
    record = record_of("09-on-off", race_rows(*kinds.split()))
    assert base.get("09-on-off").settles(record) == {"09-bet-who": option}
    check_shown(base.get("09-on-off"), record)


@pytest.mark.parametrize("kind", SPAN)
def test_two_percent_to_either_side_is_the_same(kind):
    assert experiments.kind_of(ratio(kind)) == kind


@pytest.mark.parametrize(("count", "option"), [(0, "a"), (1, "b"), (2, "c"), (3, "c")])
def test_the_reorder_bet_follows_the_count(count, option):
    rows = [
        {
            "layout": name,
            "reorders": 3 * count,
            "reorder_ms": 0.1,
            "compute_ms": 1.0,
            **ratio("faster"),
            "reorders_of_one_conv": count,
        }
        for name in ("NCHW", "channels_last", "to_mkldnn")
    ]
    record = record_of("09-layouts", rows)
    assert base.get("09-layouts").settles(record) == {"09-bet-reorders": option}
    check_shown(base.get("09-layouts"), record)


@pytest.mark.parametrize(
    ("on", "lines", "option"),
    [("Mkldnn", 1, "a"), ("Slow2d", 0, "b"), ("NnpackSpatial", 0, "c"), ("", 1, "a"), ("", 0, "b")],
)
def test_the_small_bet_follows_route_and_log(on, lines, option):
    record = record_of(
        "09-routes", [{"case": "one small image", "on": on, "off": "Slow2d" if on else "", "convolution_lines": lines}]
    )
    assert base.get("09-routes").settles(record) == {"09-bet-small": option}
    check_shown(base.get("09-routes"), record)


@pytest.mark.parametrize(
    ("random_share", "whole_share", "option"), [(0.8, 0.0, "c"), (0.8, 0.1, "b"), (0.8, 0.7, "a"), (0.0, 0.0, None)]
)
def test_the_bits_bet_follows_the_shares(random_share, whole_share, option):
    rows = [
        {
            "operation": "Conv2d",
            "numbers": numbers,
            "differ_share": share,
            "repeat_differs": 0.0,
            "error_on": 1e-6,
            "error_off": 0.0,
        }
        for numbers, share in (("random", random_share), ("whole", whole_share))
    ]
    record = record_of("09-bits", rows)
    assert base.get("09-bits").settles(record) == {"09-bet-bits": option}
    check_shown(base.get("09-bits"), record)


@pytest.mark.parametrize(("kind", "option"), [("faster", "a"), ("same", "b"), ("slower", "c"), ("undecided", None)])
def test_the_bfloat16_bet_follows_the_middle_rung(kind, option):
    rows = [
        {
            "rung": rung,
            "process": 0,
            **ratio(kind if rung == "AVX512_CORE" else "faster"),
            "median_ms": 1.0,
            "baseline_ms": 1.0,
            "implementation": "made up",
        }
        for rung in ("DEFAULT", "AVX512_CORE", "AVX2")
    ]
    record = record_of("09-bf16", rows)
    assert base.get("09-bf16").settles(record) == {"09-bet-bf16": option}
    check_shown(base.get("09-bf16"), record)
    assert base.get("09-bf16").settles(record_of("09-bf16", rows[:1])) == {"09-bet-bf16": None}


def test_the_ladder_claims_a_factor_only_when_the_processes_agree():
    told = experiments_isa.say_isa_ladder
    assert "2.0 times as long" in told(record_of("09-isa-ladder", rungs((10.0, 10.2), (5.0, 5.1))))["en"]
    assert "cannot be told apart" in told(record_of("09-isa-ladder", rungs((10.0, 5.0), (5.1, 4.9))))["en"]
    assert "not x86" in told(record_of("09-isa-ladder", rungs((), (5.0,))))["en"]
    check_shown(base.get("09-isa-ladder"), record_of("09-isa-ladder", rungs((10.0, 10.2), (5.0, 5.1))))


@pytest.mark.parametrize(("value", "word"), [(1.5, "Time with 2"), (300.0, "waiting, not work")])
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
    check_shown(base.get("09-threads"), record_of("09-threads", rows))
    assert "one thread only" in experiments_isa.say_threads(record_of("09-threads", [{**rows[0], "threads": 1}]))["en"]


def test_the_turning_point_is_named_only_where_there_is_one():
    told = experiments.say_one_step
    assert "From 16 steps on" in told(record_of("09-one-step", steps("slower", "undecided", "faster")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("faster", "faster")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("slower", "slower")))["en"]
    assert "From" not in told(record_of("09-one-step", steps("slower", "faster", "undecided")))["en"]
    check_shown(base.get("09-one-step"), record_of("09-one-step", steps("slower", "faster")))


def test_layers_without_a_line_are_named():
    rows = [
        {"layer": "Conv2d", "primitive": "reorder", "implementation": "r", "lines": 2, "logged_ms": 1.0},
        {"layer": "Conv2d", "primitive": "convolution", "implementation": "c", "lines": 1, "logged_ms": 3.0},
        {"layer": "GRU", "primitive": "", "implementation": "", "lines": 0, "logged_ms": 0.0},
    ]
    record = record_of("09-where-time", rows)
    assert "GRU" in experiments.say_where_time(record)["en"] and "25%" in experiments.say_where_time(record)["en"]
    check_shown(base.get("09-where-time"), record)
    assert "runs none" in experiments.say_where_time(record_of("09-where-time", rows[2:]))["en"]
