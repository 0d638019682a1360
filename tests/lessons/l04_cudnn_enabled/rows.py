"""Lesson 04: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l04_cudnn_enabled.test_records import BETS, OTHERS

ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
SHOWN = OTHERS
