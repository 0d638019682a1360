"""Records and probes of lesson 06: each outcome of a bet is met on invented rows; what is live keeps its form."""

from __future__ import annotations

import re

import pytest

from course.experiment import base
from tests.lessons.l06_cudnn_deterministic.rows import table, trainings
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


# --- live, small ------------------------------------------------------------------------------------------


def test_one_thread_and_the_mode_always_agree():
    record = measured("06-cures", 60)
    different = {row["cure"]: row["different"] for row in record.rows}
    assert different["one thread"] == different["algorithms"] == 1
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


def test_a_training_is_drawn_with_the_number_of_its_own_result():
    """Four, three and three of ten agree: not eight and two that stand alone."""
    rows = trainings(3)
    bits = [row["bits"] for row in rows]
    svg = check_picture(record_of("06-two-lines", rows)).svg()
    numbers = re.findall(r">([123])</text>", svg)
    assert sorted(map(numbers.count, "123")) == sorted(map(bits.count, set(bits))) == [3, 3, 4]
