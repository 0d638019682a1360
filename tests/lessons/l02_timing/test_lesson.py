"""Lesson 02: its bets follow their records, its devices keep order, and its notebook is not lost by running it."""

from __future__ import annotations

import json
from functools import partial

import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook

from course.exercises.exercise import all_exercises, judge
from course.experiment.base import load_all, run
from course.experiment.reading import TOO_NOISY
from course.experiment.rows import groups
from course.lessons.l02_timing.exercises import cut
from course.lessons.l02_timing.experiments import STORIES
from course.lessons.l02_timing.experiments_repeats import read_planted_difference
from course.lessons.l02_timing.toy_device import ToyDevice
from course.lessons.l02_timing.virtual_device import VirtualDevice
from course.timing import clock, compare
from course.timing.stats import median_interval as interval_of
from tests.conftest import ROOT
from tests.lessons.l02_timing.rows import readings, told
from tests.lessons.live import record_of


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
    assert cut(5) is None


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


# --- what the experiments say -----------------------------------------------------------------------------


def test_the_queue_is_drawn_as_it_ran():
    """Whatever the machine does, the device works in order, and a clock stopped behind a fence has seen the kernel end."""
    found = groups(run("02-queue").rows, "story")
    assert len(found) == 2
    for story, rows in found.items():
        span = {row["what"]: (row["start_ms"], row["end_ms"]) for row in rows}
        assert (span["reading"][1] >= span["kernel"][1]) == STORIES[story]
        assert span["kernel"][1] - span["kernel"][0] >= 19.9


def test_a_clock_stopped_too_early_is_said():
    sentence = load_all()["02-queue"].headline(record_of("02-queue", told("no fence", 10.0)))
    assert "40 ms" in sentence["en"] and "40 ms" in sentence["zh"]


def races(method: str, *ratios: float) -> list[dict]:
    return [
        {"trial": i, "method": method, "ratio": ratio, "said": "slower", "planted": 1.05, "threads": 1}
        for i, ratio in enumerate(ratios)
    ]


def test_the_right_sign_alone_is_not_a_find():
    rows = races("means, each alone", 3.0, 3.2, 2.9) + races("paired", 1.051, 1.049, 1.05)
    rows += races("best of, each alone", 1.0, 1.08, 1.031)
    found = {row["method"]: row["count"] for row in read_planted_difference(rows).drawn}
    assert found == {"means, each alone": 0, "best of, each alone": 1, "paired": 3}


def test_stopwatches_whose_readings_spread_or_are_few_are_not_told_right_or_wrong():
    experiment, rows = load_all()["02-five-stopwatches"], readings(20.2)
    for doubtful in (
        [{**row, "high_ms": row["median_ms"] + 10} for row in rows],
        [{**row, "samples_ms": row["samples_ms"][:5]} for row in rows],
    ):
        found = record_of("02-five-stopwatches", doubtful)
        assert experiment.headline(found) == TOO_NOISY and experiment.settles(found) == {"02-bet-one-fence": None}
