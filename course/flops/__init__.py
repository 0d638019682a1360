"""Counting work exactly: multiply-accumulates and FLOPs of a model, and how other counters differ.

`count(model, *inputs)` counts; `cross_check(model, inputs)` puts thop, ptflops and torch's own counter
beside it.
FLOPs (small s) is an amount of work; a rate is written FLOP/s.
"""

from __future__ import annotations

from course.flops.asked import CountError
from course.flops.counter import count
from course.flops.crosscheck import CrossCheck, cross_check
from course.flops.result import FlopCount, ModuleCount

__all__ = ["CountError", "CrossCheck", "FlopCount", "ModuleCount", "count", "cross_check"]
