"""Lesson 08: the simulated machines answer as machines do."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.lessons.l08_mps import probes as apple_probes
from course.lessons.l08_mps.machines import KINDS, MACHINES, pretend
from tests.lessons.live import measured


@pytest.mark.parametrize("name", MACHINES)
def test_a_simulated_machine_answers_as_one(name):
    questions = [
        torch.cuda.is_available,
        torch.backends.mps.is_available,
        torch.backends.mps.is_built,
        torch.xpu.is_available,
        torch.accelerator.is_available,
        torch.accelerator.current_accelerator,
    ]
    before = [ask() for ask in questions]
    with pretend(name) as machine:
        answers = {kind: getattr(torch, kind).is_available() for kind in KINDS}
        assert answers == {kind: machine.best == kind for kind in KINDS}
        assert torch.accelerator.is_available() == machine.usable == (torch.accelerator.device_count() == 1)
        assert torch.backends.mps.is_available() == (machine.best == "mps")
        accelerator = torch.accelerator.current_accelerator()
        assert (accelerator and accelerator.type) == machine.built
    assert [ask() for ask in questions] == before


@pytest.mark.long
def test_variables_are_read_at_moments_of_their_own():
    record = measured("08-env-when", 240)  # four processes, each importing torch, on a busy machine
    counted = {(row["variable"], row["moment"]): row["counted"] for row in record.rows}
    assert counted["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "after import"] == "no"
    assert counted["PYTORCH_NVML_BASED_CUDA_CHECK", "after first use"] == "yes"
    assert base.get("08-env-when").settles(record) == {"08-bet-env": "b"}
    if not torch.backends.mps.is_built():
        assert counted[apple_probes.FALLBACK, "any"] == "nobody reads it"


def test_what_float32_loses_is_cured():
    record = measured("08-float32-loses", 60)
    rows = {row["case"]: row for row in record.rows}
    assert [rows["count"][c] for c in ("float64", "float32", "cured")] == ["10.0", "0.0", "10.0"]
    assert [rows["elapsed"][c] for c in ("float64", "float32", "cured")] == ["30.0", "0.0", "30.0"]
    assert rows["log_det"]["float32"] == "-inf" and abs(float(rows["log_det"]["cured"]) + 200) < 1e-3
