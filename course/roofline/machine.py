"""The device that is measured: its clock, and its cache in bytes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

from course.timing import clock_for
from course.timing.clock import MIN_BLOCK_S, WallClock

UNKNOWN_CACHE = 64 << 20


class ThreadClock(WallClock):
    """Processor time of the calling thread, so that other programs are not in it; for work that one thread of a CPU does."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.block_s = MIN_BLOCK_S

    def reader(self) -> Callable[[], float]:
        return time.thread_time


def clock(device: str) -> WallClock:
    """The clock of the thread on a CPU with one thread; else the wall's, read when the device has finished what it was given."""
    return ThreadClock() if device == "cpu" and torch.get_num_threads() == 1 else clock_for(device, "wall")


def cache_bytes(device: str) -> int:
    """The last-level cache of the device, as Linux or the GPU's driver tells it; else 64 MiB."""
    if device.startswith("cuda"):
        return getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or UNKNOWN_CACHE
    files = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size") if device == "cpu" else ()
    sizes = [path.read_text("ascii").strip() for path in files]
    return max([int(text[:-1]) << {"K": 10, "M": 20}[text[-1]] for text in sizes], default=UNKNOWN_CACHE)
