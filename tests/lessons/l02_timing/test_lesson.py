"""Lesson 02: its bets follow their records, its devices keep order, and its notebook is not lost by running it."""

from __future__ import annotations

import json
from functools import partial

import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook

from course.exercises.exercise import all_exercises, judge
from course.lessons.l02_timing.exercises import cut
from course.lessons.l02_timing.toy_device import ToyDevice
from course.lessons.l02_timing.virtual_device import VirtualDevice
from course.timing import clock, compare
from course.timing.stats import median_interval as interval_of
from tests.conftest import ROOT


def test_the_race_of_the_notebook_is_not_lost_yet(monkeypatch):
    """Running the cells as they come must not earn anything. Clocks go by the pixels that a convolution gets, 1 ns each."""
    cells = json.loads((ROOT / "notebooks/en/lessons/02_timing.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = [text for text in code if "naive_ms" in text]
    assert len(source) == 2
    ns = [0]
    monkeypatch.setattr(clock, "_plain_ns", partial(clock._plain_ns, now=lambda: ns[0]))

    def passes(module, given, found):
        ns[0] += given[0].numel()

    names = {"torch": torch, "perf_counter": lambda: ns[0] * 1e-9, "compare": compare, "check": lambda *_: None}
    with register_module_forward_hook(passes):
        exec("\n".join(source), names)
    assert names["evidence"]["naive_ratio"] == pytest.approx(1 / 4)
    assert names["evidence"]["comparison"].ratio == pytest.approx(1 / 4)
    assert judge(all_exercises()["02-lose"], names["evidence"]).state == "incorrect"


@pytest.mark.parametrize("count", [6, 7, 11, 12, 20, 41, 100])
def test_cut_agrees_with_the_interval_of_the_timing_package(count):
    ordered = [float(v) for v in range(count)]
    interval = interval_of(ordered)
    assert (ordered[cut(count)], ordered[-1 - cut(count)]) == (interval.low, interval.high)


def test_cut_of_few_readings_is_none():
    assert [cut(n) for n in (1, 3, 5)] == [None] * 3


# --- bets and sentences --------------------------------------------------------------------------------


# --- devices -------------------------------------------------------------------------------------------


def test_the_toy_device_launches_at_once_and_fences():
    with ToyDevice() as toy:
        start, kernel = toy.event(), toy.launch(1_500)
        end = toy.event()
        assert not kernel.done() and toy.waiting() >= 2
        toy.synchronize()
        assert kernel.done() and toy.waiting() == 0
        assert start.elapsed_ms(end) >= 1_499
        with pytest.raises(ValueError, match="0 or more"):
            toy.launch(-1)


def test_virtual_time_only_moves_by_work():
    device = VirtualDevice()
    device.launch(20)
    assert device.clock() < 1e-3
    device.synchronize()
    assert 0.020 <= device.clock() < 0.021
