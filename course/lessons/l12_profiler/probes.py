"""Probes of lesson 12 for a process of their own, because a process keeps cuDNN's plans.

Each returns plain JSON data. On a machine without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import sleep
from typing import Any

import torch

from course.experiment.probes import device, wait

LABEL = "lesson 12: the call"
CALLS = 4


def _events(call: Callable[[], Any]) -> list[Any]:
    """The events of one call, its GPU work included, in the order of time.

    The first work of a GPU inside a profile waits for the profiler's buffer, milliseconds long: something tiny pays for that,
    and what counts is what begins under the label.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    from torch.profiler import ProfilerActivity, profile, record_function

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
    with profile(activities=activities, acc_events=True) as recording:
        torch.zeros(1, device=device()).item()
        wait()
        sleep(0.001)  # more than the clocks of GPU and CPU are apart
        with record_function(LABEL):
            call()
            wait()
    found = sorted(recording.events(), key=lambda event: event.time_range.start)
    began = min(event.time_range.start for event in found if event.name == LABEL)
    return [event for event in found if event.name != LABEL and event.time_range.start >= began]


def _launches(call: Callable[[], Any]) -> list[dict]:
    """The kernels of one call in the order of time; on a CPU its operations."""
    kernels = [event for event in _events(call) if ("CUDA" in str(event.device_type)) == torch.cuda.is_available()]
    return [
        {"place": place, "kernel": event.name, "us": event.time_range.elapsed_us()}
        for place, event in enumerate(kernels, start=1)
    ]


def first_and_later(search: bool, batch: int, size: int) -> list[dict]:
    """The kernels of the first calls of one convolution, with cudnn.benchmark as told; without the search a copy and waits, too."""
    where = device()
    torch.backends.cudnn.benchmark = False
    x = torch.randn(64, 64, device=where)
    x @ x
    torch.nn.Conv2d(4, 8, 3).to(where)(torch.randn(2, 4, 16, 16, device=where))
    wait()
    torch.backends.cudnn.benchmark = search
    layer, images = torch.nn.Conv2d(32, 32, 3, padding=1).to(where), torch.randn(batch, 32, size, size, device=where)
    story, rows = f"search {'on' if search else 'off'}", []
    with torch.no_grad():
        for call in range(1, CALLS + 1):
            rows += [{"story": story, "call": call, **row} for row in _launches(lambda: layer(images))]
    return rows if search else rows + copy_and_wait(8 * size)


def copy_and_wait(size: int) -> list[dict]:
    """A copy to the device; then .item() with nothing queued and with work queued: the CPU's own row for it."""
    where = device()
    on_cpu, square = torch.randn(size, size), torch.randn(size, size, device=where)
    square @ square
    wait()
    rows = [{"story": "copy", "call": 1, **row} for row in _launches(lambda: on_cpu.to(where, copy=True))]

    def queued() -> None:
        result = square
        for _ in range(10):
            result = square @ result
        result.flatten()[0].item()

    for call, work in ((1, lambda: square.flatten()[0].item()), (2, queued)):
        (item,) = (event for event in _events(work) if event.name == "aten::item")
        us = item.time_range.elapsed_us()
        rows.append({"story": "wait", "call": call, "place": 1, "kernel": "aten::item", "us": us})
    return rows
