"""Records of lesson 04: each outcome of a bet is met once, on invented rows."""

from __future__ import annotations

import pytest
import torch

from course import flags
from course.experiment import base
from course.lessons.l04_cudnn_enabled import experiments
from tests.lessons.l04_cudnn_enabled.rows import BETS, OTHERS, gpu_races, races
from tests.lessons.shown import check_shown, record_of

# The rows below are invented test data. Nothing was measured.


@pytest.mark.parametrize(("name", "bet", "outcomes"), BETS)
def test_the_experiment_settles_its_bet_every_way(name, bet, outcomes):
    for rows, option in outcomes:
        record = record_of(name, rows)
        assert base.get(name).settles(record) == {bet: option}
        check_shown(record)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.2, 1.6, "slower"),
        (0.4, 0.6, "faster"),
        (0.98, 0.99, "same"),
        (1.01, 1.04, "same"),
        (0.9, 1.2, "undecided"),
        (1.02, 1.5, "undecided"),
    ],
)
def test_a_slight_difference_is_none(low, high, said):
    assert experiments.verdict(low, high) == said


def test_sentences_say_what_the_rows_say():
    assert "made_up_attention" in check_shown(record_of("04-attention-cuda", OTHERS["04-attention-cuda"]))
    refused = [{"cudnn": 0, "ran": 0, "kernel": "", "error": "no such kernel"}]
    assert "stays open" in check_shown(record_of("04-attention-cuda", refused))
    kernel_words = check_shown(record_of("04-kernels-cuda", OTHERS["04-kernels-cuda"]))
    assert "Conv2d, GRU. The same kernel: MaxPool2d" in kernel_words
    told = check_shown(record_of("04-gates", OTHERS["04-gates"]))
    assert "cudnn.enabled was off and attention's own switch on" in told
    assert "cuDNN takes 2 of 2" in check_shown(record_of("04-pretend-gpu", OTHERS["04-pretend-gpu"]))
    unseen = [
        OTHERS["04-pretend-gpu"][0],
        {"case": "dilated", "on": "SlowDilated2d", "off": "SlowDilated2d", "cudnn_built": 1},
    ]
    assert "looks for a real GPU" in check_shown(record_of("04-pretend-gpu", unseen))
    seen = record_of("04-pretend-gpu", unseen, device="cuda")
    assert "real GPU" not in check_shown(seen)
    busy = record_of("04-cpu-enabled", races(Conv2d="undecided", LSTM="same"))
    assert "Every interval holds 1" in check_shown(busy)
    odd = record_of("04-cpu-enabled", races(Conv2d="slower", LSTM="faster"))
    assert "too busy" in check_shown(odd)


@pytest.mark.parametrize(
    "name", ["04-gates", "04-dispatch", "04-pretend-gpu", "04-cpu-enabled", "04-bits", "04-onednn-ops"]
)
def test_live_experiments_run_and_leave_no_trace(name):
    if base.get(name).needs == "mkldnn" and not torch.backends.mkldnn.is_available():
        pytest.skip("this build of PyTorch has no oneDNN")
    before, threads = flags.read(), torch.get_num_threads()
    check_shown(base.run(name, 2))
    assert (flags.read(), torch.get_num_threads()) == (before, threads)


def test_the_price_list_keeps_precision_apart_from_the_library():
    """cuDNN in TF32 against products in float32 would compare two precisions; that race stands in a sentence of its own."""
    rows = gpu_races(Conv2d="same", Linear="same", MaxPool2d="same")
    sentence = check_shown(record_of("04-ops-cuda", rows))
    assert "within 5 % of 1: Conv2d, Linear" in sentence and "TF32 as it comes" in sentence
    assert "TF32" not in check_shown(record_of("04-ops-cuda", rows[:-1]))
