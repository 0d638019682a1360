"""Lesson 00: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations

ROWS = {
    "00-bet-sums": {
        "a": [{"numbers": "float32", "distinct": 1}],
        "b": [{"numbers": "float32", "distinct": 2}],
        "c": [{"numbers": "float32", "distinct": 40}],
    }
}
BRANCHES = {"00-same-numbers": []}
