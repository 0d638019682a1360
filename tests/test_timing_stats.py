"""The statistics of timing, exact or on seeded streams: intervals, looks, verdicts, quality."""

from __future__ import annotations

import math
import random

import pytest

from course.timing import stats, verdicts


def test_interval_of_the_median_is_the_textbook_one():
    values = list(range(1, 11))
    interval = stats.median_interval(values, 0.05)
    assert (interval.low, interval.high) == (2, 9)
    assert interval.confidence == pytest.approx(1 - 2 * 11 / 1024)


def test_too_few_values_give_the_range_and_its_true_confidence():
    interval = stats.median_interval([3.0, 1.0, 2.0], 0.05)
    assert (interval.low, interval.high) == (1.0, 3.0)
    assert interval.confidence == pytest.approx(0.75)
    assert stats.median_interval([7.0]).confidence == 0


def test_large_samples_agree_with_the_exact_rank():
    for count in (1999, 2001):
        k, outside = stats.rank(count, 0.05)
        assert abs(k - (count / 2 - 1.96 * math.sqrt(count) / 2)) < 2
        assert outside <= 0.05


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
        if rounds == last or verdicts.is_look(rounds):
            k, _ = stats.rank(rounds, verdicts.error_at(rounds, final=rounds == last))
            for above in [a for a in alive if min(a, rounds - a) < k]:
                rejected += alive.pop(above)
    return rejected


def test_looks_double():
    assert [n for n in range(1, 400) if verdicts.is_look(n)] == [12, 24, 48, 96, 192, 384]


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
    assert verdicts.decide(stats.Interval(low, high, 0.99), ratio, 0.005, 0.02, 0.05, 0.0015) == verdict


def test_no_verdict_without_the_confidence():
    assert verdicts.decide(stats.Interval(0.5, 0.6, 0.75), 0.55, 0.005, 0.02, 0.05) == "undecided"


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
    interval = stats.Interval(low, high, 0.997)
    assert verdicts.settled(interval, ratio, 0.005, 0.02, 0.003, place=verdicts.PLACE) is settled


def test_quality_tells_one_group_from_two():
    rng = random.Random(5)

    kind = stats.quality
    calls = [kind([rng.gauss(1, 0.02) for _ in range(200)]) for _ in range(100)]
    calls += [kind([rng.uniform(0.97, 1.03) for _ in range(200)]) for _ in range(100)]
    calls += [kind([1 + rng.expovariate(1) * 0.03 for _ in range(200)]) for _ in range(100)]
    assert calls.count("stable") >= 297
    assert kind([rng.gauss(rng.choice((1, 1.3)), 0.02) for _ in range(200)]) == "bimodal"
    assert kind([rng.uniform(0.5, 1.5) for _ in range(200)]) == "noisy"
    assert kind([1.0] * 5) == "few"
    assert kind([1.0] * 50) == "stable"


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
    ],
)
def test_only_what_climbs_or_falls_throughout_drifts(values, found):
    drift = stats.drift(values)
    assert drift is None if found is None else drift.last / drift.first == pytest.approx(found, abs=0.1)
    assert drift is None or (drift.steady and drift.climbs == (found > 1))


@pytest.mark.parametrize("slow, fast, count", [(10.0, 1.0, 40), (1.0, 3.0, 9), (2.0, 1.0, 500), (1.5, 1.0, 8)])
def test_a_late_warm_up_is_found_with_its_length(slow, fast, count):
    """A beginning of calls that take another time than all later ones, in noise of 2 % and rare hiccups."""
    noise = random.Random(count)

    def one(middle):
        return middle * math.exp(noise.gauss(0, 0.02)) * (3 if noise.random() < 0.05 else 1)

    drift = stats.drift([*(one(slow) for _ in range(count)), *(one(fast) for _ in range(2000))])
    assert drift and not drift.steady and drift.climbs == (fast > slow)
    assert drift.last / drift.first == pytest.approx(fast / slow, rel=0.05) and 1 <= drift.count <= 1.5 * count


def test_a_few_slow_values_at_first_are_no_drift():
    assert stats.drift([5.0] * 5 + [1.0] * 1000) is None


def test_too_few_values_and_values_without_a_width_carry_no_interval():
    assert [stats.enough(n) for n in (0, 1, 11, 12, 500)] == [False, False, False, True, True]
    spread = [1 + 0.01 * n for n in range(20)]
    assert (
        stats.interval_or_none([]) is stats.interval_or_none(spread[:11]) is stats.interval_or_none([2.0] * 50) is None
    )
    assert stats.interval_or_none(spread) == stats.median_interval(spread)
    assert stats.shown(stats.Interval(0.0, math.inf, 0.95), 12) is None


def test_noise_alone_hardly_ever_drifts():
    noise = random.Random(3)
    assert sum(bool(stats.drift([noise.lognormvariate(0, 0.5) for _ in range(40)])) for _ in range(2000)) <= 2


@pytest.mark.parametrize(
    "p, freedom, textbook",
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 4, 2.776),
        (0.95, 7, 1.895),
        (0.995, 10, 3.169),
        (0.999, 3, 10.215),
        (0.975, 120, 1.980),
    ],
)
def test_quantiles_of_students_t_are_the_textbook_ones(p, freedom, textbook):
    assert stats.t_quantile(p, freedom) == pytest.approx(textbook, abs=2e-3)


def test_too_few_processes_carry_no_interval():
    assert stats.process_interval([1.1, 1.2]) is stats.repetition_interval([1.1, 1.2]) is None


def test_the_interval_over_processes_is_students_on_logarithms():
    interval = stats.process_interval([math.exp(x) for x in (0.0, 0.1, 0.2)])
    assert math.log(interval.high) == pytest.approx(0.1 + 4.303 * 0.1 / math.sqrt(3), abs=1e-3)
    assert stats.geometric_mean([1.0, 4.0]) == pytest.approx(2)
    with pytest.raises(ValueError, match="at least one"):
        stats.geometric_mean([])


def test_processes_are_looked_at_after_four_eight_sixteen():
    assert [n for n in range(1, 70) if verdicts.is_look(n, verdicts.FIRST_PROCESS_LOOK)] == [4, 8, 16, 32, 64]
    assert verdicts.error_at(4, True, 1, verdicts.FIRST_PROCESS_LOOK) == stats.TOTAL_ERROR
    assert verdicts.error_at(8, False, 2, verdicts.FIRST_PROCESS_LOOK) == verdicts.INTERIM_ERROR / 2
