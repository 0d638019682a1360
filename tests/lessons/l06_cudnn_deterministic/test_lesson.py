"""Lesson 06: its questions meet the claims, its toys compute what they should. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.experiment.new_process import answer_of
from course.lessons.l06_cudnn_deterministic import training as toy_repro
from tests.lessons.l06_cudnn_deterministic.rows import table
from tests.lessons.live import check_picture, check_shown, measured, record_of


def test_small_training_repeats_itself_and_pieces_change_its_bits():
    one, again, cut = (toy_repro.small_training(pieces=n) for n in (1, 1, 4))
    assert one.equal(again) and not one.equal(cut)
    torch.testing.assert_close(one, cut, atol=1e-5, rtol=1e-5)
    assert toy_repro.fingerprint(one) == toy_repro.fingerprint(again) != toy_repro.fingerprint(cut)
    threads = torch.get_num_threads()
    with pytest.raises(ValueError, match="1 to 16"):
        toy_repro.small_training(pieces=0)
    assert torch.get_num_threads() == threads


DRAWN = """
import torch
torch.set_num_threads(1)
torch.manual_seed(0)
drawn = {"capability": torch.backends.cpu.get_cpu_capability(), "randn": torch.randn(1000).tolist(), "rand": torch.rand(1000).tolist()}
answer({**drawn, "softmax": torch.arange(4096.0).sin().mul(5).softmax(0).tolist()})
"""


@pytest.mark.slow
def test_other_instructions_give_other_bits_for_one_seed_and_one_thread():
    here, other = (answer_of(DRAWN, variables={"ATEN_CPU_CAPABILITY": one})[0] for one in (None, "default"))
    if here["capability"] == other["capability"]:
        pytest.skip("this CPU has no instructions that could be left out")
    assert here["rand"] == other["rand"]
    assert here["randn"] != other["randn"] and here["softmax"] != other["softmax"]


def test_the_workspace_variable_is_still_documented_for_rnn_and_lstm_alone():
    named = [one.__name__ for one in (torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM) if "determinism" in one.__doc__]
    assert named == ["RNN", "LSTM"]


def test_results_and_sets_of_kernels_are_counted_across_processes():
    rows = table(400.0, 300.0, kernels_both=("one", "other", "one"))
    picture = check_picture(record_of("06-truth-table-cuda", rows))
    cells = {line[0]: line[2:] for line in picture.lines[1:]}
    assert cells.pop("benchmark=T, deterministic=T") == ["1", "2", "2"]
    assert list(cells.values()) == [["1", "1", "1"]] * 3


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
