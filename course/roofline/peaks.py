"""`peaks`: the fastest arithmetic and the fastest memory traffic that this machine reaches in a measurement.

Measured, never looked up. Which routine of the libraries is the fastest differs from machine to machine (a convolution may reach twice
the rate of a square matrix product, or less), so the best of many is the roof. Each is tried again and again over the budget, so that a
neighbour who is busy for a moment does not lower it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from course.core import machine
from course.core.bars import end_progress, progress, reach
from course.core.i18n import t
from course.roofline.layer import Peaks
from course.timing import clock_for
from course.timing.clock import MIN_BLOCK_S, WallClock, calls_for
from course.timing.rounds import out_of_time
from course.timing.validation import require_positive

LONGEST = 1 / 24
"""Longest call of a probe, as a part of the budget."""
BLOCK_S = 0.002
"""Shortest block timed as one sample of a probe."""
LARGEST_BUFFER, UNKNOWN_CACHE = 512 << 20, 64 << 20
PRODUCTS = {
    "cpu": (*((edge,) * 3 for edge in (256, 512, 1024, 2048, 4096)), (256, 4096, 1024), (512, 768, 3072)),
    "gpu": (*((edge,) * 3 for edge in (1024, 2048, 4096, 8192, 16384)), (4096, 1024, 4096), (8192, 4096, 1024)),
}
"""Rows, inner length and columns of the matrix products; the first is the smallest."""
CONVOLUTIONS = {
    "cpu": ((3, 64, 64, 56, 4), (3, 128, 128, 28, 4), (3, 256, 256, 14, 8), (1, 256, 64, 56, 1), (1, 512, 128, 28, 2)),
    "gpu": ((3, 64, 64, 56, 256), (3, 256, 256, 28, 256), (3, 512, 512, 14, 256), (1, 1024, 256, 28, 256)),
}
"""Kernel edge, channels in and out, image edge and batch of the convolutions."""


def peaks(device: Any = None, dtype: torch.dtype = torch.float32, max_time: float = 3.0) -> Peaks:
    """Measure the peaks of `device` (default: the accelerator in use, else the CPU).

    dtype: of the arithmetic; the memory peak is always that of float32 buffers. max_time: seconds for measuring; at least one round
    of probes is always finished. Data are random; the number of threads and the precisions of float32 are as set now.
    Raises TimingError, in words, for an unknown device.
    """
    require_positive(max_time=max_time)
    watch, began, spent, round_s = clock(clock_for(device).device), time.perf_counter(), 0.0, 0.0
    watch.block_s = BLOCK_S
    bar = progress(max_time, t("measuring the peaks", "测量峰值"))
    try:
        with torch.no_grad():
            kinds = [[*_arithmetic(watch, dtype, max_time * LONGEST)], _streams(watch)]
            while not round_s or spent + round_s <= max_time and not out_of_time():
                started = time.perf_counter()
                for probe in (*kinds[0], *kinds[1]):
                    probe.time()
                spent, round_s = time.perf_counter() - began, time.perf_counter() - started
                reach(bar, spent, max_time)
    finally:
        end_progress(bar)
    work, traffic = (max(probes, key=lambda probe: probe.rate) for probes in kinds)
    kind, now = str(dtype).removeprefix("torch."), datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = kind, watch.device, torch.get_num_threads(), machine.passport(), now, precision(watch.device)
    return Peaks(work.rate, traffic.rate, *about, min(work.got, traffic.got))


@lru_cache(maxsize=16)
def kept_peaks(device: str, dtype: torch.dtype, threads: int, precision: str) -> Peaks:
    """The peaks of a device, measured once in a process for these settings, which must be in force."""
    return peaks(device, dtype)


def precision(device: str) -> str:
    """What torch may do to float32 inside a product, and inside a convolution, as set now; "" where unknown."""
    backends = torch.backends
    nodes = {"cpu": (backends.mkldnn.matmul, backends.mkldnn.conv), "cuda": (backends.cuda.matmul, backends.cudnn.conv)}
    return ", ".join(node.fp32_precision for node in nodes.get(device.split(":")[0], ()))


@dataclass
class Probe:
    """amount: FLOPs or bytes of one call. calls: of a block. rate: the best so far, a second. got: share of the processor time it could use
    that this process got then (1 on an accelerator).
    """

    amount: float
    call: Callable[[], Any]
    clock: WallClock
    calls: int = 0
    rate: float = 0.0
    got: float = 1.0

    def time(self) -> Probe:
        """Time one block, and keep the rate where it is the best."""
        self.calls = self.calls or calls_for(self.clock, self.call)
        wall, processor = time.perf_counter(), time.process_time()
        rate = self.amount * self.calls / max(self.clock.block(self.call, self.calls), 1e-9)
        if rate > self.rate:
            threads = min(torch.get_num_threads(), machine.passport()["cores"] or 1)
            got = (time.process_time() - processor) / max(time.perf_counter() - wall, 1e-9) / threads
            self.rate, self.got = rate, min(1.0, got) if self.clock.device == "cpu" else 1.0
        return self


def _arithmetic(watch: WallClock, dtype: torch.dtype, longest_s: float) -> Iterator[Probe]:
    """The probes of arithmetic that this device can run with `dtype`: the first, and those of at most `longest_s` seconds.

    Of random numbers: equal ones need less power, and a GPU computes with them at a rate that no model reaches.
    Raises what torch raises where not even the smallest matrix product runs.
    """
    device, per_flop = watch.device, 0.0
    drawn = torch.Generator(device).manual_seed(0)  # the user's own random numbers stay as they are
    layout = torch.preserve_format if device == "cpu" else torch.channels_last  # in which tensor cores work
    for flops, operation, shapes in _operations("cpu" if device == "cpu" else "gpu"):
        if per_flop * flops > longest_s:
            continue
        try:
            held = [torch.randn(shape, dtype=dtype, device=device, generator=drawn) for shape in shapes]
            held = [x.to(memory_format=layout) if x.dim() == 4 else x for x in held]
            operation(*held)
        except (RuntimeError, TypeError, NotImplementedError):
            if not per_flop:
                raise
            continue  # too large, or not there for this type
        probe = Probe(flops, partial(operation, *held), watch).time()
        per_flop = 1 / probe.rate
        yield probe


def _operations(size: str) -> Iterator[tuple[float, Callable[..., Any], tuple[tuple[int, ...], ...]]]:
    """FLOPs, the operation and the shapes of its arguments."""
    for rows, inner, columns in PRODUCTS[size]:
        shapes = (rows, inner), (inner, columns), (rows, columns)
        yield 2.0 * rows * inner * columns, lambda a, b, out: torch.mm(a, b, out=out), shapes
    for kernel, come, go, edge, batch in CONVOLUTIONS[size]:
        flops = 2.0 * batch * come * go * (edge * kernel) ** 2
        operation = partial(functional.conv2d, padding=kernel // 2)
        yield flops, operation, ((batch, come, edge, edge), (go, come, kernel, kernel))


def _streams(watch: WallClock) -> list[Probe]:
    """Read, copy, triad and in-place update of float32 buffers far larger than the last-level cache.

    Bytes are those the operation needs: each buffer once for reading and once for writing.
    """
    cache = cache_bytes(watch.device)
    wanted = max(2 * cache, min(8 * cache, LARGEST_BUFFER))
    x, y, z = (torch.ones(wanted // 4, device=watch.device) for _ in range(3))
    total = torch.empty((), device=watch.device)
    streams: tuple[tuple[int, Callable[[], Any]], ...] = (
        (1, lambda: torch.sum(x, 0, out=total)),
        (2, lambda: y.copy_(x)),
        (3, lambda: torch.add(x, y, alpha=3.0, out=z)),
        (2, lambda: x.relu_()),
    )
    return [Probe(buffers * 4.0 * x.numel(), call, watch).time() for buffers, call in streams]


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
