"""Lesson 02: the picture of the queue, and what the summaries claim beside their controls."""

from __future__ import annotations

from course.core.records import Record
from course.experiment.base import load_all, run
from course.experiment.reading import TOO_NOISY
from course.experiment.rows import groups
from course.lessons.l02_timing.experiments import STORIES
from course.lessons.l02_timing.experiments_repeats import read_planted_difference
from course.lessons.l02_timing.toy_device import ToyDevice
from tests.lessons.l02_timing.rows import readings, told


def record(name: str, rows: list[dict]) -> Record:
    return Record(name, 1, "02_timing", {"device": "cpu"}, rows)


def test_the_queue_is_drawn_as_it_ran():
    """Whatever the machine does, the device works in order, and a clock stopped behind a fence has seen the kernel end."""
    found = groups(run("02-queue").rows, "story")
    assert len(found) == 2
    for story, rows in found.items():
        span = {row["what"]: (row["start_ms"], row["end_ms"]) for row in rows}
        assert (span["reading"][1] >= span["kernel"][1]) == STORIES[story]
        assert span["kernel"][1] - span["kernel"][0] >= 19.9


def test_a_clock_stopped_too_early_is_said():
    sentence = load_all()["02-queue"].headline(record("02-queue", told("no fence", 10.0)))
    assert "40 ms" in sentence["en"] and "40 ms" in sentence["zh"]


def test_a_toy_kernel_tells_when_it_ran():
    with ToyDevice() as toy:
        first, second = toy.launch(5), toy.launch(5)
        assert first.span()[1] - first.span()[0] >= 0.005 and second.span()[0] >= first.span()[1]


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
        found = record("02-five-stopwatches", doubtful)
        assert experiment.headline(found) == TOO_NOISY and experiment.settles(found) == {"02-bet-one-fence": None}
