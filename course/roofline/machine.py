"""The device that is measured: its cache and free memory in bytes, the clock, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

UNKNOWN_CACHE = 64 << 20


def wait(device: str) -> None:
    """Until the device has finished what it was given; nothing on a CPU."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device.startswith("mps"):
        torch.mps.synchronize()


def clock(device: str) -> Callable[[], float]:
    """Seconds: of this thread on a CPU with one thread, whose time other programs do not lengthen; else of the wall."""
    return time.thread_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter


def cache_bytes(device: str) -> int:
    """The last-level cache of the device, as Linux or the GPU's driver tells it; else 64 MiB."""
    if device.startswith("cuda"):
        return getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or UNKNOWN_CACHE
    files = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size") if device == "cpu" else ()
    sizes = [path.read_text("ascii").strip() for path in files]
    return max([int(text[:-1]) << {"K": 10, "M": 20}[text[-1]] for text in sizes], default=UNKNOWN_CACHE)


def free_bytes(device: str) -> float:
    """Memory free on the device; infinite where it cannot be told."""
    if device.startswith("cuda"):
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        return float(lines["MemAvailable"].split()[0]) * 1024 if device == "cpu" else float("inf")
    except OSError:
        return float("inf")
