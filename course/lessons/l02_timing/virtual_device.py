"""A world where time is a number: a device with a queue, a fence and a clock that nothing can disturb."""

from __future__ import annotations

from course.core import arguments
from course.lessons.l02_timing.toy_device import KERNEL


class VirtualDevice:
    """Kernels wait in a queue; `clock()` counts virtual seconds. `log` keeps what was called, in order."""

    LAUNCH_MS = 0.01

    def __init__(self) -> None:
        self._now_ms = 0.0
        self._free_ms = 0.0
        self.log: list[str] = []

    def launch(self, milliseconds: float) -> None:
        """Queue a kernel of that many milliseconds; the call itself takes 0.01 ms. Raises ValueError below 0."""
        milliseconds = arguments.milliseconds(KERNEL, milliseconds)
        self.log.append("launch")
        self._now_ms += self.LAUNCH_MS
        self._free_ms = max(self._free_ms, self._now_ms) + milliseconds

    def synchronize(self) -> None:
        """Wait until the queue is empty."""
        self.log.append("synchronize")
        self._now_ms = max(self._now_ms, self._free_ms)

    def clock(self) -> float:
        """Virtual time in seconds."""
        self.log.append("clock")
        return self._now_ms / 1e3
