"""Lesson 06: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l06_cudnn_deterministic.test_records import BETS, GPU_ROWS, costs

ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
SHOWN = {
    "06-two-lines": [
        {"run": run, "threads": 4, "bits": f"made up {run % 3}", "first_entry": 1.0 + 1e-6 * (run % 3)}
        for run in range(1, 11)
    ],
    "06-who-raises": [
        {"operation": "put_", "default": "runs", "error": "raises", "warn": "warns", "said": "made up"},
        {"operation": "cumsum", "default": "runs", "error": "runs", "warn": "runs", "said": ""},
    ],
    "06-toy-table": [
        {
            "benchmark": benchmark,
            "deterministic": deterministic,
            "toy": toy,
            "allowed": 4 - deterministic,
            "timed": (4 - deterministic) * benchmark,
            "winner": f"made up {toy % 2}",
            "different_bits": 1 if deterministic else 8,
            "bits": f"made up {toy}",
        }
        for benchmark in (0, 1)
        for deterministic in (0, 1)
        for toy in range(6)
    ],
    "06-pieces": [
        {
            "pieces": pieces,
            "bits": f"made up {pieces}",
            "largest_error": 6e-5,
            "mean_error": 1e-5,
            "largest_value": 200.0,
        }
        for pieces in (1, 2, 4)
    ],
    "06-bits-cuda": GPU_ROWS,
    "06-cost-cuda": [
        {**costs("slower", "same", "same")[0], "operation": "scatter_add_"},
        {"operation": "cumsum", "verdict": "raises", "said": "no"},
    ],
}
