"""Lesson 02: its bets follow their records, its devices keep order, and its notebook is not lost by running it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook

from course.exercises.exercise import all_exercises, judge
from course.experiment.base import run
from course.experiment.reading import groups
from course.lessons.l02_timing.exercises import cut
from course.lessons.l02_timing.experiments import STORIES, read_planted_difference
from course.lessons.l02_timing.toy_device import ToyDevice, VirtualDevice
from course.timing import clock, compare
from course.timing.stats import median_interval as interval_of
from grader.lessons.l02_timing.tasks import judge_report
from tests.conftest import ROOT
from tests.support.timing_clocks import Cost, NoisyClock, costing


def test_the_race_of_the_notebook_is_not_lost_yet(monkeypatch):
    """Running the cells as they come must not earn anything. Clocks go by the pixels that a convolution gets, 1 ns each."""
    cells = json.loads((ROOT / "notebooks/en/lessons/02_timing.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = [text for text in code if "naive_ms" in text]
    assert len(source) == 2
    ns = [0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: ns[0] * 1e-9))

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


def test_the_toy_devices_launch_at_once_and_fence():
    with ToyDevice() as toy:
        start, kernel = toy.event(), toy.launch(1_500)
        end = toy.event()
        assert not kernel.done() and toy.waiting() >= 2
        toy.synchronize()
        assert kernel.done() and toy.waiting() == 0
        assert start.elapsed_ms(end) >= 1_499
        with pytest.raises(ValueError, match="from 0 on"):
            toy.launch(-1)
    device = VirtualDevice()  # its time moves by work alone
    device.launch(20)
    assert device.clock() < 1e-3
    device.synchronize()
    assert 0.020 <= device.clock() < 0.021


def test_the_queue_is_drawn_as_it_ran():
    """Whatever the machine does, the device works in order, and a clock stopped behind a fence has seen the kernel end."""
    found = groups(run("02-queue").rows, "story")
    assert len(found) == 2
    for story, rows in found.items():
        span = {row["what"]: (row["start_ms"], row["end_ms"]) for row in rows}
        assert (span["reading"][1] >= span["kernel"][1]) == STORIES[story]
        assert span["kernel"][1] - span["kernel"][0] >= 19.9


def test_the_right_sign_alone_is_not_a_find():
    ratios = {
        "means, each alone": (3.0, 3.2, 2.9),
        "paired": (1.051, 1.049, 1.05),
        "best of, each alone": (1.0, 1.08, 1.031),
    }
    rows = [
        {"trial": trial, "method": method, "ratio": ratio, "said": "slower", "planted": 1.05}
        for method, found in ratios.items()
        for trial, ratio in enumerate(found)
    ]
    found = {row["method"]: row["count"] for row in read_planted_difference(rows).drawn}
    assert found == {"means, each alone": 0, "best of, each alone": 1, "paired": 3}


NOISES = [(0.02, 0.2, 0.05), (0.003, 0.05, 0.5), (0.001, 0.0, 0.02), (0.3, 0.3, 0.3)]
"""jitter, drift and hiccup of a `NoisyClock`."""
SOUND = {"device": "cpu", "threads": 2, "warmup_calls": 5, "fence": "none needed", "gate": 0.02}


def report_of(found) -> dict:
    """What the checkpoint asks for, copied from a comparison of a and b."""
    ratios = list(found.pairs["b"].ratios)
    return {
        **SOUND,
        "ratios": ratios,
        "low": found.low,
        "high": found.high,
        "claim": found.verdict,
        "why": found.sentence(),
    }


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ratio", [1, 1.003, 1.01, 1.37, 0.6])
def test_a_report_copied_from_compare_earns_all(noise, ratio):
    for seed, budget_s in enumerate((0.5, 2, 5)):
        sides = {"a": costing(1e-4), "b": costing(1e-4 * ratio)}
        found = compare(sides, baseline="a", max_time=budget_s, clock=NoisyClock(seed, *noise), seed=seed)
        verdict = judge_report(report_of(found))
        assert verdict.points == 4, (verdict.messages, found.low, found.high, found.pairs["b"].ratios)


def test_undecided_because_of_a_drift_is_honest_with_its_reason_or_without():
    left = iter([1e-2] * 40)
    sides = {"a": costing(1e-3), "b": lambda: Cost(next(left, 2e-3))}
    found = compare(sides, "a", clock=NoisyClock(1, jitter=0.01, drift=0, hiccup=0), seed=1)
    report = report_of(found)
    assert found.verdict == "undecided" and found.low > 1
    assert judge_report(report).points == 4
    assert judge_report({**report, "why": ""}).points == 4, "the ratios themselves show the drift"
    assert judge_report({**report, "why": "", "ratios": sorted(report["ratios"], key=hash)}).points == 3.5


@pytest.mark.parametrize(
    "low, high, claim, points",
    [
        (0.90, 0.92, "faster", 4),
        (0.90, 0.92, "undecided", 3.5),
        (0.90, 0.92, "slower", 3),
        (0.95, 1.05, "faster", 3),
        (0.95, 1.05, "same", 3),
        (0.95, 1.05, "undecided", 4),
        (0.985, 0.998, "faster", 4),
        (0.985, 0.998, "same", 4),
        (0.985, 0.998, "undecided", 3.5),
        (0.96, 0.998, "undecided", 4),
        (0.99, 1.01, "undecided", 3.5),
    ],
)
def test_a_claim_earns_what_its_interval_carries(low, high, claim, points):
    ratios = [low + (high - low) * part / 19 for part in range(20)]
    assert judge_report({**SOUND, "ratios": ratios, "low": low, "high": high, "claim": claim}).points == points


@pytest.mark.parametrize("low, high, points", [(0.92, 0.92, 2), (0.80, 0.99, 2), (0.945, 0.95, 2), (0.905, 0.935, 4)])
def test_an_interval_that_the_ratios_do_not_give_earns_neither_its_point_nor_its_claim(low, high, points):
    ratios = [0.9 + 0.04 * part / 19 for part in range(20)]
    report = {**SOUND, "ratios": ratios, "low": low, "high": high, "claim": "faster"}
    assert judge_report(report).points == points
