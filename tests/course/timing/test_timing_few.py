"""Too few rounds, and rounds that have to end in time: what they have by then is kept, and carries no interval anywhere."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from course.core.i18n import LANGUAGES, set_language
from course.experiment import base
from course.experiment.result import block
from course.game import cases
from course.lessons.l10_tuning_master import game, panel
from course.lessons.l10_tuning_master.panel import FEW
from course.roofline.layer import Peaks, row_of
from course.timing import compare, measure
from course.timing import rounds as timed
from course.timing.rounds import rounds_end_within
from course.timing.stats import FEWEST_ROUNDS
from tests.course.experiment.test_every_experiment import EXPERIMENTS, records
from tests.support.timing_clocks import Cost, NoisyClock

INTERVAL = re.compile(r"\[[^\[\]]*\d[^\[\]]*, [^\[\]]*\d[^\[\]]*\]")
"""Two numbers in square brackets."""


def with_rounds(record, rounds):
    """The record as it would be had it stopped after so many rounds."""
    first = [row for row in record.rows if row.get("round", 0) < rounds]
    repeats = not any(base.ENDS & row.keys() for row in record.rows)  # then each row is one, else it may count them
    rows = [
        {
            key: rounds if key == "rounds" else value[:rounds] if isinstance(value, list) else value
            for key, value in row.items()
        }
        for row in (first[:rounds] if repeats and first == record.rows else first)
    ]
    return replace(record, rows=[kept for row in rows if (kept := EXPERIMENTS[record.experiment].kept(row))])


def told(record, code):
    """All that a learner reads of a record, without its table of rows and the list of a value's own brackets."""
    set_language(code)
    return str(block(record, EXPERIMENTS[record.experiment]))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_no_interval_is_written_of_too_few_rounds(name):
    for record in records(name):
        if any(base.ENDS & row.keys() and "rounds" not in row for row in record.rows):
            continue  # its rows say their interval, not of how many rounds it came
        for number, rounds in enumerate((1, 5, 6, FEWEST_ROUNDS - 1)):  # from 6 on a median has an interval
            said = told(with_rounds(record, rounds), LANGUAGES[number % 2])
            assert not INTERVAL.search(said), f"{rounds} rounds: {said}"


def test_a_record_keeps_only_rows_whose_rounds_carry_their_interval(monkeypatch):
    few, many = ({"ratio": 2.0, "low": 1.0, "high": 3.0, "rounds": rounds} for rounds in (11, 12))
    assert not base.has_interval(few) and base.has_interval(many)
    name, experiment = next(iter(EXPERIMENTS.items()))
    found = base.Record(name, experiment.version, experiment.lesson, {}, [few, many])
    monkeypatch.setattr(base, "nearest", lambda *_, **__: found)
    assert base.recording(replace(experiment, clockless=False)).rows == [many]
    assert base.recording(replace(experiment, clockless=True)).rows == [{**few, "low": None, "high": None}, many]


def test_a_row_that_was_left_out_is_named_beside_those_that_are_drawn():
    record = next(iter(records("05-toy-race")))
    cut = replace(record, rows=record.rows[:1], few=(3,), complete=False, live=True)
    assert "有 1 行没有画出来：" in told(cut, "zh")


@pytest.mark.parametrize("rounds", [1, 11, 12])
def test_a_layer_has_a_range_from_twelve_rounds_on(rounds):
    peaks = Peaks(1e11, 1e10, "float32", "cpu", 1, {}, "2026-01-01T00:00:00Z")
    samples = tuple(1.0 + 0.1 * number for number in range(rounds))
    row = row_of("a", "Linear", 1, (10**6, 10**6), samples, peaks)
    wide = rounds >= FEWEST_ROUNDS
    assert (row["low_ms"] is not None) == (row["share_of_roof_low"] is not None) == wide
    assert not wide or row["low_ms"] < row["time_ms"] < row["high_ms"]


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
    monkeypatch.setattr(timed, "time", SimpleNamespace(**{**vars(time), "monotonic": pretended.now}))
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


def test_a_case_looks_at_its_requirements_before_it_takes_rounds(monkeypatch):
    monkeypatch.setattr(base, "PATIENCE", 100)  # on a busy machine the requirements alone take longer than its limit
    case = cases.find("10-bank")
    advice = panel.plan_of(case).advice
    with rounds_end_within(0):
        found = game.measure(case, [advice]).outcomes
    assert [one["facts"].keys() for one in found.values()] == [{"error"}] * 2
    assert FEW in [one["verdict"] for one in found.values()]
