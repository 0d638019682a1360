"""Caches and memory of the device that is measured, in bytes, and the error where memory is too small."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from course.i18n import t
from course.roofline.words import RooflineError
from course.timing.clock import cpu_cache_bytes
from course.units import scaled

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


def too_little_memory(device: str, needed: int | None = None, free: int | None = None) -> RooflineError:
    """The error for a machine whose memory is too small for the measurement; sizes in bytes."""
    sizes = ("", "")
    if needed is not None and free is not None:
        need, has = scaled(needed, "B"), scaled(free, "B")
        sizes = f" (needs {need}, free are {has})", f"（需要 {need}，空闲 {has}）"
    return RooflineError(
        t(
            f"Too little free memory on {device}{sizes[0]}. Close what you do not need, restart other kernels, "
            "or use a smaller batch, then run this again.",
            f"{device} 上的空闲内存不足{sizes[1]}。请关掉不用的程序，重启其他内核，或减小批大小，然后再运行一次。",
        )
    )


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether this error, or one that caused it, says that memory ran out."""
    while error is not None:
        text = str(error).lower()
        if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text:
            return True
        error = error.__cause__
    return False


@contextlib.contextmanager
def enough_memory(device: str) -> Iterator[None]:
    """Turn every way in which torch says "out of memory" into RooflineError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, RooflineError) or not is_out_of_memory(error):
            raise
        raise too_little_memory(device) from error
