"""Timing: the interval of a ratio from pairs of blocks, on invented machines whose truth is known."""

from __future__ import annotations

import math
import random
from statistics import median

import pytest

from course.timing import pairs, stats
from tests.conftest import tries

MACHINES = {
    "quiet": {"flip": 0.0, "jitter": 0.003, "hiccup": 0.01},
    "two speeds": {"flip": 0.2, "jitter": 0.006, "hiccup": 0.05},
    "wild": {"flip": 0.5, "jitter": 0.05, "hiccup": 0.3},
}


def invented(seed, count, ratio, flip, jitter, hiccup, linked=0.8):
    """Pairs on a machine that changes between two speeds (flip: chance before each block) and sometimes holds a block up."""
    noise, speed = random.Random(seed), 0.0
    rows = []
    for _ in range(count):
        first, times = noise.random() < 0.5, []
        for _ in range(2):
            speed = noise.choice((0.0, 0.6)) if noise.random() < flip else speed
            times.append(speed + noise.gauss(0, jitter) + (noise.random() < hiccup) * noise.random())
        candidate, baseline = times if first else times[::-1]
        rows.append((ratio * math.exp(candidate), math.exp(baseline), first, noise.random() < linked))
    return pairs.Pairs(*map(list, zip(*rows, strict=True)))


def on_a_shared_core(seed, count, ratio, free, cached=0.0, slowed=0.0):
    """Pairs on a core that is undisturbed during some blocks (free: their share) and slowed by anything in the others.

    cached: share of the candidate's blocks that take a seventh. slowed: how much more the candidate suffers from disturbance.
    """
    noise = random.Random(seed)
    rows = []
    for _ in range(count):
        found = []
        for log_ratio, more in ((math.log(ratio), slowed), (0.0, 0.0)):
            disturbed = 0.0 if noise.random() < free else noise.uniform(0.3, 0.8) + more
            found.append(math.exp(log_ratio + disturbed + abs(noise.gauss(0, 0.002))))
        found[0] /= 7 if noise.random() < cached else 1
        rows.append((*found, noise.random() < 0.5, noise.random() < 0.8))
    return pairs.Pairs(*map(list, zip(*rows, strict=True)))


def by_the_chain(found, error):
    return pairs._Flips(found, [pairs._chain]).interval(error, pairs.GUARD)


def test_the_fastest_blocks_tell_one_percent_where_the_chain_cannot():
    """A core that is undisturbed in one block of ten: every interval holds the truth, and is at most a tenth as wide."""
    for seed in range(40):
        found = on_a_shared_core(seed, 300, 1.01, free=0.1)
        (centre, interval), (_, chain) = pairs.flipped(found, 0.01), by_the_chain(found, 0.01)
        assert centre == pytest.approx(1.01, abs=0.002) and 1.004 < interval.low < interval.high < 1.016
        assert interval.high - interval.low < 0.1 * (chain.high - chain.low)


@pytest.mark.parametrize("unlike", [{"cached": 0.5}, {"slowed": 0.14}])
def test_fastest_blocks_that_say_nothing_about_the_others_do_not_decide(unlike):
    """A function that has half of its results in a cache, and one that suffers far more from disturbance."""
    for seed in range(20):
        found = on_a_shared_core(seed, 400, 1.0, free=0.1, **unlike)
        assert pairs.flipped(found, 0.01) == by_the_chain(found, 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("count", [12, 24, 100])
@pytest.mark.parametrize("seeds", tries(100, 300))
def test_sign_flips_miss_the_truth_no_more_often_than_they_say(machine, count, seeds):
    """Nominal: 3.5 of 100; 10 of 100, or 21 of 300, are seen by chance two or three times in a thousand."""
    missed = 0
    for seed in range(seeds):
        centre, interval = pairs.flipped(invented(seed, count, 1.03, **MACHINES[machine]), 0.035)
        missed += not interval.low <= 1.03 <= interval.high
        assert interval.low <= centre <= interval.high and interval.confidence == 1 - 0.035
    assert missed <= (20 if seeds == 300 else 9)


def test_sign_flips_are_far_narrower_than_order_statistics_where_the_machine_changes_its_speed():
    widths = {pairs.flipped: [], pairs.ordered: []}
    for seed in range(60):
        found = invented(seed, 24, 1.0, flip=0.5, jitter=0.006, hiccup=0.1)
        for estimate, seen in widths.items():
            given = found if estimate is pairs.flipped else found.ratios()
            interval = estimate(given, 0.035)[1]
            seen.append(interval.high - interval.low)
    assert median(widths[pairs.flipped]) < 0.75 * median(widths[pairs.ordered])


def test_swapping_the_two_turns_the_interval_round():
    found = invented(1, 60, 1.05, **MACHINES["two speeds"])
    other = pairs.Pairs(found.baseline, found.candidate, [not first for first in found.first], found.linked)
    (ratio, interval), (inverse, turned) = pairs.flipped(found, 0.035), pairs.flipped(other, 0.035)
    assert ratio == pytest.approx(1 / inverse, rel=2e-3)
    assert (interval.low, interval.high) == pytest.approx((1 / turned.high, 1 / turned.low), rel=2e-3)


def test_an_error_that_so_few_pairs_cannot_reach_gives_no_interval():
    centre, interval = pairs.flipped(invented(1, 12, 1.5, **MACHINES["quiet"]), 1e-5)
    assert centre == pytest.approx(1.5, rel=0.05) and stats.shown(interval, 12) is None


def in_cpu_time(seed: int, count: int, ratio: float, undisturbed: float) -> pairs.Pairs:
    """Pairs of CPU time beside neighbours: most blocks find their data gone from the caches, some do not."""
    noise = random.Random(seed)

    def one(cost: float) -> float:
        return cost * math.exp(noise.gauss(0, 0.002 if noise.random() < undisturbed else 0.04))

    return pairs.Pairs(
        [one(1e-3 * ratio) for _ in range(count)],
        [one(1e-3) for _ in range(count)],
        [noise.random() < 0.5 for _ in range(count)],
        [False] * count,
    )


@pytest.mark.parametrize("undisturbed", [0.0, 0.3])
@pytest.mark.parametrize("count", [14, 30, 80])
def test_the_interval_of_cpu_time_misses_the_truth_no_more_often_than_it_says(count, undisturbed):
    intervals = [pairs.flipped(in_cpu_time(seed, count, 1.02, undisturbed), 0.035, True)[1] for seed in range(100)]
    assert sum(not one.low <= 1.02 <= one.high for one in intervals) <= 9


def test_the_interval_of_cpu_time_is_about_that_of_a_mean_and_far_narrower_where_half_of_the_blocks_are_undisturbed():
    def width(undisturbed):
        found = [pairs.flipped(in_cpu_time(seed, 80, 1.0, undisturbed), 0.05, True)[1] for seed in range(40)]
        return median(one.high - one.low for one in found)

    of_a_mean = 2 * 1.96 * 0.04 * math.sqrt(2 / 80)
    assert width(0.0) < 1.4 * of_a_mean and width(0.5) < 0.4 * of_a_mean


def test_which_estimate_is_taken():
    few, some, many = (invented(1, count, 1.0, **MACHINES["quiet"]) for count in (5, 50, pairs.MOST_CHAINED + 1))
    assert pairs.estimate(few, 0.035) == pairs.ordered(few.ratios(), 0.035)
    assert pairs.estimate(some, 0.035) == pairs.flipped(some, 0.035)
    assert pairs.estimate(many, 0.035) == pairs.ordered(many.ratios(), 0.035)
    assert pairs.estimate(some, 0.035, by_cpu=True) == pairs.flipped(some, 0.035, by_cpu=True)
