"""Records and probes of lesson 06: each outcome of a bet is met on invented rows; what is live keeps its form."""

from __future__ import annotations

import re

import pytest
import torch

from course.experiment import base
from course.lessons.l06_cudnn_deterministic import experiments_cuda
from tests.lessons.l06_cudnn_deterministic.rows import GPU_ROWS, SHOWN, costs, table
from tests.lessons.live import check_picture, check_shown, measured, record_of

# The rows below are invented test data. Nothing was measured.


def test_agreement_is_never_called_a_promise():
    rows = [{"run": i, "bits": "x", "first_entry": 0.1} for i in range(10)]
    assert "promised" in check_shown(record_of("06-two-lines", rows))


def test_one_set_of_kernels_is_one_whatever_the_order_of_times_and_the_rest_is_named():
    name = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nchwkcrs_nchw_tilesize{}_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel"
    rows = table(400.0, 300.0)
    said = check_shown(record_of("06-truth-table-cuda", rows))
    assert said.count("1 set(s) of kernels") == 4
    rows[0] = {**rows[0], "kernels": name.format("64x64")}
    rows[1] = {**rows[1], "kernels": name.format("128x64")}
    rows[2] = {**rows[2], "kernels": name.format("64x64")}
    said = check_shown(record_of("06-truth-table-cuda", rows))
    assert (
        "2 set(s) of kernels (" in said and "tilesize64x64" in said and "tilesize128x64" in said and "xmma" not in said
    )


def test_gpu_bits_name_who_varies_and_who_is_refused():
    sentence = check_shown(record_of("06-bits-cuda", GPU_ROWS))
    assert ": none" in sentence and "algorithms: cumsum" in sentence
    assert sentence.count("scatter_add_") == 2


def test_gpu_costs_are_told_and_drawn():
    rows = [
        {**costs("slower", "same", "same")[0], "operation": "scatter_add_"},
        {"operation": "cumsum", "verdict": "raises", "said": "no"},
    ]
    assert "cumsum" in check_shown(record_of("06-cost-cuda", rows))


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
    rows = SHOWN["06-two-lines"]
    bits = [row["bits"] for row in rows]
    svg = check_picture(record_of("06-two-lines", rows)).svg()
    numbers = re.findall(r">([123])</text>", svg)
    assert sorted(map(numbers.count, "123")) == sorted(map(bits.count, set(bits))) == [3, 3, 4]
