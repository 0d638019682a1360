"""Lesson 02: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l02_timing.test_lesson import BETS, MORE
from tests.lessons.l02_timing.test_summaries import told

ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
SHOWN = {**MORE, "02-queue": told("no fence", 0.1), "02-queue-busy": told("old work, one fence", 50.0)}
