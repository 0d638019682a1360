"""Records of lesson 08: live ones on this machine, each outcome of a bet on invented rows, Mac ones for their form."""

from __future__ import annotations

import pytest
import torch

from course.experiment import base
from course.lessons.l08_mps import probes as apple_probes
from tests.lessons.live import measured

NO_MPS = not torch.backends.mps.is_built()


@pytest.mark.long
def test_variables_are_read_at_moments_of_their_own():
    record = measured("08-env-when", 240)  # four processes, each importing torch, on a busy machine
    counted = {(row["variable"], row["moment"]): row["counted"] for row in record.rows}
    assert counted["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "after import"] == "no"
    assert counted["PYTORCH_NVML_BASED_CUDA_CHECK", "after first use"] == "yes"
    assert base.get("08-env-when").settles(record) == {"08-bet-env": "b"}
    if NO_MPS:
        assert counted[apple_probes.FALLBACK, "any"] == "nobody reads it"


def test_what_float32_loses_is_cured():
    record = measured("08-float32-loses", 60)
    rows = {row["case"]: row for row in record.rows}
    assert [rows["count"][c] for c in ("float64", "float32", "cured")] == ["10.0", "0.0", "10.0"]
    assert [rows["elapsed"][c] for c in ("float64", "float32", "cured")] == ["30.0", "0.0", "30.0"]
    assert rows["log_det"]["float32"] == "-inf" and abs(float(rows["log_det"]["cured"]) + 200) < 1e-3
