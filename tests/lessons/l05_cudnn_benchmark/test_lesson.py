"""Lesson 05: the toy searches as it should, live experiments settle their bets. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.exercises.checking import lost
from course.exercises.told import Told
from course.lessons.l05_cudnn_benchmark.experiments_toy import SCHEDULES
from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
from course.models import toy_search
from course.timing.results import Comparison, Paired
from tests.lessons.live import measured

ONEDNN = torch.backends.mkldnn.is_available()


# --- the toy ----------------------------------------------------------------------------------------------


def test_all_candidates_compute_the_same_convolution():
    x, weight = toy_search.image(17), toy_search.kernel()
    for candidate in toy_search.CANDIDATES.values():
        torch.testing.assert_close(candidate(x, weight), toy_search.direct(x, weight), atol=1e-4, rtol=1e-4)


def test_the_toy_asks_the_cache_before_the_switch():
    x, weight = toy_search.image(16), toy_search.kernel()
    conv = toy_search.ToyConv(benchmark=False)
    conv(x, weight)
    conv.benchmark = True
    conv(x, weight)
    assert conv.searches == 0 and list(conv.plans.values()) == [toy_search.ranked(x)[0]]
    conv(toy_search.image(20), weight)
    assert conv.searches == 1
    assert set(toy_search.run_schedule([16], True, limit=1).plans.values()) == {toy_search.ranked(x)[0]}


@pytest.mark.parametrize("sizes", SCHEDULES.values(), ids=SCHEDULES)
def test_the_toy_searches_once_per_size(sizes):
    assert toy_search.run_schedule(sizes[:6], benchmark=True).searches == len(set(sizes[:6]))


@pytest.mark.parametrize("size", [7, 65, "24", 24.0])
def test_a_size_out_of_range_is_named(size):
    with pytest.raises(ValueError, match="8 to 64"):
        toy_search.run_schedule([size], benchmark=False)


# --- experiments ------------------------------------------------------------------------------------------


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_with_the_cache_off_everything_is_made_anew():
    rows = measured("05-primitive-cache", 60).rows
    assert [row["event"] for row in rows if row["setting"] == "cache off"] == ["miss"] * 4


# --- the picture of a choice --------------------------------------------------------------------------------


def test_the_tree_keeps_what_the_clock_says_and_times_nothing_with_the_search_off():
    searched, trusted = toy_search.ToyConv(benchmark=True, limit=3), toy_search.ToyConv()
    with pytest.raises(ValueError, match="key"):
        search_tree(searched)
    for conv in (searched, trusted):
        conv(toy_search.image(24), toy_search.kernel())
    assert list(searched.last.times_ms) == list(searched.last.ranked[:3])
    assert searched.last.times_ms[searched.last.plan] == min(searched.last.times_ms.values())
    assert trusted.last.times_ms == {} and trusted.last.plan == trusted.last.ranked[0]
    for conv in (searched, trusted):
        drawn = search_tree(conv)
        words = (
            f"{conv.last.plan}: {conv.last.times_ms[conv.last.plan]:.3g} ms"
            if conv is searched
            else "first in the list"
        )
        assert f"{words}: kept" in drawn.picture.alt and ("nothing was timed" in drawn.headline) == (conv is trusted)


def test_a_known_size_leaves_the_last_choice_alone():
    conv = toy_search.ToyConv(benchmark=True)
    for size in (24, 28, 24):
        conv(toy_search.image(size), toy_search.kernel())
    assert conv.last.size == 28 and conv.searches == 2


# --- the race that should be lost -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "verdict", "reason"),
    [
        (1.2, 1.4, "slower", None),
        (0.6, 0.8, "faster", "won"),
        (0.9, 1.2, "undecided", "undecided"),
        (1.2, 1.4, "undecided", "undecided"),
        (0.6, 0.8, "undecided", "undecided"),
    ],
)
def test_a_check_agrees_with_the_verdict_of_the_race_that_drifted(low, high, verdict, reason):
    pair = Paired("on", "off", (low + high) / 2, low, high, 0.95, verdict, (1.0,) * 20, 0.02)
    times = {"off": 1.0, "on": 1.0}
    race = Comparison("off", {"on": pair}, times, {"off": 1, "on": 1}, 20, 1.0, "cpu", "wall", 1)
    try:
        assert lost(race) == {"low": low, "high": high} and reason is None
    except Told as told:
        assert told.codes == (reason,)
