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
from typing import Any

import torch
from torch.nn import functional

from course.core import machine
from course.core.bars import end_progress, progress
from course.core.i18n import t
from course.roofline.layer import Peaks
from course.roofline.machine import cache_bytes, clock, free_bytes, wait
from course.roofline.words import cannot, reason
from course.timing import clock_for
from course.timing.rounds import out_of_time
from course.timing.validation import require_positive

QUIET = 0.85
"""Least share of the processor time it could use that this process must get for its times to be believed."""
LONGEST = 1 / 24
"""Longest call of a probe, as a part of the budget."""
BLOCK_S = 0.002
"""Shortest block timed as one sample of a probe."""
LARGEST_BUFFER = 512 << 20
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
    Raises RooflineError or TimingError, in words, for an unknown device or type.
    """
    require_positive(max_time=max_time)
    name = clock_for(device).device
    work, traffic = _measured(name, dtype, max_time)
    got = min(work.got, traffic.got)
    return Peaks(
        work.rate,
        traffic.rate,
        str(dtype).removeprefix("torch."),
        name,
        torch.get_num_threads(),
        machine.passport(),
        datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        precision(name),
        () if got >= QUIET else (_busy(got),),
    )


@lru_cache(maxsize=16)
def kept_peaks(device: str, dtype: torch.dtype, threads: int, precision: str) -> Peaks:
    """The peaks of a device, measured once in a process for these settings, which must be in force."""
    return peaks(device, dtype)


def precision(device: str) -> str:
    """What torch may do to float32 inside a product, and inside a convolution, as set now; "" where unknown."""
    backends = torch.backends
    nodes = {"cpu": (backends.mkldnn.matmul, backends.mkldnn.conv), "cuda": (backends.cuda.matmul, backends.cudnn.conv)}
    return ", ".join(node.fp32_precision for node in nodes.get(device.split(":")[0], ()))


def _busy(got: float) -> str:
    return t(
        f"This process got only {got:.0%} of the processor time it could use meanwhile: the machine was busy, or threads shared a core. "
        "These peaks may be too low: measure again when it is quieter.",
        f"测量期间本进程只拿到了可用处理器时间的 {got:.0%}：机器正忙，或者多个线程挤在同一个核上。"
        "这些峰值可能偏低：请在机器空闲时重新测量。",
    )


@dataclass
class Probe:
    """amount: FLOPs or bytes of one call. rate: the best so far, a second. got: share of the processor time it could use that this
    process got then (1 on an accelerator).
    """

    amount: float
    call: Callable[[], Any]
    calls: int = 1
    rate: float = 0.0
    got: float = 1.0

    def time(self, device: str) -> float:
        """Seconds of one block; the rate is kept where it is the best."""
        now = clock(device)
        wait(device)
        wall, processor, began = time.perf_counter(), time.process_time(), now()
        for _ in range(self.calls):
            self.call()
        wait(device)
        seconds = max(now() - began, 1e-9)
        rate = self.amount * self.calls / seconds
        if rate > self.rate:
            threads = min(torch.get_num_threads(), machine.passport()["cores"] or 1)
            got = (time.process_time() - processor) / max(time.perf_counter() - wall, 1e-9) / threads
            self.rate, self.got = rate, min(1.0, got) if device == "cpu" else 1.0
        return seconds

    def long_enough(self, device: str) -> Probe:
        """This probe, with so many calls that a block takes BLOCK_S."""
        while (seconds := self.time(device)) < BLOCK_S and self.calls < 1 << 20:
            self.calls = max(self.calls + 1, min(10 * self.calls, int(1.1 * self.calls * BLOCK_S / seconds)))
        return self


def _measured(device: str, dtype: torch.dtype, max_time: float) -> list[Probe]:
    """The best probe of arithmetic and of traffic, after every one was tried in turn, round after round, until the time is out."""
    began = time.perf_counter()
    bar = progress(max_time, t("measuring the peaks", "测量峰值"))
    try:
        with torch.no_grad():
            kinds, round_s = [[*_arithmetic(device, dtype, max_time * LONGEST)], _streams(device)], 0.0
            while not round_s or time.perf_counter() - began + round_s <= max_time and not out_of_time():
                started = time.perf_counter()
                for probe in (*kinds[0], *kinds[1]):
                    probe.time(device)
                round_s = time.perf_counter() - started
                bar.update(min(time.perf_counter() - began, max_time) - bar.n)
            return [max(probes, key=lambda probe: probe.rate) for probes in kinds]
    finally:
        end_progress(bar)


def _arithmetic(device: str, dtype: torch.dtype, longest_s: float) -> Iterator[Probe]:
    """The probes of arithmetic that this device can run with `dtype`: the first, and those of at most `longest_s` seconds.

    Of random numbers: equal ones need less power, and a GPU computes with them at a rate that no model reaches.
    Raises RooflineError where not even the smallest matrix product runs.
    """
    drawn = torch.Generator(device).manual_seed(0)  # the user's own random numbers stay as they are
    layout = torch.preserve_format if device == "cpu" else torch.channels_last  # in which tensor cores work
    per_flop = 0.0
    for flops, operation, shapes in _operations("cpu" if device == "cpu" else "gpu"):
        if per_flop * flops > longest_s:
            continue
        try:
            held = [torch.randn(shape, dtype=dtype, device=device, generator=drawn) for shape in shapes]
            held = [x.to(memory_format=layout) if x.dim() == 4 else x for x in held]
            operation(*held)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            if per_flop:
                continue  # too large, or not there for this type
            raise cannot(
                f"{device} has no matrix product for {dtype} here: {reason(error)}. Try dtype=torch.float32.",
                f"这里的 {device} 不支持 {dtype} 的矩阵乘法：{reason(error)}。请试试 dtype=torch.float32。",
            ) from error
        probe = Probe(flops, partial(operation, *held)).long_enough(device)
        per_flop = 1 / probe.rate
        yield probe


def _operations(size: str) -> Iterator[tuple[float, Callable[..., Any], tuple[tuple[int, ...], ...]]]:
    """FLOPs, the operation and the shapes of its arguments."""
    for rows, inner, columns in PRODUCTS[size]:
        shapes = (rows, inner), (inner, columns), (rows, columns)
        yield 2.0 * rows * inner * columns, lambda a, b, out: torch.mm(a, b, out=out), shapes
    for kernel, come, go, edge, batch in CONVOLUTIONS[size]:
        flops, operation = (
            2.0 * batch * come * go * (edge * kernel) ** 2,
            partial(functional.conv2d, padding=kernel // 2),
        )
        yield flops, operation, ((batch, come, edge, edge), (go, come, kernel, kernel))


def _streams(device: str) -> list[Probe]:
    """Read, copy, triad and in-place update of float32 buffers far larger than the last-level cache.

    Bytes are those the operation needs: each buffer once for reading and once for writing.
    """
    cache = cache_bytes(device)
    wanted = int(max(2 * cache, min(8 * cache, LARGEST_BUFFER, free_bytes(device) // 6)))
    x, y, z = (torch.ones(wanted // 4, device=device) for _ in range(3))
    total = torch.empty((), device=device)
    streams: tuple[tuple[int, Callable[[], Any]], ...] = (
        (1, lambda: torch.sum(x, 0, out=total)),
        (2, lambda: y.copy_(x)),
        (3, lambda: torch.add(x, y, alpha=3.0, out=z)),
        (2, lambda: x.relu_()),
    )
    return [Probe(buffers * 4.0 * x.numel(), call).long_enough(device) for buffers, call in streams]
