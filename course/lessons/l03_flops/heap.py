"""Memory that the C library keeps or gives back, what a layer's time is with either, and minor page faults, which tell the two apart.

glibc gives a freed block of some hundred kB or more back to the system, and the next call pays for its pages anew. A
freed block of up to 32 MiB raises both of its thresholds (mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD): from then on
it keeps smaller blocks. Other allocators have rules of their own; there `reuse_memory` changes nothing.
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

MIB = 30
WARM, COUNTED, TIMED = 5, 20, 60
AS_IT_COMES = {
    name: None
    for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", "LD_PRELOAD")
}
"""Variables that a new process must not have if its memory is to come as usual."""
ANEW = {**AS_IT_COMES, "MALLOC_MMAP_THRESHOLD_": str(128 * 2**10)}
"""glibc's rule at the start of a process, held: a block of 128 KiB or more comes from the system and goes back when freed.
Left alone, a process drifts from it to keeping, or half of it, as its heap happens to lie."""


def reuse_memory() -> None:
    """From now on results of this process up to 30 MiB come from memory it has had before, as far as glibc goes."""
    block = torch.empty(MIB * 2**20, dtype=torch.uint8)
    del block


def timed(memory: str) -> list[dict]:
    """Two 3x3 layers of 32 channels on 112x112, one thread: its ms and page faults a call.

    For a new process, with the variables of `ANEW` for "fresh" memory, and those of `AS_IT_COMES` for memory that is "kept".
    """
    torch.set_num_threads(1)
    image = torch.randn(1, 32, 112, 112)
    if memory == "kept":
        reuse_memory()
    rows = []
    for name, groups in (("dense", 1), ("depthwise", 32)):
        layer = nn.Conv2d(32, 32, 3, padding=1, groups=groups, bias=False).requires_grad_(False)
        rows.append({"layer": name, "memory": memory, **_timed(functools.partial(layer, image))})
    return rows


def _timed(call: Callable[[], object]) -> dict:
    from course.lessons.l03_flops.heap import count_faults
    from course.timing.stats import median_interval

    for _ in range(WARM):
        call()
    with count_faults() as seen:
        for _ in range(COUNTED):
            call()
    samples_ms = []
    for _ in range(TIMED):
        start = time.thread_time()
        call()
        samples_ms.append((time.thread_time() - start) * 1e3)
    interval = median_interval(samples_ms)
    faults = None if seen.minor is None else seen.minor / COUNTED
    return {
        "call_ms": statistics.median(samples_ms),
        "low_ms": interval.low,
        "high_ms": interval.high,
        "threads": 1,
        "page_faults": faults,
    }


# --- page faults: memory that the system hands out anew, page by page, while a function runs ---

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
