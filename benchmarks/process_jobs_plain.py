"""The same for `benchmarks.processes --jobs benchmarks.process_jobs_plain`, without torch: processes start at once."""

from __future__ import annotations

VALUES = [float(at) for at in range(2000)]


def one() -> float:
    """A sum, twenty times."""
    return sum(sum(VALUES) for _ in range(20))


def other() -> float:
    """A sum, twenty times, in a function of its own."""
    return sum(sum(VALUES) for _ in range(20))


def longer() -> float:
    """A sum, twenty-four times."""
    return sum(sum(VALUES) for _ in range(24))
