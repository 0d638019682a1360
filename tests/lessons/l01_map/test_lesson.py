"""Lessons 00 and 01: live experiments settle their bets, and leave switches and processes as they were."""

from __future__ import annotations

import multiprocessing
import os

import pytest
import torch

from course import flags
from course.experiment import base
from course.lessons.l01_map import probes as map_probes
from tests.lessons.live import check_shown, measured

pytestmark = pytest.mark.slow

FORKS = "fork" in multiprocessing.get_all_start_methods()


# --- experiments --------------------------------------------------------------------------------------------

EXPECTED = {
    "00-same-numbers": {"00-bet-sums": "c"},
    "01-typos": {"01-bet-typos": "c"},
    "01-who-sees": {"01-bet-who-sees": "c" if FORKS else None},
    "01-flags-trap": {"01-bet-flags": "d"},
    "01-frozen": {"01-bet-frozen": "c"},
    "01-not-a-switch": {"01-bet-mps": "c"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_live_experiment_settles_its_bet(name):
    record = measured(name)
    assert record.complete and base.get(name).settles(record) == EXPECTED[name]
    check_shown(record)
    if name == "01-not-a-switch":
        assert [row["accepted"] for row in record.rows] == [1] * 6, "what one line overwrites does not spoil the next"


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
