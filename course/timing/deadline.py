"""A deadline set by the caller for all measurements inside a block; it overrides their `max_time`."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar

_at: ContextVar[float] = ContextVar("course_timing_deadline", default=math.inf)


@contextlib.contextmanager
def rounds_end_within(seconds: float) -> Iterator[None]:
    """Inside, every comparison and measurement of this process ends its rounds when these seconds are out, with what it has."""
    token = _at.set(min(_at.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _at.reset(token)


def out_of_time(needed: float = 0.0) -> bool:
    """Whether the seconds are out, or will be before so many more have passed: no further round then."""
    return time.monotonic() + needed >= _at.get()
