"""Probes of lesson 12 for a process of their own, because a process keeps cuDNN's plans.

Each returns plain JSON data. On a machine without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from course.experiment.device import device, wait
from course.experiment.kernels import summed


def _profile(call: Callable[[], Any]) -> list[Any]:
    """The events of one call, its GPU work included."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
    with profile(activities=activities, acc_events=True) as recording:
        call()
        wait()
    return list(recording.events())


def first_and_second(search: bool, batch: int, size: int) -> list[dict]:
    """The kernels of the first and the second call of one convolution, with cudnn.benchmark as told."""
    where = device()
    torch.backends.cudnn.benchmark = False
    x = torch.randn(64, 64, device=where)
    x @ x
    torch.nn.Conv2d(4, 8, 3).to(where)(torch.randn(2, 4, 16, 16, device=where))
    wait()
    torch.backends.cudnn.benchmark = search
    layer, images = torch.nn.Conv2d(32, 32, 3, padding=1).to(where), torch.randn(batch, 32, size, size, device=where)
    rows = []
    with torch.no_grad():
        for call in (1, 2):
            found = summed(_profile(lambda: layer(images)), where == "cuda")
            rows += [{"story": "search on" if search else "search off", "call": call, **row} for row in found]
    return rows


def copy_and_wait(size: int) -> list[dict]:
    """A copy to the device; then .item() with nothing queued and with work queued: the CPU's own row for it."""
    where = device()
    on_cpu, square = torch.randn(size, size), torch.randn(size, size, device=where)
    square @ square
    wait()
    copied = summed(_profile(lambda: on_cpu.to(where, copy=True)), where == "cuda")
    rows = [{"story": "copy", "call": 1, **row} for row in copied]

    def queued() -> None:
        result = square
        for _ in range(10):
            result = square @ result
        result.flatten()[0].item()

    for call, work in ((1, lambda: square.flatten()[0].item()), (2, queued)):
        found = [row for row in summed(_profile(work), False) if row["kernel"] == "aten::item"]
        rows += [{"story": "wait", "call": call, **row} for row in found]
    return rows
