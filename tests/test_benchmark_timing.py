"""The benchmark of the timers: its counts, its tables, its peers on a budget of a moment."""

from __future__ import annotations

import pytest

from benchmarks import timers, timing
from benchmarks.timers import Answer


def test_counts_of_a_planted_difference():
    cell = timing.Cell(3, [Answer(1.03, 1, (1.02, 1.04)), Answer(1.05, 1, (1.04, 1.06)), Answer(0.99, -1),
                           Answer(1.0, 0, (0.9, 1.1))])
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
    assert names == {"ours", "torch blocked", "torch IQRs", "torch adaptive", "timeit best", "do_bench mean",
                     "do_bench median"}
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
