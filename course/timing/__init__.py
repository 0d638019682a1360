"""Timing that holds up: `compare` for "which is faster?", `measure` for "how long?".

>>> from course.timing import compare, measure
>>> compare({"plain": f, "tuned": g}, baseline="plain")     # doctest: +SKIP

Every result prints as a sentence (`.sentence()`); a comparison gives `.rows()` for a table (pandas.DataFrame takes them) and draws
itself with `.plot()`.
"""

from __future__ import annotations

from course.timing.clock import Clock, clock_for
from course.timing.comparing import compare, measure
from course.timing.results import Comparison, Measurement, Paired
from course.timing.validation import TimingError

__all__ = ["Clock", "Comparison", "Measurement", "Paired", "TimingError", "clock_for", "compare", "measure"]
