"""Lesson 05: the toy searches as it should, live experiments settle their bets. Nothing is timed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from course.experiment.probes import summed
from course.lessons.l05_cudnn_benchmark import survey
from course.lessons.l05_cudnn_benchmark.experiments import SCHEDULES
from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
from course.models import toy_search
from tests.lessons.live import measured

ONEDNN = torch.backends.mkldnn.is_available()


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


@pytest.mark.skipif(not ONEDNN, reason="this build of PyTorch has no oneDNN")
def test_with_the_cache_off_everything_is_made_anew():
    rows = measured("05-primitive-cache", 60).rows
    assert [row["event"] for row in rows if row["setting"] == "cache off"] == ["miss"] * 4


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


def test_kernels_are_told_from_operations_and_summed_by_name():
    told = (
        ("aten::conv2d", "CPU", 90.0),
        ("k1", "CUDA", 3.0),
        ("k1", "CUDA", 5.0),
        ("k2", "CUDA", 20.0),
        ("mark", "CUDA", 0),
    )
    events = [
        SimpleNamespace(
            name=name, device_type=f"DeviceType.{kind}", time_range=SimpleNamespace(elapsed_us=lambda us=us: us)
        )
        for name, kind, us in told
    ]
    assert summed(events, on_gpu=True) == [
        {"kernel": "k2", "calls": 1, "mean_us": 20.0},
        {"kernel": "k1", "calls": 2, "mean_us": 4.0},
    ]


def test_the_survey_of_an_h100_is_the_raw_data():
    """Counted by hand from the three columns of each way: apart in every process, by 3 %; else processes of one side by 10 %."""
    found = survey.on_an_h100()
    assert survey.counted(found) == {"faster": 5, "slower": 34, "unsteady": 31, "same": 102, "all": 172}
    assert "34 of 172" in survey.h100().headline
