"""Where the time of a call goes: events of the profiler as rows, and the log of oneDNN."""

from course.trace.events import CALL, LINE, Trace, covered_us, parts_of, rows_of, span_of, totals, trace_of

__all__ = ["CALL", "LINE", "Trace", "covered_us", "parts_of", "rows_of", "span_of", "totals", "trace_of"]
