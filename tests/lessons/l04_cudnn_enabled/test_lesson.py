"""Lesson 04: its probes give what they should. Nothing is judged on speed."""

from __future__ import annotations

import pytest
import torch

from course import flags
from course.experiment import base
from course.experiment.result import block
from course.lessons.l04_cudnn_enabled import experiments, probes
from course.lessons.l04_cudnn_enabled.experiments import WITHOUT_ONEDNN
from tests.lessons.live import as_rows, check_picture, record_of


@pytest.mark.parametrize(("depthwise", "chosen"), [(False, "Slow2d"), (True, "CudaDepthwise2d")])
def test_without_cudnn_a_pretended_gpu_takes_the_plain_path(depthwise, chosen):
    with flags.using({"cudnn.enabled": False}):
        assert probes.pretended_backend(depthwise) == chosen


@pytest.mark.parametrize("name", probes.OPERATIONS)
def test_every_operation_runs_and_keeps_its_bits_with_cudnn_off_on_a_cpu(name):
    torch.manual_seed(0)
    on, off = probes.on_and_off(probes.OPERATIONS[name]("cpu"), "cudnn.enabled")
    assert torch.equal(on, off)


def test_a_race_puts_the_switch_back_and_calls_both_sides():
    seen = []
    with flags.using({"cudnn.enabled": False}):
        race = probes.switch_race(lambda: seen.append(torch.backends.cudnn.enabled), "cudnn.enabled", 0.2)
        assert torch.backends.cudnn.enabled is False
    assert set(seen) == {True, False} and race.baseline == "on" and list(race.pairs) == ["off"]


def test_an_operation_that_failed_is_a_row_and_takes_no_other_along(monkeypatch):
    def broken(device):
        raise RuntimeError("made up\nsecond line")

    race = probes.switch_race
    monkeypatch.setattr(probes, "switch_race", lambda call, switch, max_time, device: race(call, switch, 0.2))
    monkeypatch.setattr(experiments, "WITHOUT_CUDNN", ("ctc_loss", "Linear", "MaxPool2d"))
    monkeypatch.setattr(experiments, "IN_TF32", ())
    monkeypatch.setitem(probes.OPERATIONS, "ctc_loss", lambda device: lambda: broken(device))
    experiment = base.get("04-ops-cuda")
    rows = list(experiment.function(base.Budget(600), larger=1))
    assert {row["error"] for row in rows if row["operation"] == "ctc_loss"} == {"made up"}
    assert {"Linear", "MaxPool2d"} <= {row["operation"] for row in rows if not row["error"]}
    assert "made up" in str(block(record_of("04-ops-cuda", rows), experiment))


def test_the_price_list_keeps_precision_apart_from_the_library():
    """cuDNN in TF32 against products in float32 would compare two precisions; that race has a row of its own."""
    rows = gpu_races(Conv2d="same", Linear="same", MaxPool2d="same")
    assert "Conv2d (with TF32)" in check_picture(record_of("04-ops-cuda", rows)).alt
    assert "TF32" not in check_picture(record_of("04-ops-cuda", rows[:-1])).alt


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


RATIOS = {"slower": 2.0, "faster": 0.5, "same": 1.0, "undecided": 1.1}


def races(**verdicts):
    return as_rows(
        "operation ratio low high verdict same_bits",
        *(
            (name, (ratio := RATIOS[one]), ratio * 0.9, ratio * 1.1, one, int(one == "same"))
            for name, one in verdicts.items()
        ),
    )


def all_races(verdict, **others):
    """All operations of 04-onednn-ops, those in ``others`` with a verdict of their own."""
    return races(**dict.fromkeys(WITHOUT_ONEDNN, verdict) | others)


def gpu_races(**verdicts):
    """In float32 on both sides; the convolution once more with TF32, which must not settle anything."""
    rows = [{"tf32_allowed": 0, **row} for row in races(**verdicts)]
    return [*rows, {"tf32_allowed": 1, **races(Conv2d="slower")[0]}]


def failed(operation):
    return {"tf32_allowed": 0, "error": "made up", "operation": operation}


def inputs(on_nearer, off_nearer, differ=100):
    columns = "input values differ on_nearer off_nearer on_error off_error between"
    return as_rows(columns, *((i, 200, differ, on_nearer, off_nearer, 3e-7, 4e-7, 5e-7) for i in range(3)))


def attention(*ran):
    """Whether attention runs with cuDNN on, and with it off."""
    columns = "cudnn ran kernel error"
    return as_rows(columns, *((1 - at, one, "made_up" * one, "" if one else "made up") for at, one in enumerate(ran)))


ROWS = {
    "04-bet-cpu": {
        "a": races(Conv2d="slower", LSTM="same"),
        "b": races(Conv2d="same", LSTM="same"),
        "c": races(Conv2d="faster", LSTM="undecided"),
    },
    "04-bet-onednn": {
        "a": all_races("slower"),
        "b": races(Conv2d="slower", GRU="same", LSTM="undecided"),
        "c": all_races("same", LSTM="faster"),
    },
    "04-bet-bits": {"a": inputs(99, 1), "b": inputs(1, 99), "c": inputs(50, 48), "d": inputs(0, 0, differ=0)},
    "04-bet-gpu": {
        "a": gpu_races(Conv2d="slower", Linear="slower", MaxPool2d="slower"),
        "b": gpu_races(Linear="same", MaxPool2d="slower"),
        "c": gpu_races(Linear="slower", MaxPool2d="faster"),
        "d": gpu_races(Linear="same", MaxPool2d="same"),
    },
}
UNTOLD = [{**row, "low": None, "high": None, "rounds": 4, "same_bits": 1} for row in races(Conv2d="undecided")]
FURTHER = {
    "04-bet-cpu": [
        (races(Conv2d="same", LSTM="undecided"), None),
        (races(Conv2d="slower", LSTM="faster"), None),
        (UNTOLD, None),
        ([{**row, "same_bits": 0} for row in races(Conv2d="same", LSTM="same")], "b"),
    ],
    "04-bet-onednn": [
        (all_races("slower", LSTM="undecided"), None),
        (all_races("same", Conv2d="undecided"), None),
        (all_races("slower")[:-1], None),  # the one that is missing could be no slower
    ],
    "04-bet-gpu": [
        (gpu_races(Linear="undecided", MaxPool2d="same"), None),
        # one operation that failed takes no other along; the two of the bet must be there
        ([*gpu_races(Linear="same", MaxPool2d="same"), failed("ctc_loss")], "d"),
        ([*gpu_races(Linear="same"), failed("MaxPool2d")], None),
    ],
}
GATES = as_rows(
    "group switch open",
    ("layers", "cudnn.enabled", 0),
    ("attention", "cuda.enable_cudnn_sdp", 1),
    ("products", "", -1),
    ("rest", "", -1),
)
BRANCHES = {"04-attention-cuda": [attention(1, 1), attention(0, 0), attention(1, 0)], "04-gates": [GATES]}
RECORDED = {"04-attention-cuda": ("Attention does not ask `cudnn.enabled`: switched off, it still runs.", {})}
"""What the recordings made on a GPU say, derived by hand from their rows: experiment -> headline, bets."""
