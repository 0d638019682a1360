"""The events of torch.profiler of one block of work, taken on the devices where the work is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from course.core.where import accelerators_here, noted, work_of

os.environ.setdefault(
    "KINETO_LOG_LEVEL", "6"
)  # else the first profile of a process writes lines about itself to stderr
WHOLE = "course: the whole"


def runs_on_cuda(call: Callable[[], Any]) -> bool:
    """Whether `call` works on a CUDA device, seen by calling it once; it is not called on a machine without an accelerator."""
    if not accelerators_here():
        return False
    found: set[str] = set()
    with noted(found):
        call()
    return work_of(found)[0].startswith("cuda")


def events_of(work: Callable[[], Any], on_cuda: bool, name: str = WHOLE) -> list[Any]:
    """The events of `work()` and of nothing before it, inside a range called `name`; on a GPU until it has finished.

    On a GPU a tiny kernel runs first: the first activity inside a profile pays for the profiler's buffer. acc_events changes nothing
    in a profile of one cycle; without it torch 2.11 warns.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    wait = torch.cuda.synchronize if on_cuda else lambda: None
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_cuda else [])]
    wait()
    with profile(activities=activities, acc_events=True) as recording:
        if on_cuda:
            torch.zeros(1, device="cuda")
            wait()
        with record_function(name):
            work()
            wait()
    return since(name, recording.events())


def since(name: str, events: Any) -> list[Any]:
    """The events from the start of the range `name` on, without the ranges that the profiler draws a second time beside the kernels."""
    listed = list(events)
    began = min((e.time_range.start for e in listed if e.name == name and not is_kernel(e)), default=0.0)
    return [
        e
        for e in listed
        if e.time_range.start >= began and not (is_kernel(e) and getattr(e, "is_user_annotation", False))
    ]


def is_kernel(event: Any) -> bool:
    """Whether the event ran on a GPU: a kernel, a copy, a fill."""
    return "CUDA" in str(event.device_type)
