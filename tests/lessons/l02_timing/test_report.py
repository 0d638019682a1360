"""The report of a measurement: who copies what `compare` says earns all, in any noise; who claims more or less than it does not."""

from __future__ import annotations

import pytest

from course.timing import compare
from grader.lessons.l02_timing.tasks import judge_report
from tests.support.timing_clocks import Cost, NoisyClock, costing

NOISES = [
    (0.02, 0.2, 0.05),
    (0.005, 0.5, 0.3),
    (0.1, 0.1, 0.1),
    (0.003, 0.05, 0.5),
    (0.001, 0.0, 0.02),
    (0.3, 0.3, 0.3),
]
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
