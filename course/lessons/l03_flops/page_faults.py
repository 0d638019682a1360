"""Minor page faults: memory the kernel hands out anew, page by page, while a function runs.

A function whose allocator gives memory back after every call pays for the same pages in every call; the time then
measures the operating system, not the work.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource: Any = None  # type: ignore[no-redef]


def minor_faults() -> int | None:
    """Minor page faults of this process so far, all threads; None where the system does not tell (Windows)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt if resource else None


class Faults:
    """What `count_faults` found: `minor`, the number of minor page faults (None where the system does not tell)."""

    minor: int | None = None


@contextlib.contextmanager
def count_faults() -> Iterator[Faults]:
    """Count the minor page faults of this process inside the block; `.minor` holds them after it.

    >>> with count_faults() as seen:            # doctest: +SKIP
    ...     model(x)
    >>> seen.minor                              # doctest: +SKIP
    """
    seen, before = Faults(), minor_faults()
    try:
        yield seen
    finally:
        after = minor_faults()
        seen.minor = None if before is None or after is None else after - before
