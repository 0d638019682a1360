"""Probes of lesson 05 that need a process of their own, because a process remembers the plans it has made.

Each takes and returns plain JSON data. torch alone is needed. On a machine without a GPU the functions run
on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

import torch

from course.experiment.device import device, wait, within
from course.experiment.kernels import joined_set, seen

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


CHANGES = (
    "first call",
    "nothing",
    "new values",
    "twin layer",
    "last small batch",
    "two pixels more",
    "channels_last",
    "stride 2",
)


def conv_changes(changes: list[str]) -> int:
    """Convolutions that each differ from the first in one named thing, while oneDNN reports."""
    from torch.backends import mkldnn

    def layer(stride: int = 1) -> torch.nn.Module:
        return torch.nn.Conv2d(16, 16, 3, stride=stride, padding=1).eval()

    first, x = layer(), torch.randn(32, 16, 40, 40)
    calls = {
        "first call": (first, x),
        "nothing": (first, x),
        "new values": (first, torch.randn_like(x)),
        "twin layer": (layer(), x),
        "last small batch": (first, x[:20].clone()),
        "two pixels more": (first, torch.randn(32, 16, 42, 42)),
        "channels_last": (first, x.to(memory_format=torch.channels_last)),
        "stride 2": (layer(2), x),
    }
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
    found = {
        "peak_reserved_mib": torch.cuda.max_memory_reserved() / MIB,
        "peak_allocated_mib": torch.cuda.max_memory_allocated() / MIB,
        "reserved_mib": torch.cuda.memory_reserved() / MIB,
    }
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


def conv_visits(
    visits: list[list[int]], limit: int = 10, seconds: float = math.inf, threads: bool = False
) -> list[dict]:
    """Time a convolution for each visit [benchmark 0 or 1, batch, size], each call fenced on both sides.

    limit: cudnn.benchmark_limit. seconds: stops after them, at the earliest after three visits. threads: every call in
    a new thread. Rows in order: call_ms, peak and present memory in MiB.
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
        for benchmark, batch, size in within(seconds, visits, least=3):
            torch.backends.cudnn.benchmark = bool(benchmark)

            def call(image: torch.Tensor = images[batch, size]) -> None:
                with torch.no_grad():  # a new thread starts with gradients on
                    layer(image)
                wait()

            start = perf_counter()
            if threads:
                thread = Thread(target=call)
                thread.start()
                thread.join()
            else:
                call()
            rows.append({"call_ms": (perf_counter() - start) * 1e3, **_memory()})
    return rows


def model_steps(benchmark: int, steps: int, batch: int, size: int, seconds: float = math.inf) -> list[float]:
    """Milliseconds of each fenced forward pass of a ResNet18 (random weights, no gradients).

    seconds: stops after them, at the earliest after three steps.
    """
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
        for _ in within(seconds, range(steps), least=3):
            start = perf_counter()
            model(x)
            wait()
            times.append((perf_counter() - start) * 1e3)
    return times


def kernel_names(benchmark: int, batch: int, size: int) -> list[dict[str, Any]]:
    """Kernels (on a CPU: operations) of one convolution after three warm-up calls: whole names, time in µs."""
    where = device()
    torch.manual_seed(0)
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        torch.backends.cudnn.benchmark = bool(benchmark)
        layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
        x = torch.randn(batch, CHANNELS, size, size, device=where)
        return seen(lambda: layer(x))


def limited(limit: int, batch: int, size: int, calls: int, seconds: float = math.inf) -> dict[str, Any]:
    """One shape searched with this benchmark_limit: times, memory, and the kernels that won.

    free_mib: free on the GPU before the search, which may leave large workspaces out. first_mib, later_mib: peak of
    allocated memory during the first and the later calls above what was in use, the result included.
    """
    where = device()
    torch.manual_seed(0)
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        torch.backends.cudnn.benchmark = True
        if where == "cuda":
            torch.backends.cudnn.benchmark_limit = limit
        layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
        x = torch.randn(batch, CHANNELS, size, size, device=where)
        wait()
        free = torch.cuda.mem_get_info()[0] / MIB if where == "cuda" else 0.0
        in_use = torch.cuda.memory_allocated() / MIB if where == "cuda" else 0.0
        _memory()
        times, peaks = [], []
        for _ in within(seconds, range(calls), least=3):
            start = perf_counter()
            layer(x)
            wait()
            times.append((perf_counter() - start) * 1e3)
            peaks.append(_memory()["peak_allocated_mib"] - in_use)
        return {
            "first_ms": times[0],
            "later_ms": median(times[2:]),
            "calls": len(times),
            "free_mib": free,
            "first_mib": peaks[0],
            "later_mib": max(peaks[2:]),
            "kernels": joined_set(seen(lambda: layer(x), 0, 3)),
        }


# --- what counts as new ------------------------------------------------------------------------------------------

CHANGES_CUDA = (
    "float32",
    "twin layer",
    "bfloat16",
    "channels_last",
    "bfloat16, channels_last",
    "training step",
    "torch.compile",
)


def new_keys(
    changes: list[str], batch: int, size: int, seconds: float = math.inf, backend: str = "inductor"
) -> list[dict]:
    """First and later calls of a convolution changed in one way after the other, the search on; and its kernels.

    A training step is forward and backward: two more operations on the same shapes, which are keys of their own.
    torch.compile calls once on another shape first, so that starting the compiler is not in the first call.
    seconds: no further change after them. A change that this machine refuses comes back with ``error``.
    """
    where = device()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    with torch.no_grad():
        _wake_up(where)
    torch.backends.cudnn.benchmark = True
    rows = []
    for change in within(seconds, changes, least=2):
        try:
            call = _changed(change, batch, size, where, backend)
            times = []
            for _ in range(6):
                start = perf_counter()
                call()
                wait()
                times.append((perf_counter() - start) * 1e3)
            rows.append(
                {
                    "change": change,
                    "first_ms": times[0],
                    "later_ms": median(times[2:]),
                    "kernels": joined_set(seen(call, 0, 3)),
                    "error": "",
                }
            )
        except Exception as error:  # noqa: BLE001  (a compiler that is missing, a type that is refused: that is the finding)
            rows.append(
                {
                    "change": change,
                    "first_ms": 0.0,
                    "later_ms": 0.0,
                    "kernels": "",
                    "error": f"{type(error).__name__}: {str(error).strip()}".split("\n")[0][:200],
                }
            )
    return rows


def _changed(change: str, batch: int, size: int, where: str, backend: str) -> Callable[[], Any]:
    """The call of one line of CHANGES_CUDA, ready to be timed."""
    layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
    x = torch.randn(batch, CHANNELS, size, size, device=where)
    if "bfloat16" in change:
        layer, x = layer.to(torch.bfloat16), x.to(torch.bfloat16)
    if "channels_last" in change:
        layer, x = layer.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if change == "training step":
        x.requires_grad_()
        return lambda: torch.autograd.grad(layer(x).sum(), (x, layer.weight))
    if change == "torch.compile":
        compiled = torch.compile(layer, backend=backend)
        with torch.no_grad():
            compiled(x[:, :, : size // 2, : size // 2].contiguous())
        wait()
        layer = compiled

    def forward() -> Any:
        with torch.no_grad():
            return layer(x)

    return forward
