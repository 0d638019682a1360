"""Lesson 12: its cases do what they claim. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.lessons.l12_profiler import cases
from course.lessons.l12_profiler.experiments import read_gpu_trace
from course.trace import trace_of
from tests.lessons.live import as_rows


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


def test_a_race_is_counted_without_the_changes_of_layout_and_shows_how_often_each_ran():
    found = read_gpu_trace(traced(TRIED, 15.0))
    assert (found.outcome, found.numbers["tried"]) == ("race", 3)
    assert [row["what"].split(" × ")[0] for row in found.drawn if row["name"] == "tried"] == ["2", "2", "1"]
    assert [row["us"] for row in found.drawn if row["name"] != "tried"] == [12.0, 15.0]


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


SETTINGS = ("control", "profile", "shapes", "stack", "whole")


def columns(total):
    return [{"trace": n, "operations": 15, "total": total + 0.01 * n, "self": 0.9} for n in range(12)]


def repairs(photos, layers, scores):
    code = "pixels = (pixels - mean) / spread"
    return as_rows(
        "case code named overhead reorder_share ratio low high verdict",
        *(
            (name, code, name != "layers", 0.2, reordered, ratio, ratio - 0.02, ratio + 0.02, "faster")
            for name, reordered, ratio in (("photos", 0.0, photos), ("layers", 0.3, layers), ("scores", 0.0, scores))
        ),
    )


def costs(few, many, control=1.0):
    """Twelve rounds in which profile() makes the works slower by these factors."""
    return [
        {"round": n, "work": work, "setting": one, "ratio": (control if one == "control" else ratio) + 0.001 * n}
        for n in range(12)
        for work, ratio in (("few large", few), ("many small", many))
        for one in SETTINGS
    ]


def launches(story, call, *names, us=12.0):
    """The kernels of one call in the order of time, each of so many µs."""
    return as_rows("story call place kernel us", *((story, call, at, name, us) for at, name in enumerate(names, 1)))


def traced(tried, later_us):
    """Three calls with the search off and on: what the first tries, and how long the later calls take."""
    return [
        *(row for call in (1, 2, 3) for row in launches("search off", call, "nchwToNhwcKernel", "one_kernel", us=6.0)),
        *launches("copy", 1, "Memcpy HtoD (Pageable -> Device)"),
        *launches("wait", 1, "aten::item"),
        *launches("wait", 2, "aten::item", us=270.0),
        *launches("search on", 1, *tried),
        *(row for call in (2, 3) for row in launches("search on", call, tried[-1], us=later_us)),
    ]


TRIED = ("nchwToNhwcKernel", "one_kernel", "one_kernel", "other_kernel", "other_kernel", "third_kernel")
ROWS = {
    "12-bet-total": {"a": columns(0.5), "b": columns(0.95), "c": columns(3.6)},
    "12-bet-repair": {"a": repairs(0.2, 0.7, 0.5), "b": repairs(0.6, 0.2, 0.5), "c": repairs(0.6, 0.7, 0.1)},
    "12-bet-cost": {"a": costs(2.0, 1.1), "b": costs(1.01, 1.8), "c": costs(1.3, 1.3)},
}
FURTHER = {
    "12-bet-total": [(columns(1.22), None)],
    "12-bet-repair": [
        (repairs(0.5, 0.51, 0.52), None),
        (repairs(0.99, 1.0, 1.01), None),
        (repairs(0.5, 0.51, 1.5), None),
        (repairs(1.1, 1.2, 1.3), "a"),
    ],
    "12-bet-cost": [(costs(1.3, 1.3, control=1.5), None)],
}
BRANCHES = {
    "12-gpu-trace-cuda": [traced(TRIED, 15.0), traced(("one_kernel",), 12.0), launches("search on", 1, "one_kernel")]
}
