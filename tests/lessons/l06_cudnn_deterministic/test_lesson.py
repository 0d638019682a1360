"""Lesson 06: its questions meet the claims, its toys compute what they should. Nothing is timed."""

from __future__ import annotations

import pytest
import torch

from course.experiment.new_process import answer_of
from course.lessons.l06_cudnn_deterministic import training as toy_repro

# --- the toys ---------------------------------------------------------------------------------------------


def test_small_training_repeats_itself_and_pieces_change_its_bits():
    one, again, cut = (toy_repro.small_training(pieces=n) for n in (1, 1, 4))
    assert one.equal(again) and not one.equal(cut)
    torch.testing.assert_close(one, cut, atol=1e-5, rtol=1e-5)
    assert toy_repro.fingerprint(one) == toy_repro.fingerprint(again) != toy_repro.fingerprint(cut)
    threads = torch.get_num_threads()
    with pytest.raises(ValueError, match="1 to 16"):
        toy_repro.small_training(pieces=0)
    assert torch.get_num_threads() == threads


def test_a_nudge_is_one_step_up():
    values = torch.tensor([0.3, -2.0])
    moved = values.clone()
    toy_repro.nudge(moved)
    assert bool((moved > values).all()) and torch.nextafter(moved, values).equal(values)
    assert toy_repro.fit_losses(True, 3) != [] and toy_repro.duel_losses(False, 2) == toy_repro.duel_losses(False, 2)


# --- what to write down -----------------------------------------------------------------------------------

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
