"""Records of lesson 04: slight differences, operations that failed, precision apart from the library."""

from __future__ import annotations

import pytest

from course.experiment import base
from course.experiment.result import block
from course.experiment.rows import kind_of
from course.lessons.l04_cudnn_enabled import experiments, experiments_cuda, probes
from tests.lessons.l04_cudnn_enabled.rows import gpu_races
from tests.lessons.live import check_picture, record_of

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


def test_an_operation_that_failed_is_a_row_and_takes_no_other_along(monkeypatch):
    def broken(device):
        raise RuntimeError("made up\nsecond line")

    race = probes.switch_race
    monkeypatch.setattr(probes, "switch_race", lambda call, switch, max_time, device: race(call, switch, 0.2))
    monkeypatch.setattr(experiments_cuda, "WITHOUT_CUDNN", ("ctc_loss", "Linear", "MaxPool2d"))
    monkeypatch.setattr(experiments_cuda, "IN_TF32", ())
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
