"""Records of lesson 04: each outcome of a bet is met once, on invented rows, and every record is told and drawn."""

from __future__ import annotations

import re

import pytest
import torch

from course.experiment import base
from course.experiment.result import block
from course.experiment.rows import kind_of
from course.lessons.l04_cudnn_enabled import experiments, probes
from tests.lessons.l04_cudnn_enabled.rows import OTHERS, gpu_races, races
from tests.lessons.live import check_shown, measured, record_of

# The rows below are invented test data. Nothing was measured.


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
    assert kind_of({"low": low, "high": high}, experiments.SLIGHT) == said


def test_sentences_say_what_the_rows_say():
    def told(name, rows, **machine):
        return check_shown(record_of(name, rows, **machine))

    refused = [{"cudnn": 0, "ran": 0, "kernel": "", "error": "no such kernel"}]
    assert "made_up_attention" in told("04-attention-cuda", OTHERS["04-attention-cuda"])
    assert "made_up_attention" not in told("04-attention-cuda", refused)
    assert re.search(r"Conv2d, GRU\..*: MaxPool2d", told("04-kernels-cuda", OTHERS["04-kernels-cuda"]))
    assert "cudnn.enabled" in told("04-gates", OTHERS["04-gates"])
    assert "2 of 2" in told("04-pretend-gpu", OTHERS["04-pretend-gpu"])
    unseen = [
        OTHERS["04-pretend-gpu"][0],
        {"case": "dilated", "on": "SlowDilated2d", "off": "SlowDilated2d", "cudnn_built": 1},
    ]
    assert "GPU" in told("04-pretend-gpu", unseen).removeprefix(told("04-pretend-gpu", unseen, device="cuda"))
    undecided = told("04-cpu-enabled", races(Conv2d="undecided", LSTM="same"))
    assert "Every" in undecided and "Every" not in told("04-cpu-enabled", races(Conv2d="slower", LSTM="faster"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["04-gates", "04-dispatch", "04-pretend-gpu", "04-cpu-enabled", "04-bits", "04-onednn-ops"]
)
def test_live_experiments_run_and_leave_no_trace(name):
    if base.get(name).needs == "mkldnn" and not torch.backends.mkldnn.is_available():
        pytest.skip("this build of PyTorch has no oneDNN")
    check_shown(measured(name, 1))


def test_the_price_list_keeps_precision_apart_from_the_library():
    """cuDNN in TF32 against products in float32 would compare two precisions; that race stands in a sentence of its own."""
    rows = gpu_races(Conv2d="same", Linear="same", MaxPool2d="same")
    sentence = check_shown(record_of("04-ops-cuda", rows))
    assert "Conv2d, Linear" in sentence and "TF32" in sentence
    assert "TF32" not in check_shown(record_of("04-ops-cuda", rows[:-1]))


def test_a_build_that_does_not_answer_for_a_pretended_gpu_is_told_so(monkeypatch):
    def silent(case):
        raise RuntimeError("no driver")

    monkeypatch.setattr(probes, "pretended_backend", silent)
    experiment = base.get("04-pretend-gpu")
    shown = str(block(base.run("04-pretend-gpu"), experiment))
    assert shown.startswith("This PyTorch answers only where a real GPU is") and "no answer" in shown
