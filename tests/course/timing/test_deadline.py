"""Measurements inside a limit end their rounds by it: what they have by then is kept, and so few rounds are told in words."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
import torch

from course.experiment import base
from course.experiment.base import run_experiment
from course.game import cases
from course.lessons.l10_tuning_master import game, panel
from course.lessons.l10_tuning_master.panel import FEW
from course.roofline import peaks, place
from course.timing import compare, deadline, measure
from course.timing.deadline import rounds_end_within
from tests.course.experiment.test_ending import of
from tests.support.timing_clocks import Cost, NoisyClock

LONG_S = 60


def work():
    return sum(range(100))


def test_a_comparison_and_a_measurement_take_no_further_round():
    with rounds_end_within(0):
        found, alone = compare({"a": work, "b": work}, max_time=LONG_S), measure(work, max_time=LONG_S)
    assert found.rounds == 1 and found.low is None and found.verdict == "undecided"
    assert len(alone.samples_ms) == 1 and alone.low_ms is None


class Slow:
    """On a pretended clock its first calls take some seconds, later ones a moment; it counts all."""

    def __init__(self, seconds: float, calls: int) -> None:
        self.seconds, self.slow, self.calls = seconds, calls, 0

    def __call__(self) -> Cost:
        self.calls += 1
        return Cost(self.seconds if self.calls <= self.slow else 1e-4)


@pytest.fixture
def clock(monkeypatch):
    """A pretended clock, by which deadlines go too."""
    pretended = NoisyClock(1)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=pretended.now))
    return pretended


def test_a_comparison_whose_rounds_cannot_end_in_time_is_not_begun(clock):
    a, b = Slow(0.2, LONG_S), Slow(0.2, LONG_S)
    with rounds_end_within(1):
        found = compare({"a": a, "b": b}, max_time=LONG_S, seed=1, clock=clock)
    assert found.rounds == 1 and found.low is None and max(a.calls, b.calls) <= 2


def test_slow_first_calls_alone_do_not_end_a_comparison(clock):
    a, b = Slow(0.3, 1), Slow(0.3, 1)
    with rounds_end_within(4):
        found = compare({"a": a, "b": b}, max_time=LONG_S, seed=1, clock=clock)
    assert found.rounds >= 12 and found.low is not None


@pytest.mark.slow
def test_peaks_and_layers_take_one_round():
    with rounds_end_within(0):
        roof = peaks("cpu", max_time=LONG_S)
        found = place(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), torch.randn(1, 4), peaks=roof)
    assert found.rounds == 1


@pytest.mark.parametrize(("limit_s", "ends"), [(1.6, [1.3]), (float("inf"), [float("inf")])])
def test_the_rounds_of_an_experiment_end_half_way_between_its_budget_and_its_limit(monkeypatch, limit_s, ends):
    seen = []
    monkeypatch.setattr(deadline, "rounds_end_within", lambda seconds: seen.append(seconds) or contextlib.nullcontext())
    run_experiment(of(lambda budget: []), budget_s=1.0, limit_s=limit_s)
    assert seen == pytest.approx(ends)


def test_a_case_looks_at_its_requirements_before_it_takes_rounds(monkeypatch):
    monkeypatch.setattr(base, "PATIENCE", 100)  # on a busy machine the requirements alone take longer than its limit
    case = cases.find("10-bank")
    advice = panel.plan_of(case).advice
    with rounds_end_within(0):
        found = game.measure(case, [advice]).outcomes
    assert [one["facts"].keys() for one in found.values()] == [{"error"}] * 2
    assert FEW in [one["verdict"] for one in found.values()]
