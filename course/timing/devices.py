"""What the clocks ask of a device: to wait for it, to fill its queue, to mark a place in it.

Importing this file never fails: each branch asks first whether this build of torch has the device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from course.core.where import ACCELERATORS, accelerators_here, available
from course.timing.validation import refuse

CYCLES = 2e9
"""Cycles of a GPU in a second, about."""
FILLER_BYTES = 256 << 20
"""Zeros that fill the queue of a device without `_sleep`, about a millisecond of work."""


def checked(device: Any) -> list[str]:
    """The devices named, as strings (None: the accelerator in use, else the CPU). Raises TimingError for one this machine lacks."""
    if device is None:
        return [next(iter(accelerators_here()), "cpu")]
    names = [str(d) for d in ([device] if isinstance(device, str) or not isinstance(device, Sequence) else device)]
    for name in names or [""]:
        kind = name.split(":")[0]
        if kind not in ("cpu", *ACCELERATORS) or not available(kind):
            raise refuse(
                f'This machine has no device "{name}" for the timer. Leave device out, or use device="cpu".',
                f'这台机器没有计时器能用的设备“{name}”。请去掉 device 参数，或者写 device="cpu"。',
            )
    return names


def fence_of(names: Sequence[str], only_in_use: bool = False) -> Callable[[], None] | None:
    """A function that waits until these accelerators are idle; None for none. only_in_use: it does not start CUDA where nobody did."""
    waiting = [_fence(name, only_in_use) for name in names]

    def fence() -> None:
        for wait in waiting:
            wait()

    return fence if waiting else None


def _fence(device: str, only_in_use: bool) -> Callable[[], Any]:
    import torch

    if device == "mps":
        return torch.mps.synchronize
    if only_in_use:
        return lambda: torch.cuda.synchronize() if torch.cuda.is_initialized() else None
    return torch.cuda.synchronize if ":" not in device else lambda: torch.cuda.synchronize(device)


def filler(device: str) -> Callable[[float], Any]:
    """A function that gives the device about so many seconds of other work, in its current stream."""
    import torch

    kind, _, index = device.partition(":")
    if kind == "cuda" and hasattr(torch.cuda, "_sleep"):

        def sleep(seconds: float) -> None:
            with torch.cuda.device(int(index)) if index else contextlib.nullcontext():
                torch.cuda._sleep(int(seconds * CYCLES))

        return sleep
    room = torch.empty(FILLER_BYTES, dtype=torch.uint8, device=device)

    def zero(seconds: float) -> None:
        for _ in range(1 + int(seconds * 1e3)):
            room.zero_()

    return zero


def event_maker(device: str) -> Callable[[], Any]:
    """A function that makes an event with timing on."""
    import torch

    event = torch.mps.event.Event if device == "mps" else torch.cuda.Event
    return lambda: event(enable_timing=True)


def stream_of(device: str) -> Callable[[], Any] | None:
    """A function that returns the current stream of a device such as "cuda:1", because a mark would otherwise go to the device in
    use. None for "cuda".
    """
    import torch

    return (lambda: torch.cuda.current_stream(device)) if device.startswith("cuda:") else None
