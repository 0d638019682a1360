"""Timing that holds up: `compare` for "which is faster?", `measure` for "how long?".

>>> from course.timing import compare, measure
>>> compare({"plain": f, "tuned": g}, baseline="plain")     # doctest: +SKIP

Both results print as sentences, give `.rows()` for a table and draw themselves with `.plot()`.
"""

from __future__ import annotations

from course.timing.clock import clock_for
from course.timing.comparing import compare
from course.timing.graph import as_cuda_graph
from course.timing.guard import TimingError, interrupts_propagate
from course.timing.measuring import measure
from course.timing.render import format_ms
from course.timing.results import Comparison, Measurement, Paired

__all__ = ["Comparison", "Measurement", "Paired", "TimingError", "as_cuda_graph", "clock_for", "compare",
           "format_ms", "interrupts_propagate", "measure"]
