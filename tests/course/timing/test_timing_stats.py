"""The statistics of timing, exact or on seeded streams: intervals, looks, verdicts, quality."""

from __future__ import annotations

import math
import random

import pytest

from course.timing import stats
from tests.conftest import tries


def test_interval_of_the_median_is_the_textbook_one():
    values = list(range(1, 11))
    interval = stats.median_interval(values, 0.05)
    assert (interval.low, interval.high) == (2, 9)
    few = stats.median_interval([3.0, 1.0, 2.0], 0.05)
    assert (few.low, few.high) == (1.0, 3.0)


def test_false_alarms_of_all_looks_together_stay_below_five_percent():
    """Exact: with equal code the number of ratios above 1 is a fair walk; sum what every look rejects."""
    for last in (12, 13, 20, 30, 50, 100, 130, 400, 1000, 1500):
        assert _chance_of_false_alarm(last) <= 0.05


def _chance_of_false_alarm(last: int) -> float:
    alive = {0: 1.0}
    rejected = 0.0
    for rounds in range(1, last + 1):
        step: dict[int, float] = {}
        for above, chance in alive.items():
            step[above] = step.get(above, 0.0) + chance / 2
            step[above + 1] = step.get(above + 1, 0.0) + chance / 2
        alive = step
        if rounds == last or rounds in (12, 24, 48, 96, 192, 384, 768, 1536):
            k = stats.rank(rounds, stats.LAST_ERROR if rounds == last else stats.INTERIM_ERROR)
            for above in [a for a in alive if min(a, rounds - a) < k]:
                rejected += alive.pop(above)
    return rejected


@pytest.mark.parametrize(
    "low, high, ratio, verdict",
    [
        (0.90, 0.95, 0.93, "faster"),
        (0.90, 0.999, 0.93, "undecided"),
        (1.02, 1.05, 1.03, "slower"),
        (0.99, 1.01, 1.0, "same"),
        (0.95, 1.01, 0.98, "undecided"),
        (0.994, 0.999, 0.997, "same"),
        (0.975, 0.998, 0.99, "faster"),
    ],
)
def test_verdict_follows_from_the_interval(low, high, ratio, verdict):
    assert stats.decide(stats.Interval(low, high), ratio, 0.005, 0.02, 0.0015) == verdict


@pytest.mark.parametrize(
    ("low", "high", "ratio", "settled"),
    [
        (1.004, 1.013, 1.0085, True),  # told: slower by about 1 %
        (1.002, 1.0115, 1.0068, False),  # narrow, yet the difference is not told: a little more data may tell it
        (0.996, 1.005, 1.0005, True),  # narrow, and the difference is none that was asked for
        (0.9885, 0.998, 0.9932, False),
        (1.03, 1.11, 1.07, True),  # clear of the gate
        (1.03, 1.19, 1.07, False),
    ],
)
def test_measuring_ends_where_more_would_change_no_verdict(low, high, ratio, settled):
    interval = stats.Interval(low, high)
    assert stats.settled(interval, ratio, 0.005, 0.02) is settled


@pytest.mark.parametrize(
    "values, found",
    [
        ([1 + 0.01 * i for i in range(100)], 1.60),
        ([2 - 0.01 * i for i in range(100)], 0.60),
        ([1.0] * 100, None),
        ([1.0, 3.0] * 50, None),
        ([1 + 0.001 * i for i in range(100)], None),
        ([1.0] * 50 + [2.0] * 20 + [1.0] * 30, None),
        ([1.0, 2.0, 3.0, 4.0], None),
        ([5.0] * 5 + [1.0] * 1000, None),
    ],
)
def test_only_what_climbs_or_falls_throughout_drifts(values, found):
    drift = stats.drift(values)
    assert drift is None if found is None else drift[1] / drift[0] == pytest.approx(found, abs=0.1)


@pytest.mark.parametrize("slow, fast, count", [(10.0, 1.0, 40), (1.0, 3.0, 9), (2.0, 1.0, 500), (1.5, 1.0, 8)])
def test_a_late_warm_up_is_found(slow, fast, count):
    """A beginning of calls that take another time than all later ones, in noise of 2 % and rare hiccups."""
    noise = random.Random(count)

    def one(middle):
        return middle * math.exp(noise.gauss(0, 0.02)) * (3 if noise.random() < 0.05 else 1)

    first, last = stats.drift([*(one(slow) for _ in range(count)), *(one(fast) for _ in range(2000))])
    assert last / first == pytest.approx(fast / slow, rel=0.05)


@pytest.mark.parametrize(
    "p, freedom, textbook",
    [(0.975, 1, 12.706), (0.975, 3, 3.182), (0.995, 10, 3.169), (0.999, 3, 10.215), (0.975, 120, 1.980)],
)
def test_quantiles_of_students_t_are_the_textbook_ones(p, freedom, textbook):
    assert stats.t_quantile(p, freedom) == pytest.approx(textbook, abs=2e-3)


def test_quality_is_stable_noisy_drifting_or_few():
    rng, kind = random.Random(5), stats.quality
    calls = [kind([rng.gauss(1, 0.02) for _ in range(200)]) for _ in range(100)]
    calls += [kind([1 + rng.expovariate(1) * 0.03 for _ in range(200)]) for _ in range(100)]
    assert calls.count("stable") >= 198
    assert kind([rng.uniform(0.5, 1.5) for _ in range(200)]) == "noisy"
    assert (kind([1.0] * 5), kind([1.0] * 50)) == ("few", "stable")
    assert kind([1 + 0.01 * i for i in range(100)]) == "drifting"


def test_the_interval_over_processes_is_students_on_logarithms():
    assert stats.process_interval([1.1, 1.2]) is None
    interval = stats.process_interval([math.exp(x) for x in (0.0, 0.1, 0.2)])
    assert math.log(interval.high) == pytest.approx(0.1 + 4.303 * 0.1 / math.sqrt(3), abs=1e-3)


# ---- the interval of a ratio from pairs of blocks, on invented machines whose truth is known --------------------


MACHINES = {
    "quiet": {"flip": 0.0, "jitter": 0.003, "hiccup": 0.01},
    "two speeds": {"flip": 0.2, "jitter": 0.006, "hiccup": 0.05},
    "wild": {"flip": 0.5, "jitter": 0.05, "hiccup": 0.3},
}


def invented(seed, count, ratio, flip, jitter, hiccup):
    """Ratios on a machine that changes between two speeds (flip: chance before each block) and sometimes holds a block up."""
    noise, speed, ratios = random.Random(seed), 0.0, []
    for _ in range(count):
        first, times = noise.random() < 0.5, []
        for _ in range(2):
            speed = noise.choice((0.0, 0.6)) if noise.random() < flip else speed
            times.append(speed + noise.gauss(0, jitter) + (noise.random() < hiccup) * noise.random())
        candidate, baseline = times if first else times[::-1]
        ratios.append(ratio * math.exp(candidate - baseline))
    return ratios


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("count", [12, 24, 100, 1100])
@pytest.mark.parametrize("seeds", tries(100, 300))
def test_the_interval_of_a_ratio_misses_the_truth_no_more_often_than_it_says(machine, count, seeds):
    """Nominal: 3.5 of 100; 10 of 100, or 21 of 300, are seen by chance two or three times in a thousand."""
    missed = 0
    for seed in range(seeds):
        centre, interval = stats.ratio_interval(invented(seed, count, 1.03, **MACHINES[machine]), 0.035)
        missed += not interval.low <= 1.03 <= interval.high
        assert interval.low <= centre <= interval.high
    assert missed <= (20 if seeds == 300 else 9)


def test_the_signed_ranks_have_the_error_they_say_exactly():
    """How many sums of signed ranks lie outside, counted; and at 20 pairs the textbook's 52 (5 %, two-sided)."""
    noise = random.Random(1)
    for count in (12, 20, 50, 100):
        ways = [1]
        for rank in range(1, count + 1):
            ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways, strict=True)]
        logs = sorted(noise.uniform(-1, 1) for _ in range(count))
        means = sorted((a + b) / 2 for at, a in enumerate(logs) for b in logs[at:])
        for error in (0.05, 0.01, 0.0015):
            interval = stats._signed_ranks([math.exp(x) for x in logs], error)[1]
            outside = sum(math.exp(mean) < interval.low * (1 - 1e-12) for mean in means)
            exact = 2 * sum(ways[: outside + 1]) / 2**count if interval.low else 0.0
            assert exact <= error and (count < 50 or exact > 0.5 * error)
            assert count != 20 or error != 0.05 or outside == 52
