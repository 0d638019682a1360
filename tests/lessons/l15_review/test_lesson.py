"""Lesson 15: what is asked of the map stands in the table of switches, and the flipping measures and leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace

import torch

from course import flags
from course.core.i18n import LANGUAGES, set_language
from course.experiment import base
from course.flags import SWITCHES
from course.lessons.l15_review import experiments
from course.lessons.l15_review.exercises import ASKED, homes
from tests.lessons.l15_review.rows import flips
from tests.lessons.live import record_of


def test_every_name_asked_stands_where_the_solution_says():
    assert {name: home in homes(name) for name, home in ASKED.items()} == dict.fromkeys(ASKED, True)


def test_flipping_tries_each_switch_alone_and_puts_everything_back():
    names = (
        "cudnn.benchmark",
        "cudnn.benchmark_limit",
        "mkldnn.enabled",
        "mkldnn.matmul.fp32_precision",
        "cuda.matmul.allow_tf32",
    )
    before = flags.read()
    found = base.run_experiment(base.get("15-flip-all"), 60, names=names)
    assert flags.read() == before
    rows = {row["switch"]: row for row in found.rows}
    assert set(rows) == {experiments.CONTROL, *names}
    assert rows["cudnn.benchmark"]["state"] == "same"  # a CPU never reads it
    if torch.backends.mkldnn.is_available():
        parts = set(rows["mkldnn.enabled"]["parts"].split())
        assert {"conv", "lstm"} <= parts and "linear" not in parts


def test_without_time_for_all_the_likely_ones_are_tried_and_the_rest_is_counted():
    found = base.run_experiment(base.get("15-flip-all"), 0)
    rows = found.rows[1:]
    assert rows[0]["switch"] == "mkldnn.enabled" and rows[0]["state"] != "untried"
    assert {row["state"] for row in rows[1:]} == {"untried"} and not found.complete
    assert {row["switch"] for row in rows} == {one.name for one in SWITCHES.values() if one.changeable}
    for language in LANGUAGES:
        set_language(language)
        picture = base.get("15-flip-all").draw(found, {})
        assert str(len(rows) - 1) in picture.lines[-1][1]
    order = [row["switch"] for row in rows]
    assert order.index("nnpack.set_flags") < order.index("cuda.enable_flash_sdp") < order.index("cudnn.benchmark")


def test_every_switch_has_another_value_to_try_or_is_told_as_refused():
    open_ = [
        one.name
        for one in SWITCHES.values()
        if one.changeable and one.read() != flags.ABSENT and not experiments.flipped(one)
    ]
    assert all(one.startswith("cuda.preferred") or one.startswith("opt_einsum") for one in open_)


def test_an_unfinished_round_settles_nothing():
    unfinished = replace(record_of("15-flip-all", flips(3)), complete=False)
    assert base.get("15-flip-all").settles(unfinished) == {"15-bet-flips": None}
