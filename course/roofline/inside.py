"""Where the time of one run of a model goes, as torch.profiler sees it: a part for each layer, and one for what runs outside them.

Every layer opens a named range. An operation belongs to the innermost range around it. On a GPU its kernels, by their own durations,
are what counts; on a CPU its own time, and the time of the Python around it. So the parts add up to all there is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.profiler import record_function

from course.core.profiled import events_of, is_kernel
from course.roofline.hooks import around
from course.roofline.layer import OUTSIDE
from course.roofline.replay import Unit

LAYER = "layer: "
EMPTY_CALLS, EMPTY_PROFILES = 20, 5


def profiled(run: Callable[[], Any], layers: Sequence[Unit], on_cuda: bool) -> list[Any]:
    """The events of one run, each call of a layer inside a range of its own."""
    names, opened = {id(unit.module): LAYER + unit.name for unit in layers}, []

    def enter(module: nn.Module, _args: Any, _kwargs: Any) -> None:
        opened.append(record_function(names[id(module)]))
        opened[-1].__enter__()

    def leave(_module: nn.Module, _output: Any) -> None:
        opened.pop().__exit__(None, None, None)

    with around([unit.module for unit in layers], enter, leave):
        return events_of(run, on_cuda)


def parts_us(events: Iterable[Any], on_cuda: bool) -> dict[str, float]:
    """Layer -> microseconds of it in one run, from its events; OUTSIDE: of all else."""
    us = kernels_us if on_cuda else own_us
    operations, found = [event for event in events if not is_kernel(event)], defaultdict[str, float](float)
    for event in operations:
        found[_range(event)] += us(event)
    if not on_cuda:
        ranges = sum(event.name.startswith(LAYER) for event in operations)
        found[OUTSIDE] = max(0.0, found[OUTSIDE] - ranges * empty_range_us())
    return dict(found)


def own_us(event: Any) -> float:
    """Microseconds on the CPU in this operation or range itself, without those inside it."""
    return float(event.self_cpu_time_total)


def kernels_us(event: Any) -> float:
    """Microseconds of the kernels that this operation itself started."""
    label = getattr(event, "is_user_annotation", False)
    return 0.0 if label else float(sum(kernel.duration for kernel in event.kernels))


@lru_cache(maxsize=1)
def empty_range_us() -> float:
    """Microseconds that opening and closing a range costs outside of it, in a profile on the CPU: the least of several profiles."""
    nothing, x = Unit("", nn.Identity()), torch.zeros(1)

    def one_profile() -> float:
        events = profiled(lambda: [nothing.module(x) for _ in range(EMPTY_CALLS)], [nothing], on_cuda=False)
        return sum(own_us(event) for event in events if _range(event) == OUTSIDE) / EMPTY_CALLS

    return min(one_profile() for _ in range(EMPTY_PROFILES))


def _range(event: Any) -> str:
    """The innermost layer around an event; OUTSIDE where there is none."""
    while event is not None:
        if event.name.startswith(LAYER):
            return event.name[len(LAYER) :]
        event = event.cpu_parent
    return OUTSIDE
