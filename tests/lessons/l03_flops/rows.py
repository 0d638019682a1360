"""Lesson 03: invented rows that settle each bet on each of its options, and show the rest. Nothing was measured."""

from __future__ import annotations

from tests.lessons.l03_flops.test_lesson import BETS, shares

ROWS = {bet: {option: rows for rows, option in outcomes if option} for _, bet, outcomes in BETS}
SHOWN = {"03-groups": shares(0.9, 1.2)}
