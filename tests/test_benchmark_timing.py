"""The benchmark of the timers: its counts, its tables, its peers on a budget of a moment."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from benchmarks import processes, timers, timing
from benchmarks.timers import Answer
from course.timing import measure
from course.timing.processes import Replicates
from course.timing.rounds import Plan
from tests.timing_clocks import NoisyClock, Processes, costing


def test_counts_of_a_planted_difference():
    cell = timing.Cell(
        3, [Answer(1.03, 1, (1.02, 1.04)), Answer(1.05, 1, (1.04, 1.06)), Answer(0.99, -1), Answer(1.0, 0, (0.9, 1.1))]
    )
    assert (cell.truth, cell.found, cell.alarms, cell.covered) == (1.03, 2, 1, 2)
    assert cell.rmse == pytest.approx(100 * ((0.02**2 + 0.04**2 + 0.03**2) / 4) ** 0.5)


def test_equal_code_called_different_either_way_is_an_alarm():
    cell = timing.Cell(0, [Answer(1.0, 0), Answer(1.01, 1), Answer(0.99, -1)])
    assert cell.alarms == 2 and cell.covered is None


def test_a_bare_ratio_is_believed_beyond_half_a_per_cent():
    assert [timers.by_ratio(r).says for r in (0.99, 0.996, 1.0, 1.004, 1.006)] == [-1, 0, 0, 0, 1]


def test_every_method_answers_and_the_tables_hold_them(monkeypatch):
    monkeypatch.setattr(timers, "BUDGET_S", 0.02)
    monkeypatch.setattr(timing, "UNITS", 20)
    results = timing.Results()
    for _ in timing.work("quiet", 2, timing.random.Random(0), results):
        pass
    names = {name for _, name, _ in results.cells}
    assert names == {
        "ours",
        "torch blocked",
        "torch IQRs",
        "torch adaptive",
        "timeit best",
        "do_bench mean",
        "do_bench median",
    }
    assert all(len(cell.answers) == 2 and cell.seconds for cell in results.cells.values())
    text = "\n".join([*timing.comparison_tables(results), *timing.repeat_table(results), *timing.heading(2)])
    assert text.count("| ours  ") == 3 and "of 2" in text and "ours .relative" in text and "torch 2" in text


def test_an_interrupted_run_still_has_tables():
    results = timing.Results({(3, "ours", "quiet"): timing.Cell(3, [Answer(1.03, 1, (1.02, 1.04))], [0.1])})
    lines = list(timing.comparison_tables(results))
    assert any("1 of 1" in line and "0.00 / -" in line for line in lines)
    assert list(timing.repeat_table(timing.Results()))[-1] == ""


def test_do_bench_samples_every_call_on_its_own():
    calls = []
    samples = timers.do_bench_samples(lambda: calls.append(sum(range(2000))), 0.02)
    assert len(samples) < len(calls) and all(s > 0 for s in samples)


def test_the_study_over_processes_counts_verdicts_and_repetitions():
    def found(ratio, seed):
        machine = Processes({"a": 1e-3, "b": ratio * 1e-3}, lambda noise: 1 + noise.gauss(0, 0.03), seed)
        return Replicates(
            Plan("a", 0.005, 10.0, 0.02, True, 10.0, random.Random(seed)), ["a", "b"], machine.open, machine.now
        ).go()

    equal, planted = [found(1.0, seed) for seed in range(3)], [found(1.3, seed) for seed in range(3)]
    lines = processes.comparison_lines(equal, planted)
    assert lines[0][:4] == ["equal code", "3", "0", "0"] and lines[1][3] == "3"
    assert processes.comparison_lines([], [])[0][1] == "0"

    one = measure(costing(1e-3), clock=NoisyClock(1), calibrate=None, max_time=0.05)
    runs = [replace(one, median_ms=ms, low_ms=ms - 0.1, high_ms=ms + 0.1) for ms in (1.0, 1.05, 2.0)]
    assert processes.covered(runs) == (2, 6)
    assert processes.coverage_lines(runs, [])[0][2:] == ["2 of 6", "100.0%"]
