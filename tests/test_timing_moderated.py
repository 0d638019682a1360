"""Variances drawn towards that of all: what is far from the others stays, and intervals over few processes miss no more often."""

from __future__ import annotations

import math
import random

import pytest
import torch

from course.timing import moderated, stats

NOISE = {
    "bell": (0.0, lambda noise: noise.gauss(0, 0.08)),
    "two kinds": (0.04, lambda noise: noise.choice((0.0, 0.08))),
    "rarely slow": (0.026, lambda noise: 0.26 if noise.random() < 0.1 else noise.gauss(0, 0.02)),
}
"""Kind -> the mean of the logarithm, and what draws one."""


@pytest.mark.parametrize("x", [0.3, 1.0, 1.5, 4.0, 30.0])
def test_the_functions_are_those_of_torch(x):
    value = torch.tensor(x, dtype=torch.float64)
    assert moderated._digamma(x) == pytest.approx(torch.special.digamma(value).item(), abs=1e-7)
    assert moderated._trigamma(x) == pytest.approx(torch.special.polygamma(1, value).item(), rel=1e-7)
    assert moderated._inverse_trigamma(moderated._trigamma(x)) == pytest.approx(x, rel=1e-6)


def test_one_variance_stays_and_equal_ones_are_known_better():
    assert moderated.moderated([4.0], [3]) == [(4.0, 3)]
    for variance, freedom in moderated.moderated([4.0] * 5, [3] * 5):
        assert (
            4.0 < variance < 6.0 and 3 < freedom < 15
        )  # sample variances lie below the true one more often than above


def test_what_scatters_far_more_than_the_others_stays_about_as_it_is():
    *usual, far = moderated.moderated([1.0, 1.1, 0.9, 1.05, 1000.0], [7] * 5)
    assert far[0] > 700 and all(variance < 2 for variance, _ in usual)


def test_variances_of_zero_give_a_number():
    assert all(math.isfinite(each) for pair in moderated.moderated([0.0, 0.0, 1e-3], [3] * 3) for each in pair)


def test_a_value_far_off_is_taken_as_less_far_off_where_others_show_how_far():
    near, off = [1.0, 1.02, 0.99, 1.01, 0.98], [0.8, 0.82, 0.81, 0.79, 2.0]
    one, again, two, few = moderated.reined([near, near, off, [1.0, 3.0]])
    assert one == again
    assert one == pytest.approx(near) and few == [1.0, 3.0]
    assert two[:4] == pytest.approx(off[:4]) and 0.82 < two[4] < 1.0
    assert moderated.reined([off]) == [pytest.approx(off)], "one group alone"
    assert moderated.reined([[1.0] * 4, [1.0, 1.0, 1.0, 2.0]])[0] == [1.0] * 4


@pytest.mark.parametrize("kinds", [["bell"], ["two kinds"], ["rarely slow"], ["bell", "rarely slow"], [*NOISE]])
def test_intervals_of_five_candidates_are_narrower_and_miss_no_more_often(kinds):
    """Five ratios to one baseline, from four processes each: all five intervals cover in at least 95 of 100 cases."""
    noise, missed, shorter, count = random.Random(7), 0, 0, 300
    for _ in range(count):
        mean, draw = NOISE[kinds[0]]
        base = [draw(noise) for _ in range(4)]
        truths, ratios = [], []
        for at in range(5):
            its_mean, its_draw = NOISE[kinds[(at + 1) % len(kinds)]]
            truths.append(its_mean - mean)
            ratios.append([math.exp(its_draw(noise) - one) for one in base])
        kept = moderated.reined(ratios)
        found = [stats.process_interval(each, 0.007, [other for other in kept if other is not each]) for each in kept]
        alone = [stats.process_interval(each, 0.007) for each in ratios]
        missed += any(not one.low <= math.exp(truth) <= one.high for one, truth in zip(found, truths, strict=True))
        shorter += sum(math.log(one.high / one.low) for one in found) < sum(math.log(o.high / o.low) for o in alone)
    assert missed <= 0.05 * count + 3 and shorter > 0.9 * count
