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


# --- invented rows that settle each bet on each of its options (tests/course/experiment); nothing was measured ---


def changed_flags(changed):
    return [{"switch": str(n), "named": 0, "before": 0, "inside": int(n < changed), "after": 0} for n in range(4)]


def seen(thread, fork, spawn):
    return [
        {"set_in": "main", "read_in": place, "sees": sees}
        for place, sees in (("thread", thread), ("fork", fork), ("spawn", spawn))
    ]


def entry_points(block, setter):
    return [
        {"door": kind, "kind": kind, "open": is_open, "error": ""}
        for kind, is_open in (("with", block), ("setter", setter), ("assignment", 0))
    ]


ROWS = {
    "01-bet-typos": {
        option: [
            {"wrote": f"cudnn.x{n}", "meant": "cudnn.y", "raised": int(n < raised), "error": ""} for n in range(12)
        ]
        for option, raised in (("a", 12), ("b", 6), ("c", 1), ("d", 0))
    },
    "01-bet-who-sees": {"a": seen(0, 0, 0), "b": seen(1, 0, 0), "c": seen(1, 1, 0), "d": seen(1, 1, 1)},
    "01-bet-flags": {"a": changed_flags(0), "b": changed_flags(1), "c": changed_flags(2), "d": changed_flags(3)},
    "01-bet-frozen": {"a": entry_points(0, 0), "b": entry_points(1, 0), "c": entry_points(1, 1)},
    "01-bet-mps": {
        option: [
            {
                "tried": "mps.is_available = False",
                "accepted": accepted,
                "before": "False",
                "asked": "mps.is_available()",
                "after": after,
                "changed": 1,
            }
        ]
        for option, accepted, after in (("a", 1, "False"), ("b", 0, "True"), ("c", 1, "TypeError: no"))
    },
}
FURTHER = {"01-bet-flags": [([{**row, "inside": 1} for row in changed_flags(4)], None)]}
BRANCHES = {
    "01-who-sees": [seen(0, 1, 1)],
    "01-flags-trap": [
        [{**row, "named": int(row["switch"] == "3"), "after": row["inside"]} for row in changed_flags(changed)]
        for changed in (0, 3)
    ]
    + [[{**row, "after": 1} for row in changed_flags(changed)] for changed in (0, 1)],
    "01-frozen": [entry_points(0, 1)],
}
