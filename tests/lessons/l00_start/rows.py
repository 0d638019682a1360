"""Lesson 00: invented rows that settle each bet on each of its options. Nothing was measured."""

from __future__ import annotations

ROWS = {
    "00-bet-sums": {
        "a": [{"numbers": "float32", "distinct": 1}],
        "b": [{"numbers": "float32", "distinct": 2}],
        "c": [{"numbers": "float32", "distinct": 40}],
    }
}
BRANCHES = {
    "00-same-numbers": [
        [
            {"numbers": name, "count": 1000, "orders": 200, "distinct": count, "spread": 1e-5 * (count > 1)}
            for name, count in (("float32", 9), ("whole numbers", 1), ("float64", 2))
        ]
    ]
}
