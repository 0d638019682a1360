"""Probes of lesson 05 that need a process of their own, because a process remembers the plans it has made.

Each takes and returns plain JSON data. torch alone is needed. On a machine without a GPU the functions run
on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any

import torch

from course.experiment.device import device, wait

MIB = 1024**2
CHANNELS = 32
CREATED = re.compile(r"create:cache_(hit|miss).*,convolution,.*?(mb\d+_\S*?ih\d+[^,]*)")


def created(log: str) -> list[dict[str, str]]:
    """The convolutions of a oneDNN creation log, in order: event (hit or miss) and the problem it names."""
    return [{"event": event, "problem": problem} for event, problem in CREATED.findall(log)]


def conv_sizes(sizes: list[int], batch: int = 8) -> int:
    """One small convolution per size while oneDNN reports what it creates; the report goes to stdout."""
    from torch.backends import mkldnn

    layer = torch.nn.Conv2d(3, 16, 3, padding=1).eval()
    with torch.inference_mode():
        for size in sizes:
            with mkldnn.verbose(mkldnn.VERBOSE_ON_CREATION):
                layer(torch.zeros(batch, 3, size, size))
    return len(sizes)


CHANGES = ("first call", "nothing", "new values", "twin layer", "last small batch", "two pixels more",
           "channels_last", "stride 2")


def conv_changes(changes: list[str]) -> int:
    """Convolutions that each differ from the first in one named thing, while oneDNN reports."""
    from torch.backends import mkldnn

    def layer(stride: int = 1) -> torch.nn.Module:
        return torch.nn.Conv2d(16, 16, 3, stride=stride, padding=1).eval()

    first, x = layer(), torch.randn(32, 16, 40, 40)
    calls = {"first call": (first, x), "nothing": (first, x), "new values": (first, torch.randn_like(x)),
             "twin layer": (layer(), x), "last small batch": (first, x[:20].clone()),
             "two pixels more": (first, torch.randn(32, 16, 42, 42)),
             "channels_last": (first, x.to(memory_format=torch.channels_last)), "stride 2": (layer(2), x)}
    with torch.inference_mode():
        for change in changes:
            module, image = calls[change]
            with mkldnn.verbose(mkldnn.VERBOSE_ON_CREATION):
                module(image)
    return len(changes)


def _memory() -> dict[str, float]:
    """Peaks since the last call of this function, in MiB; zeros without a GPU."""
    if not torch.cuda.is_available():
        return {"peak_reserved_mib": 0.0, "peak_allocated_mib": 0.0, "reserved_mib": 0.0}
    found = {"peak_reserved_mib": torch.cuda.max_memory_reserved() / MIB,
             "peak_allocated_mib": torch.cuda.max_memory_allocated() / MIB,
             "reserved_mib": torch.cuda.memory_reserved() / MIB}
    torch.cuda.reset_peak_memory_stats()
    return found


def _wake_up(device: str) -> None:
    """Bring up the device and its libraries with another shape, so that first calls pay for theirs alone."""
    x = torch.randn(64, 64, device=device)
    x @ x
    layer = torch.nn.Conv2d(4, 8, 3, padding=1).to(device)
    for _ in range(3):
        layer(torch.randn(2, 4, 16, 16, device=device))
    wait()


def conv_visits(visits: list[list[int]], limit: int = 10) -> list[dict[str, float]]:
    """Time a convolution for each visit [benchmark 0 or 1, batch, size], each call fenced on both sides.

    limit: cudnn.benchmark_limit. Rows in order: call_ms, peak and present memory in MiB.
    """
    where = device()
    torch.manual_seed(0)
    rows = []
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        if where == "cuda":
            torch.backends.cudnn.benchmark_limit = limit
        layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
        images = {(n, s): torch.randn(n, CHANNELS, s, s, device=where) for _, n, s in visits}
        wait()
        _memory()
        for benchmark, batch, size in visits:
            torch.backends.cudnn.benchmark = bool(benchmark)
            start = perf_counter()
            layer(images[batch, size])
            wait()
            rows.append({"call_ms": (perf_counter() - start) * 1e3, **_memory()})
    return rows


def model_steps(benchmark: int, steps: int, batch: int, size: int) -> list[float]:
    """Milliseconds of each fenced forward pass of a ResNet18 (random weights, no gradients)."""
    from course.models import resnet18

    where = device()
    torch.manual_seed(0)
    times = []
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        torch.backends.cudnn.benchmark = bool(benchmark)
        model = resnet18().to(where).eval()
        x = torch.randn(batch, 3, size, size, device=where)
        wait()
        for _ in range(steps):
            start = perf_counter()
            model(x)
            wait()
            times.append((perf_counter() - start) * 1e3)
    return times


def kernel_names(benchmark: int, batch: int, size: int) -> list[dict[str, Any]]:
    """Kernels (on a CPU: operations) of one convolution after three warm-up calls, with their time in µs."""
    from torch.profiler import ProfilerActivity, profile

    where = device()
    torch.manual_seed(0)
    on_gpu = where == "cuda"
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        torch.backends.cudnn.benchmark = bool(benchmark)
        layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
        x = torch.randn(batch, CHANNELS, size, size, device=where)
        for _ in range(3):
            layer(x)
        wait()
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
        with profile(activities=activities) as recording:
            for _ in range(5):
                layer(x)
            wait()
    return _kernels(recording.events(), on_gpu)


def _kernels(events: Any, on_gpu: bool) -> list[dict[str, Any]]:
    """Sum the events of one kind of device by name; longest first."""
    totals: dict[str, list[float]] = {}
    for event in events:
        if ("CUDA" in str(event.device_type)) != on_gpu:
            continue
        time_us = event.time_range.elapsed_us()
        if time_us > 0:
            totals.setdefault(event.name, []).append(time_us)
    found = [{"kernel": name, "calls": len(times), "mean_us": sum(times) / len(times)}
             for name, times in totals.items()]
    return sorted(found, key=lambda row: -row["calls"] * row["mean_us"])[:5]
