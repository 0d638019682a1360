"""Lesson 04: its questions meet the claims, its probes give what they should. Nothing is judged on speed."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from course import flags
from course.lessons.l04_cudnn_enabled import probes as enabled_probes
from tests.conftest import ROOT


@pytest.mark.parametrize(("depthwise", "chosen"), [(False, "Slow2d"), (True, "CudaDepthwise2d")])
def test_without_cudnn_a_pretended_gpu_takes_the_plain_path(depthwise, chosen):
    with flags.using({"cudnn.enabled": False}):
        assert enabled_probes.pretended_backend(depthwise) == chosen


@pytest.mark.parametrize("name", enabled_probes.OPERATIONS)
def test_every_operation_runs_and_keeps_its_bits_with_cudnn_off_on_a_cpu(name):
    torch.manual_seed(0)
    on, off = enabled_probes.on_and_off(enabled_probes.OPERATIONS[name]("cpu"), "cudnn.enabled")
    assert torch.equal(on, off)


@pytest.mark.parametrize("name", ["Conv2d", "LSTM"])
def test_both_sides_stay_near_float64(name):
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(8, 8, 3) if name == "Conv2d" else torch.nn.LSTM(8, 8)
    x = torch.randn(2, 8, 12, 12) if name == "Conv2d" else torch.randn(5, 2, 8)
    found = enabled_probes.against_float64(layer, x, "mkldnn.enabled")
    assert max(found["on_error"], found["off_error"]) < 1e-5
    assert found["on_nearer"] + found["off_nearer"] <= found["differ"] <= found["values"]
    assert next(layer.parameters()).dtype == torch.float32


def test_a_race_puts_the_switch_back_and_calls_both_sides():
    seen = []
    with flags.using({"cudnn.enabled": False}):
        race = enabled_probes.switch_race(lambda: seen.append(torch.backends.cudnn.enabled), "cudnn.enabled", 0.2)
        assert torch.backends.cudnn.enabled is False
    assert set(seen) == {True, False} and race.baseline == "on" and list(race.pairs) == ["off"]


@pytest.mark.slow
def test_the_profile_of_a_lesson_writes_nothing_to_stderr():
    code = (
        "import torch; from course.lessons.l04_cudnn_enabled.probes import longest_kernels as names; "
        "print(names(lambda: torch.ones(2) + 1))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert "aten::add" in found.stdout and found.stderr == ""
