"""Probes of lesson 05 that go through many layers or whole networks, in a process of its own: torch alone is needed.

On a machine without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
from statistics import median
from time import perf_counter
from typing import Any

import torch

from course.experiment.device import device, wait, within
from course.lessons.l05_cudnn_benchmark.probes import _wake_up


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
