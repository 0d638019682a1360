"""Counting work exactly: `count(model, *inputs)`; how other counters differ: `course.crosscheck`.

FLOPs (small s) is an amount of work; a rate is written FLOP/s.
"""

from __future__ import annotations

from course.flops.counter import count
from course.flops.result import FlopCount, ModuleCount
from course.flops.validation import CountError

__all__ = ["CountError", "FlopCount", "ModuleCount", "count"]
