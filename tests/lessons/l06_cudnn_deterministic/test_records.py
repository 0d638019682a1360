"""Records and probes of lesson 06: each outcome of a bet is met on invented rows; what is live keeps its form."""

from __future__ import annotations

import re

import pytest
import torch

from course.experiment import base
from course.lessons.l06_cudnn_deterministic import experiments_cuda
from tests.lessons.l06_cudnn_deterministic.rows import GPU_ROWS, SHOWN, table, trainings
from tests.lessons.live import check_picture, check_shown, measured, record_of

# The rows below are invented test data. Nothing was measured.


def test_agreement_is_never_called_a_promise():
    rows = [{"run": i, "bits": "x", "first_entry": 0.1} for i in range(10)]
    assert "nobody promises" in check_shown(record_of("06-two-lines", rows))


def test_results_and_sets_of_kernels_are_counted_across_processes():
    rows = table(400.0, 300.0, kernels_both=("one", "other", "one"))
    picture = check_picture(record_of("06-truth-table-cuda", rows))
    cells = {line[0]: line[2:] for line in picture.lines[1:]}
    assert cells.pop("benchmark=T, deterministic=T") == ["1", "2", "2"]
    assert list(cells.values()) == [["1", "1", "1"]] * 3


def test_gpu_bits_show_who_varies_and_who_is_refused():
    picture = check_picture(record_of("06-bits-cuda", GPU_ROWS))
    assert picture.lines[1:] == [
        ["scatter_add_", "9 results", "9 results", "1 result"],
        ["cumsum", "1 result", "1 result", "raises"],
    ]
    assert picture.marks == {(0, 1): "told", (0, 2): "told"}


def test_gpu_costs_are_drawn_of_what_could_be_timed():
    picture = check_picture(record_of("06-cost-cuda", SHOWN["06-cost-cuda"]))
    assert "scatter_add_" in picture.alt and "cumsum" not in picture.alt


# --- live, small ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["06-two-lines", "06-threads-sum", "06-company", "06-pieces", "06-one-ulp", "06-toy-table"]
)
def test_live_experiments_run_and_leave_no_trace(name):
    record = measured(name, 60)
    assert record.complete and record.rows
    check_shown(record)


def test_one_thread_and_the_mode_always_agree():
    record = measured("06-cures", 60)
    different = {row["cure"]: row["different"] for row in record.rows}
    assert different["one thread"] == different["algorithms"] == 1
    check_shown(record)


def test_the_toys_that_are_filtered_repeat_and_are_timed():
    for row in measured("06-toy-table", 60).rows:
        assert row["allowed"] == (3 if row["deterministic"] else 4)
        assert row["timed"] == (row["allowed"] if row["benchmark"] else 0)
        if row["deterministic"]:
            assert row["winner"] != "split_atomic" and row["different_bits"] == 1


def test_the_mode_refuses_put_and_fills_empty():
    record = measured("06-who-raises")
    rows = {row["operation"]: row for row in record.rows}
    assert (rows["put_"]["default"], rows["put_"]["error"], rows["put_"]["warn"]) == ("runs", "raises", "warns")
    assert rows["empty"]["error"] == "fills" and rows["conv2d"]["error"] == "runs"
    assert "use_deterministic_algorithms(True)'" in rows["put_"]["said"]
    check_shown(record)


@pytest.mark.long
def test_workers_are_seeded_by_torch_and_the_main_process_is_not():
    record = base.run("06-who-seeds", 120)  # what a process draws unseeded: these must not be forks of one process
    assert base.get("06-who-seeds").settles(record) == {"06-bet-workers": "b"}
    assert not any(
        row["here"] or row["workers"] for row in record.rows if row["setting"] in ("nothing", "deterministic")
    )
    assert all(row["here"] and row["workers"] for row in record.rows if row["setting"] == "all seeds")
    check_shown(record)


def test_the_cost_is_a_whole_row_for_each_operation():
    record = measured("06-cost", 20)  # seconds; a race ends when it is decided, mostly at once
    assert [row["operation"] for row in record.rows] == ["10 places", "100000 places", "torch.empty"]
    assert all(0 < row["low"] <= row["ratio"] <= row["high"] for row in record.rows)
    check_shown(record)


# --- what a GPU may refuse --------------------------------------------------------------------------------------


def test_an_operation_that_refuses_is_told_and_not_fatal(monkeypatch):
    def refuse():
        if torch.are_deterministic_algorithms_enabled():
            raise RuntimeError("made_up does not have a deterministic implementation. More words.")
        return torch.ones(1)

    monkeypatch.setattr(experiments_cuda, "cuda_operations", lambda device, count, size: {"made_up": refuse})
    monkeypatch.setattr(experiments_cuda, "GPU", "cpu")
    rows = base.run("06-bits-cuda", 6).rows
    assert [(row["different"], row["outcome"]) for row in rows] == [(1, "runs"), (1, "runs"), (0, "raises")]
    assert base.run("06-cost-cuda", 6).rows == [
        {"operation": "made_up", "verdict": "raises", "said": "made_up does not have a deterministic implementation"}
    ]


def test_a_training_is_drawn_with_the_number_of_its_own_result():
    """Four, three and three of ten agree: not eight and two that stand alone."""
    rows = trainings(3)
    bits = [row["bits"] for row in rows]
    svg = check_picture(record_of("06-two-lines", rows)).svg()
    numbers = re.findall(r">([123])</text>", svg)
    assert sorted(map(numbers.count, "123")) == sorted(map(bits.count, set(bits))) == [3, 3, 4]
