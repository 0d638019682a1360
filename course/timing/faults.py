"""Minor page faults: memory the kernel hands out anew, page by page, while a function runs.

A function whose allocator gives memory back after every call pays for the same pages in every call; the time then
measures the operating system, not the work.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import time
from collections.abc import Iterator
from typing import Any

from course.i18n import t

try:
    import resource
except ImportError:  # Windows
    resource: Any = None  # type: ignore[no-redef]

LARGE_SHARE = 0.2
"""A larger part of the time than this in page faults gets a remark."""


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


@functools.lru_cache(maxsize=1)
def fault_seconds(pages: int = 2048) -> float:
    """Seconds of one minor page fault on this machine, measured once: first against second touch of fresh pages.

    Private pages, as an allocator gets them; the best of three. 0.0 where faults cannot be counted.
    """
    return min(_one_price(pages) for _ in range(3)) if resource else 0.0


def _one_price(pages: int) -> float:
    with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as fresh:

        def touch() -> float:
            start = time.thread_time()  # not the time in which others had the processor
            for at in range(0, len(fresh), mmap.PAGESIZE):
                fresh[at] = 1
            return time.thread_time() - start

        with count_faults() as seen:
            first = touch()
        return max(0.0, first - touch()) / seen.minor if seen.minor else 0.0


def fault_share(faults_per_call: float | None, seconds_per_call: float) -> float:
    """Part of the time of a call (0 to 1) that its minor page faults take on this machine; 0.0 where unknown."""
    if not faults_per_call or seconds_per_call <= 0:
        return 0.0
    return min(1.0, faults_per_call * fault_seconds() / seconds_per_call)


def fault_note(name: str, faults_per_call: float | None, seconds_per_call: float) -> str | None:
    """The remark on a function whose time is filled by page faults rather than work; None for any other."""
    part = fault_share(faults_per_call, seconds_per_call)
    if part <= LARGE_SHARE:
        return None
    return t(
        f"{name}: {faults_per_call:,.0f} page faults a call fill about {part:.0%} of the time. "
        "The system hands out the memory for its results anew in every call; that is not the work itself. "
        "Write into a tensor that exists (`out=`), or use an allocator that keeps memory, to see the work alone.",
        f"{name}：每次调用有 {faults_per_call:,.0f} 次缺页，约占耗时的 {part:.0%}。系统每次都要为结果重新分配内存，"
        "这部分不是运算本身。想只看运算，请写入已有的张量（`out=`），或换用会保留内存的分配器。",
    )
