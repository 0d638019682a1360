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
from typing import Any

from torch import nn

from course.profiled import is_kernel

LAYER = "layer: "
OUTSIDE = "(outside the layers)"
"""What no layer did: functions called in a forward, the loss of a step."""
CONVERSIONS = ("nchwtonhwc", "nhwctonchw", "converttensor")
"""Parts of the names of kernels that only put a tensor into another memory layout, in small letters."""
STEADY_CALLS = 5
"""Calls in a row without a wait."""


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


def of_layers(events: Sequence[Any], own_us: Callable[[Any], float]) -> dict[str, float]:
    """Layer -> microseconds of its operations, from the events of one call inside `ranges`; OUTSIDE: of all others.

    own_us: the microseconds of one operation without those it calls, such as `kernels_us`.
    """
    operations = [event for event in events if not is_kernel(event)]
    of_sequence: dict[int, str] = {}
    for event in sorted(operations, key=lambda event: event.time_range.start):
        layer = _range(event)
        if event.sequence_nr >= 0 and layer is not None:
            of_sequence.setdefault(event.sequence_nr, layer)
    found: dict[str, float] = defaultdict(float)
    for event in operations:
        us = own_us(event) if not getattr(event, "is_user_annotation", False) else 0.0
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


def steady_s(calls: Sequence[Callable[[], Any]], wait: Callable[[], Any]) -> float:
    """Seconds of one of several calls in a row without a wait between them."""
    wait()
    began = time.perf_counter()
    for call in calls:
        call()
    wait()
    return (time.perf_counter() - began) / len(calls)


def _chain(event: Any) -> Iterator[Any]:
    """The event and those it is inside of, from the innermost outwards."""
    while event is not None:
        yield event
        event = event.cpu_parent


def _range(event: Any) -> str | None:
    """The innermost layer around an event."""
    return next((one.name[len(LAYER) :] for one in _chain(event) if one.name.startswith(LAYER)), None)
