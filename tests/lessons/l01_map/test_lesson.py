"""Lesson 01: what its probes and the newer API of precision do here."""

from __future__ import annotations

import os

import pytest
import torch

from course import flags
from course.lessons.l01_map import probes as map_probes
from tests.lessons.live import measured

pytestmark = pytest.mark.slow


def test_what_one_line_overwrites_does_not_spoil_the_next():
    assert [row["accepted"] for row in measured("01-not-a-switch").rows] == [1] * 6


def test_a_child_process_that_dies_ends_the_wait():
    with pytest.raises(EOFError):
        map_probes._in_child("spawn", os.kill)  # it takes two arguments


def test_flags_raises_beside_the_newer_precision_api_and_the_bracketed_assignment_does_not():
    cudnn = torch.backends.cudnn
    with flags.preserved():
        cudnn.conv.fp32_precision = "ieee"
        with pytest.raises(RuntimeError), cudnn.flags(enabled=cudnn.enabled, deterministic=True):
            pass
        old = cudnn.deterministic
        try:
            cudnn.deterministic = True
            assert cudnn.deterministic and cudnn.enabled
        finally:
            cudnn.deterministic = old
    assert not cudnn.deterministic
