"""How large caches and buffers are: sizes in bytes, of the device that is measured."""

from __future__ import annotations

import contextlib

import torch

from course.roofline.words import too_little_memory
from course.timing.clock import cpu_cache_bytes

UNKNOWN_CACHE = 64 << 20
LARGEST_BUFFER = 512 << 20
"""Buffers are 8 x the last-level cache, but no larger than this unless 2 x that cache already is."""


def buffer_bytes(cache: int, free: int | None, device: str) -> int:
    """Bytes of each of the three buffers: 8 x the cache where at most half of the free memory is taken.

    Never under 2 x the cache, for then the cache would be measured: RooflineError if not even that fits.
    """
    wanted = max(2 * cache, min(8 * cache, LARGEST_BUFFER))
    if free is not None:
        wanted = min(wanted, free // 6)
        if wanted < 2 * cache:
            raise too_little_memory(device, 12 * cache, free)
    return wanted // 4 * 4


def cache_bytes(device: str) -> int:
    """The last-level cache of the device in bytes, as Linux or the GPU's driver tells it; else 64 MiB."""
    size = 0
    if device == "cpu":
        with contextlib.suppress(OSError):
            size = cpu_cache_bytes()
    elif device.startswith("cuda"):
        size = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    return size or UNKNOWN_CACHE


def free_bytes(device: str) -> int | None:
    """Memory free on the device, in bytes; None where it cannot be told."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    if device != "cpu":
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    return None
