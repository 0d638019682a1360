"""Counters of work beside each other: thop, ptflops and torch's own next to `course.flops`, each difference explained."""

from __future__ import annotations

from course.crosscheck.check import CrossCheck, cross_check

__all__ = ["CrossCheck", "cross_check"]
