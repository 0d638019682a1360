"""Lesson 03: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l03_flops.test_faults import memories
from tests.lessons.l03_flops.test_lesson import BETS, shares

ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
SHOWN = {
    "03-groups": shares(0.9, 1.2),
    "03-page-faults": memories(1100.0),
    "03-peaks-cuda": [
        {"format": name, "flops_per_s": rate, "bytes_per_s": 1e12, "ridge": rate / 1e12}
        for name, rate in (("float32", 2e13), ("TF32", 1e14), ("bfloat16", 2e14))
    ],
}
