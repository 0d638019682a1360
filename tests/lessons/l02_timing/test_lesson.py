"""Lesson 02: every exercise and task gives the verdict it should, every bet is settled by its experiment."""

from __future__ import annotations

import json
from statistics import fmean, median
from time import perf_counter

import pytest
import torch

from course.exercise import MISSING, all_exercises, judge
from course.experiment.base import load_all
from course.lessons.l02_timing.exercises import cut
from course.lessons.l02_timing.toy_device import ToyDevice
from course.lessons.l02_timing.virtual_device import VirtualDevice
from course.records import Record
from course.timing import compare
from course.timing.stats import median_interval as interval_of
from grader.lessons.l02_timing.tasks import TASKS
from tests.conftest import ROOT
from tests.lessons.l02_timing.rows import BETS, MORE

LESSON = "02_timing"
TASK = {task.id: task for task in TASKS}


def state(exercise_id: str, obj: object) -> str:
    return judge(all_exercises()[exercise_id], obj).state


def solution_of(exercise_id: str) -> object:
    exercise = all_exercises()[exercise_id]
    space = {"median": median, "cut": cut}
    exec(exercise.solution, space)
    return space[exercise.name]


# --- exercises -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise_id", ["02-stopwatch", "02-median-interval", "02-paired-ratio"])
def test_the_solution_is_correct_and_nothing_is_not_attempted(exercise_id):
    assert state(exercise_id, solution_of(exercise_id)) == "correct"
    assert state(exercise_id, ...) == state(exercise_id, MISSING) == "not attempted"
    assert state(exercise_id, lambda *inputs: ...) in ("not attempted", "incorrect")
    assert len(all_exercises()[exercise_id].hints) == 3


def no_fence(run, synchronize, clock):
    start = clock()
    run()
    return (clock() - start) * 1e3


def fence_before_only(run, synchronize, clock):
    synchronize()
    return no_fence(run, synchronize, clock)


def fence_after_only(run, synchronize, clock):
    start = clock()
    run()
    synchronize()
    return (clock() - start) * 1e3


def in_seconds(run, synchronize, clock):
    synchronize()
    return fence_after_only(run, synchronize, clock) / 1e3


def runs_twice(run, synchronize, clock):
    run()
    synchronize()
    return fence_after_only(run, synchronize, clock)


def fence_of_torch(run, synchronize, clock):
    torch.cuda.synchronize()
    return no_fence(run, synchronize, clock)


@pytest.mark.parametrize(
    "wrong, word",
    [
        (fence_of_torch, "before it stops" if torch.cuda.is_available() else "you are given"),
        (no_fence, "before it stops"),
        (fence_before_only, "before it stops"),
        (fence_after_only, "old work"),
        (in_seconds, "seconds"),
        (runs_twice, "more than once"),
        (lambda run, fence, clock: 20.0, "never called"),
        (lambda run, fence, clock: "20 ms", "one number"),
        (lambda run, fence, clock: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_stopwatch_is_told_why(wrong, word):
    verdict = judge(all_exercises()["02-stopwatch"], wrong)
    assert verdict.state == "incorrect" and word in verdict.messages[0]["en"]


def whole_range(samples):
    return median(samples), min(samples), max(samples)


def mean_in_front(samples):
    _, low, high = solution_of("02-median-interval")(samples)
    return fmean(samples), low, high


def unsorted_ends(samples):
    k = cut(len(samples))
    return median(samples), samples[k], samples[-1 - k]


def one_too_far(samples):
    ordered, k = sorted(samples), cut(len(samples)) + 1
    return median(ordered), ordered[k], ordered[-1 - k]


def sorts_in_place(samples):
    samples.sort()
    return solution_of("02-median-interval")(samples)


@pytest.mark.parametrize(
    "wrong", [whole_range, mean_in_front, unsorted_ends, one_too_far, sorts_in_place, lambda samples: median(samples)]
)
def test_a_wrong_interval_is_incorrect(wrong):
    assert state("02-median-interval", wrong) == "incorrect"


def test_the_placeholders_of_the_notebook_are_not_attempted():
    assert state("02-median-interval", lambda samples: (..., ..., ...)) == "not attempted"
    assert state("02-paired-ratio", lambda baseline, candidate: ...) == "not attempted"
    assert state("02-lose", {"naive_ratio": ..., "comparison": ...}) == "not attempted"


@pytest.mark.parametrize(
    "wrong, word",
    [
        (lambda b, c: median(c) / median(b), "torn apart"),
        (lambda b, c: fmean(c) / fmean(b), "means"),
        (lambda b, c: median([x / y for x, y in zip(b, c, strict=True)]), "other way round"),
        (lambda b, c: fmean([y / x for x, y in zip(b, c, strict=True)]), "the one disturbed pair"),
        (lambda b, c: [y / x for x, y in zip(b, c, strict=True)], "one number"),
    ],
)
def test_a_wrong_ratio_is_told_why(wrong, word):
    verdict = judge(all_exercises()["02-paired-ratio"], wrong)
    assert verdict.state == "incorrect" and word in verdict.messages[0]["en"]


def test_the_race_of_the_notebook_is_not_lost_yet():
    """Running the cells as they come must not earn anything; three tries, for clocks are clocks."""
    cells = json.loads((ROOT / "notebooks/en/lessons/02_timing.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = [text for text in code if "naive_ms" in text]
    assert len(source) == 2
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seen = []
    try:
        for _ in range(3):
            names = {"torch": torch, "perf_counter": perf_counter, "compare": compare, "check": lambda *_: None}
            exec("\n".join(source), names)
            seen.append(state("02-lose", names["evidence"]))
    finally:
        torch.set_num_threads(threads)
    assert set(seen) != {"correct"}


@pytest.mark.parametrize("wrong", [1.4, {"naive_ratio": 1.4}, {"naive_ratio": 1.4, "comparison": 0.8}])
def test_losing_without_evidence_is_incorrect(wrong):
    assert state("02-lose", wrong) == "incorrect"


@pytest.mark.parametrize("count", [6, 7, 11, 12, 20, 41, 100])
def test_cut_agrees_with_the_interval_of_the_timing_package(count):
    ordered = [float(v) for v in range(count)]
    interval = interval_of(ordered)
    assert (ordered[cut(count)], ordered[-1 - cut(count)]) == (interval.low, interval.high)


def test_cut_of_few_readings_is_none():
    assert [cut(n) for n in (1, 3, 5)] == [None] * 3


# --- bets and sentences --------------------------------------------------------------------------------


def record(name: str, rows: list[dict]) -> Record:
    return Record(name, 1, LESSON, {"device": "cpu"}, rows)


@pytest.mark.parametrize("name, bet, outcomes", BETS)
def test_the_experiment_settles_its_bet_every_way(name, bet, outcomes):
    experiment = load_all()[name]
    for rows, expected in outcomes:
        found = record(name, rows)
        assert experiment.settles(found) == {bet: expected}
        sentence = experiment.finding(found)
        assert sentence["en"] and sentence["zh"]
        if rows and expected is None and name in ("02-first-call", "02-same-code-twice", "02-threads"):
            assert "Inconclusive" in sentence["en"] and "无法判定" in sentence["zh"]


def test_every_bet_of_the_lesson_is_settled_here_and_its_options_can_all_win():
    from course.quiz.bank import load_bank

    settled = {bet: (name, {option for _, option in outcomes if option}) for name, bet, outcomes in BETS}
    bets = [item for item in load_bank().items(LESSON) if item.kind == "predict"]
    assert {item.id: (item.experiment, {option.id for option in item.options}) for item in bets} == settled


def test_the_interruptions_move_the_mean_only():
    sentence = load_all()["02-interruptions"].finding(record("02-interruptions", MORE["02-interruptions"]))
    assert "+50.0 %" in sentence["en"] and "+0.0 %" in sentence["en"]


# --- devices -------------------------------------------------------------------------------------------


def test_the_toy_device_launches_at_once_and_fences():
    with ToyDevice() as toy:
        start, kernel = toy.event(), toy.launch(400)
        end = toy.event()
        assert not kernel.done() and toy.waiting() >= 2
        toy.synchronize()
        assert kernel.done() and toy.waiting() == 0
        assert start.elapsed_ms(end) >= 399
        with pytest.raises(ValueError, match="0 or more"):
            toy.launch(-1)


def test_virtual_time_only_moves_by_work():
    device = VirtualDevice()
    device.launch(20)
    assert device.clock() < 1e-3
    device.synchronize()
    assert 0.020 <= device.clock() < 0.021
