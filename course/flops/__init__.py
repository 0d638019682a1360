"""Counting work exactly: `count(model, *inputs)`; how other counters differ: lesson 03.

FLOPs (small s) is an amount of work; a rate is written FLOP/s.
"""

from __future__ import annotations

from course.flops.checks import CountError
from course.flops.counting import count
from course.flops.result import FlopCount, ModuleCount

__all__ = ["CountError", "FlopCount", "ModuleCount", "count"]
