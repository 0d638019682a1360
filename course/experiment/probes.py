"""What probes of GPU experiments share: the device (without one they run on the CPU, which tests their form alone), and which kernels
ran, by the profiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Any, TypeVar

import torch

from course.core.profiled import WHOLE, events_of, is_kernel, runs_on_cuda

T = TypeVar("T")


def device() -> str:
    """cuda where there is one, else cpu."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def wait() -> None:
    """Until the GPU has finished; nothing on a CPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def within(seconds: float, items: Iterable[T], least: int = 1) -> Iterator[T]:
    """The items until the seconds are out; the first ``least`` always come. For probes in a process of their own."""
    end = perf_counter() + (seconds if math.isfinite(seconds) else 1e9)
    for number, item in enumerate(items):
        if number >= least and perf_counter() > end:
            return
        yield item


# --- kernels ---


def seen(call: Callable[[], Any], warm_ups: int = 3, calls: int = 5) -> list[dict[str, Any]]:
    """The kernels (of work on a CPU: operations) of a call: whole name, how often, mean in µs; the longest in all first."""
    on_gpu = runs_on_cuda(call)
    for _ in range(warm_ups):
        call()

    def repeated() -> None:
        for _ in range(calls):
            call()

    return summed((event for event in events_of(repeated, on_gpu) if event.name != WHOLE), on_gpu)


def summed(events: Iterable[Any], on_gpu: bool) -> list[dict[str, Any]]:
    """The events of one kind of device by name; the longest in all first."""
    totals: dict[str, list[float]] = {}
    for event in events:
        if is_kernel(event) == on_gpu and (time_us := event.time_range.elapsed_us()) > 0:
            totals.setdefault(event.name, []).append(time_us)
    found = [
        {"kernel": name, "calls": len(times), "mean_us": sum(times) / len(times)} for name, times in totals.items()
    ]
    return sorted(found, key=lambda row: -row["calls"] * row["mean_us"])
