"""Lesson 12: its cases do what they claim. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.lessons.l12_profiler import cases
from course.lessons.l12_profiler.experiments import read_gpu_trace
from course.lessons.l12_profiler.probes import _events
from course.trace import trace_of
from tests.lessons.l12_profiler.rows import TRIED, traced


@pytest.mark.parametrize("case", cases.cases(), ids=lambda case: case.name)
def test_a_repair_computes_the_same(case):
    with torch.inference_mode():
        slow, mended = (torch.as_tensor(run()) for run in (case.slow, case.mended))
    assert torch.allclose(slow, mended, rtol=1e-4, atol=1e-4) and slow.dtype == mended.dtype


@pytest.mark.parametrize("case", cases.cases(), ids=lambda case: case.name)
def test_the_planted_line_stands_in_the_trace(case):
    with torch.inference_mode():
        found = trace_of(case.slow, calls=1, warm_ups=0)
    assert any(case.planted in line["code"] for line in found.by_line())


def test_scores_run_several_operations_for_each_row():
    def counted(rows, call):
        table = torch.randn(rows, 4)
        return sum(row["kind"] != "call" for row in trace_of(lambda: call(table), calls=1).rows())

    assert counted(20, cases.scores_slow) > counted(10, cases.scores_slow) + 10
    assert counted(20, cases.scores_mended) == counted(10, cases.scores_mended)


def test_what_pays_for_the_buffer_of_the_profiler_is_not_counted():
    """The first work inside a profile waits for milliseconds; what is counted begins after it, under a label of its own."""
    names = [event.name for event in _events(lambda: torch.ones(3) * 2)]
    assert "aten::mul" in names and not {"aten::item", "aten::zeros"} & set(names)


def test_a_race_is_counted_without_the_changes_of_layout_and_shows_how_often_each_ran():
    found = read_gpu_trace(traced(TRIED, 15.0))
    assert (found.outcome, found.numbers["tried"]) == ("race", 3)
    assert [row["what"].split(" × ")[0] for row in found.drawn if row["name"] == "tried"] == ["2", "2", "1"]
    assert [row["us"] for row in found.drawn if row["name"] != "tried"] == [12.0, 15.0]
