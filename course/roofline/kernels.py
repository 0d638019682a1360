"""Where the time of one forward (or training step) goes on a GPU: each layer's kernels as they run inside the whole.

Every layer opens a named range. An operation belongs to the innermost range around it; its kernels, by their own durations,
are what counts. A backward operation finds its layer by the sequence number of the forward operation it belongs to. So the parts
add up to all kernels by construction, and what the GPU waits for is a fact of the whole: steady time less kernels.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import nn

from course.profiled import events_of, is_kernel
from course.roofline.replay import Call, Samples, Unit

LAYER = "layer: "
OUTSIDE = "(outside the layers)"
"""What no layer did: functions called in a forward, the loss of a step."""
CONVERSIONS = ("nchwtonhwc", "nhwctonchw", "converttensor")
"""Parts of the names of kernels that only put a tensor into another memory layout, in small letters."""
WARM_UPS = 3
"""Runs of the whole before its kernels are looked at."""
STEADY_CALLS = 5
"""Calls in a row without a wait."""


class Found(NamedTuple):
    """layers: with their samples, and OUTSIDE where kernels ran there. busy_s: seconds of all kernels, one value a round.
    conversions: the part of them that only changes the memory layout."""

    layers: list[Unit]
    busy_s: list[float]
    conversions: float


def time_layers(whole: Call, layers: Sequence[Unit], rounds: int, in_time: Callable[[], bool]) -> Found:
    """Time the layers by their kernels inside the whole: at most so many rounds, and at least two although it is no longer `in_time`."""
    parts: list[dict[str, float]] = []
    conversions = 0.0
    for _ in range(WARM_UPS):
        whole.renew()
        whole()
    with ranges((unit.name, unit.module) for unit in layers):
        while len(parts) < rounds and (len(parts) < 2 or in_time()):
            whole.renew()
            events = events_of(whole, on_cuda=True)
            parts.append(of_layers(events))
            conversions = conversions_share(events)
    outside = [Unit(OUTSIDE, nn.Module())] if any(part.get(OUTSIDE) for part in parts) else []
    found = [*layers, *outside]
    for unit in found:
        unit.timed = [Samples([part.get(unit.name, 0.0) * 1e-6 for part in parts])]
    return Found(found, [sum(part.values()) * 1e-6 for part in parts], conversions)


def time_whole(whole: Call, device: str, rounds: int, in_time: Callable[[], bool]) -> None:
    """Take samples of the whole without a profiler, as often as `time_layers`: several runs in a row, with arguments made before."""
    while len(whole.samples_s) < rounds and (len(whole.samples_s) < 2 or in_time()):
        calls = [replace(whole) for _ in range(STEADY_CALLS)]
        for call in calls:
            call.renew()
        torch.cuda.synchronize(device)
        began = time.perf_counter()
        for call in calls:
            call()
        torch.cuda.synchronize(device)
        whole.samples_s.append((time.perf_counter() - began) / STEADY_CALLS)


@contextmanager
def ranges(layers: Iterable[tuple[str, nn.Module]]) -> Iterator[None]:
    """A named range around every call of each layer, its other hooks included."""
    from torch.profiler import record_function

    with ExitStack() as stack:
        for name, module in layers:
            opened: list[Any] = []

            def enter(_module: nn.Module, _args: Any, name: str = name, opened: list[Any] = opened) -> None:
                opened.append(record_function(LAYER + name))
                opened[-1].__enter__()

            def leave(_module: nn.Module, _args: Any, _output: Any, opened: list[Any] = opened) -> None:
                opened.pop().__exit__(None, None, None)

            for handle in (
                module.register_forward_pre_hook(enter, prepend=True),
                module.register_forward_hook(leave, always_call=True),
            ):
                stack.callback(handle.remove)
        yield


def of_layers(events: Sequence[Any]) -> dict[str, float]:
    """Layer -> microseconds of the kernels of its operations, from the events of one call inside `ranges`; OUTSIDE: of all others."""
    operations = [event for event in events if not is_kernel(event)]
    of_sequence: dict[int, str] = {}
    for event in sorted(operations, key=lambda event: event.time_range.start):
        layer = _range(event)
        if event.sequence_nr >= 0 and layer is not None:
            of_sequence.setdefault(event.sequence_nr, layer)
    found: dict[str, float] = defaultdict(float)
    for event in operations:
        us = kernels_us(event) if not getattr(event, "is_user_annotation", False) else 0.0
        if us:
            layer = _range(event)
            if layer is None:
                numbers = (one.sequence_nr for one in _chain(event))
                layer = next((of_sequence[number] for number in numbers if number in of_sequence), OUTSIDE)
            found[layer] += us
    return dict(found)


def kernels_us(event: Any) -> float:
    """Microseconds of the kernels that this operation itself started."""
    return float(sum(kernel.duration for kernel in event.kernels))


def conversions_share(events: Iterable[Any]) -> float:
    """The part of all kernels' time in kernels that only change the memory layout."""
    times = [
        (event.name.lower(), event.time_range.end - event.time_range.start) for event in events if is_kernel(event)
    ]
    total = sum(us for _, us in times)
    return sum(us for name, us in times if any(part in name for part in CONVERSIONS)) / total if total else 0.0


def _chain(event: Any) -> Iterator[Any]:
    """The event and those it is inside of, from the innermost outwards."""
    while event is not None:
        yield event
        event = event.cpu_parent


def _range(event: Any) -> str | None:
    """The innermost layer around an event."""
    return next((one.name[len(LAYER) :] for one in _chain(event) if one.name.startswith(LAYER)), None)
