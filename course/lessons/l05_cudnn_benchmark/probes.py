"""Probes of lesson 05 that need a process of their own, because a process remembers the plans it has made.

Each takes and returns plain JSON data. torch alone is needed (and `course.models` for networks). On a machine without a GPU the
functions run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
import re
from statistics import median
from time import perf_counter
from typing import Any

import torch

from course.experiment.probes import device, wait, within

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


def conv_visits(visits: list[list[int]], seconds: float = math.inf) -> list[dict]:
    """Time a convolution for each visit [benchmark 0 or 1, batch, size], each call fenced on both sides.

    seconds: stops after them, at the earliest after three visits. Rows in order: call_ms, peak and present memory in MiB.
    """
    where = device()
    torch.manual_seed(0)
    rows = []
    with torch.no_grad():
        torch.backends.cudnn.benchmark = False
        _wake_up(where)
        layer = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False).to(where)
        images = {(n, s): torch.randn(n, CHANNELS, s, s, device=where) for _, n, s in visits}
        wait()
        _memory()
        for benchmark, batch, size in within(seconds, visits, least=3):
            torch.backends.cudnn.benchmark = bool(benchmark)
            start = perf_counter()
            layer(images[batch, size])
            wait()
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


def training_steps(
    benchmark: int, network: str, half: int, steps: int, batch: int, size: int, seconds: float = math.inf
) -> dict[str, Any]:
    """First and later training steps of a network of `course.models` (SGD, mean square of the output); half: AMP and channels_last.

    first_ms, step_ms (median of the steps after the third), steps. seconds: stops after them, at the earliest after five steps.
    """
    from course import models

    where = device()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    with torch.no_grad():
        _wake_up(where)
    torch.backends.cudnn.benchmark = bool(benchmark)
    layout = torch.channels_last if half else torch.contiguous_format
    model = getattr(models, network)().to(where, memory_format=layout).train()
    x = torch.randn(batch, 3, size, size).to(where, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    times = []
    wait()
    for _ in within(seconds, range(steps), least=5):
        start = perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(where, torch.float16 if where == "cuda" else torch.bfloat16, enabled=bool(half)):
            loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        wait()
        times.append((perf_counter() - start) * 1e3)
    return {"first_ms": times[0], "step_ms": median(times[3:]), "steps": len(times)}
