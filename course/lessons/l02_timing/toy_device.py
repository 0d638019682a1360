"""An analogy, not an accelerator: one worker thread plays the GPU, and its kernels only sleep.

Launching returns at once and the work waits in a queue, exactly as with a real device; the difference is
that here the true duration of every kernel is known, so a stopwatch can be judged. Nothing here uses torch.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from course.core import arguments
from course.core.i18n import both

KERNEL = both("the milliseconds of a kernel", "kernel 的毫秒数")
COPY = both("the milliseconds of a copy", "拷贝的毫秒数")

Span = tuple[float, float]
"""When a piece of work began and ended, in seconds of `perf_counter`."""


def _sleep_ms(milliseconds: float) -> Span:
    began = time.perf_counter()
    time.sleep(milliseconds / 1e3)
    return began, time.perf_counter()


class Result:
    """What a launch hands back at once: a value that may not exist yet."""

    def __init__(self, future: Future[Span]) -> None:
        self._future = future

    def span(self) -> Span:
        """When the kernel really began and ended, in seconds of `perf_counter`; waits for it. No GPU tells that."""
        return self._future.result()

    def done(self) -> bool:
        """Whether the kernel has finished. Does not wait."""
        return self._future.done()

    def cpu(self, copy_ms: float = 6.0) -> Result:
        """Wait for the value, then copy it, which takes ``copy_ms`` milliseconds of its own."""
        copy_ms = arguments.number(COPY, copy_ms, 0)
        self._future.result()
        time.sleep(copy_ms / 1e3)
        return self

    def __repr__(self) -> str:
        return f"Result(done={self.done()})"


class Event:
    """A mark put into the queue; the device writes the time beside it when it gets there."""

    def __init__(self, future: Future[Span]) -> None:
        self._future = future

    def elapsed_ms(self, later: Event) -> float:
        """Milliseconds between two marks on the device's side of the queue; waits for both."""
        arguments.of_type("later", later, Event)
        return (later._future.result()[1] - self._future.result()[1]) * 1e3


class ToyDevice:
    """A pretend device with one queue. ``launch(20)`` queues a kernel that takes 20 ms."""

    def __init__(self) -> None:
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toy-device")
        self._launched: list[Future[Span]] = []
        self._queue.submit(_sleep_ms, 0.0).result()  # no launch pays for starting the thread

    def launch(self, milliseconds: float) -> Result:
        """Queue a kernel of that many milliseconds and return at once. Raises ValueError below 0."""
        return Result(self._put(arguments.number(KERNEL, milliseconds, 0)))

    def event(self) -> Event:
        """Queue a mark behind everything launched so far."""
        return Event(self._put(0.0))

    def synchronize(self) -> None:
        """The fence: wait until the queue is empty."""
        for future in self._launched:
            future.result()
        self._launched.clear()

    def waiting(self) -> int:
        """How many kernels and marks are not finished yet."""
        return sum(not future.done() for future in self._launched)

    def _put(self, milliseconds: float) -> Future[Span]:
        future = self._queue.submit(_sleep_ms, milliseconds)
        self._launched.append(future)
        return future

    def close(self) -> None:
        """Finish what is queued and end the worker thread."""
        self._queue.shutdown(wait=True)

    def __enter__(self) -> ToyDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class VirtualDevice:
    """Kernels wait in a queue; `clock()` counts virtual seconds. `log` keeps what was called, in order."""

    LAUNCH_MS = 0.01

    def __init__(self) -> None:
        self._now_ms = 0.0
        self._free_ms = 0.0
        self.log: list[str] = []

    def launch(self, milliseconds: float) -> None:
        """Queue a kernel of that many milliseconds; the call itself takes 0.01 ms. Raises ValueError below 0."""
        milliseconds = arguments.number(KERNEL, milliseconds, 0)
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
