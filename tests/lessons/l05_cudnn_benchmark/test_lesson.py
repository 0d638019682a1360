"""Lesson 05: the toy searches as it should, live experiments settle their bets. Nothing is timed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from course.experiment import base
from course.experiment.probes import summed
from course.experiment.reading import TOO_NOISY
from course.lessons.l05_cudnn_benchmark import probes, survey
from course.lessons.l05_cudnn_benchmark.experiments import SCHEDULES
from course.lessons.l05_cudnn_benchmark.search_tree import search_tree
from course.models import toy_search
from tests.lessons.l05_cudnn_benchmark.rows import CUDA_ROWS, flip_rows, visits
from tests.lessons.live import measured, record_of

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


# --- the race that should be lost -------------------------------------------------------------------------


# The rows below are invented test data. Nothing was measured.


def test_a_process_cut_short_does_not_spoil_the_whole_ones():
    rows = flip_rows(1.0, 1.0)
    cut = [*rows, *visits("off", [9.0, 1.0, 1.0], process=3)]
    assert base.get("05-flip-cuda").settles(record_of("05-flip-cuda", cut)) == {"05-bet-flip": "b"}
    pays = [*CUDA_ROWS["05-pays-cuda"], {"story": "on", "process": 1, "samples_ms": [220.0, 2.0, 2.0]}]
    assert "200 steps" in headline("05-pays-cuda", pays)


def headline(name, rows):
    return base.get(name).headline(record_of(name, rows))["en"]


def test_without_a_visible_search_the_flip_stays_open():
    rows = [{**row, "call_ms": min(row["call_ms"], 2.0)} for row in flip_rows(1.0, 1.0)]
    record = record_of("05-flip-cuda", rows)
    assert base.get("05-flip-cuda").settles(record) == {"05-bet-flip": None}
    assert headline("05-flip-cuda", rows) == TOO_NOISY["en"]


def test_break_even_on_cuda_is_named_only_with_a_gain():
    rows = CUDA_ROWS["05-pays-cuda"]
    assert "200 steps" in headline("05-pays-cuda", rows)
    equal = [rows[0], {**rows[1], "samples_ms": [220.0] + [3.0] * 149}]
    assert "no later step was clearly quicker" in headline("05-pays-cuda", equal)


# --- the probes, whose form can be tried without a GPU ----------------------------------------------------


def test_the_probes_keep_their_form():
    with base.restored():
        visited = probes.conv_visits([[0, 2, 16], [1, 2, 16], [1, 2, 20]])
        assert len(visited) == 3 and all(row["call_ms"] > 0 for row in visited)
        assert len(probes.model_steps(1, 2, 1, 32)) == 2


def test_the_creation_log_is_read_line_by_line():
    log = (
        "onednn_verbose,v1,primitive,create:cache_miss,cpu,reorder,jit:uni,undef,a,,16x3x3x3,0.1\n"
        "onednn_verbose,v1,primitive,create:cache_hit,cpu,convolution,jit:avx2,forward_training,src:f32,,"
        "alg:convolution_direct,mb8_ic3oc16_ih64oh64kh3sh1dh0ph1_iw64ow64kw3sw1dw0pw1,0.02\nnoise\n"
    )
    assert probes.created(log) == [{"event": "hit", "problem": "mb8_ic3oc16_ih64oh64kh3sh1dh0ph1_iw64ow64kw3sw1dw0pw1"}]


def test_kernels_are_told_from_operations_and_summed_by_name():
    def event(name, device, us):
        return SimpleNamespace(
            name=name, device_type=f"DeviceType.{device}", time_range=SimpleNamespace(elapsed_us=lambda: us)
        )

    events = [
        event("aten::conv2d", "CPU", 90.0),
        event("k1", "CUDA", 3.0),
        event("k1", "CUDA", 5.0),
        event("k2", "CUDA", 20.0),
        event("mark", "CUDA", 0),
    ]
    assert summed(events, on_gpu=True) == [
        {"kernel": "k2", "calls": 1, "mean_us": 20.0},
        {"kernel": "k1", "calls": 2, "mean_us": 4.0},
    ]


# --- does the search pay? -----------------------------------------------------------------------------------


def test_the_survey_of_an_h100_is_the_raw_data():
    """Counted by hand from the three columns of each way: apart in every process, by 3 %; else processes of one side by 10 %."""
    found = survey.on_an_h100()
    assert survey.counted(found) == {"faster": 5, "slower": 34, "unsteady": 31, "same": 102, "all": 172}
    assert "34 of 172" in survey.h100().headline


def test_the_probe_of_whole_networks_keeps_its_form():
    with base.restored():
        step = probes.training_steps(1, "mobilenet_v2", 1, 5, 2, 32)
    assert step["steps"] == 5 and step["step_ms"] > 0
