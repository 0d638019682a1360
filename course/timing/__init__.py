"""Timing that holds up: `compare` for "which is faster?", `measure` for "how long?".

>>> from course.timing import compare, measure
>>> compare({"plain": f, "tuned": g}, baseline="plain")     # doctest: +SKIP
"""

from __future__ import annotations

from course.timing.clock import as_cuda_graph, clock_for
from course.timing.comparing import compare
from course.timing.guard import TimingError, interrupts_propagate
from course.timing.measuring import measure
from course.timing.results import Comparison, Measurement, Paired, format_ms

__all__ = ["Comparison", "Measurement", "Paired", "TimingError", "as_cuda_graph", "clock_for", "compare",
           "format_ms", "interrupts_propagate", "measure"]
