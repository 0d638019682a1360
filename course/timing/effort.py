"""How many threads work during a measurement, and the timer's own overhead."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from course.i18n import t
from course.timing import stats
from course.timing.clock import Clock


def threads(clock: Clock) -> int:
    """Threads torch uses inside one operator on the CPU, in the process where `clock` runs; 1 without torch."""
    known = getattr(clock, "threads", None)
    if known:
        return int(known)
    torch = sys.modules.get("torch")  # a process that never loaded it has no threads of it
    return int(torch.get_num_threads()) if torch else 1


def overhead_ns(clock: Clock, calls: int) -> float:
    """What the timer itself adds, in ns a call: blocks of `calls` calls of a function that does nothing.

    The best of seven. Calling and returning is in it, as in the empty statement of timeit; the clock is read
    twice a block, so a block of one call pays for both readings.
    """
    return min(clock.block(_nothing, calls) for _ in range(7)) / calls * 1e9


def _nothing() -> None:
    pass


PARALLEL = 1.3
"""A function counts as one that uses several threads if more CPU threads than this work on average."""


SEVERAL = 1.1
"""If fewer CPU threads than this work on average, one thread did everything."""
UNEVEN = 10
"""On a busy machine the slow tenth of a function in one thread took up to 5 times as long as its fastest block, that of one in
several threads 40 to 1,400 times (load 15 on two cores).
"""


def starved(seconds: Sequence[float]) -> bool:
    """Whether the threads of these blocks mostly waited for a core: the slowest tenth of the blocks took far longer
    than the fastest block.
    """
    return len(seconds) >= stats.FEWEST_ROUNDS and stats.quantile(seconds, 0.9) > UNEVEN * min(seconds)


def waiting_note(names: Sequence[str]) -> str:
    """The remark on functions whose threads wait for a core."""
    said = ", ".join(names)
    return t(
        f"The threads of {said} wait for a core instead of computing: the slow calls take more than {UNEVEN} times as long as the "
        "fastest. Other programs hold the cores: close them, or call torch.set_num_threads(1) first.",
        f"{said} 的线程都在等核空出来，没在算：慢的调用，耗时超过最快一次的 {UNEVEN} 倍。"
        "核被其他程序占着：请关掉它们，或先调用 torch.set_num_threads(1)。",
    )


def crowded_note(busy: float) -> str:
    """The remark on an unsteady function of several CPU threads."""
    return t(
        f"It keeps {busy:.1f} CPU threads at work, and each call waits for the slowest of them. "
        "Other programs make that uneven: close them, or call torch.set_num_threads(1) first.",
        f"它平均占用 {busy:.1f} 个 CPU 线程，每次调用都要等最慢的那个。"
        "其他程序会让它忽快忽慢：请关掉它们，或先调用 torch.set_num_threads(1)。",
    )


class Effort:
    """How many CPU threads work between two moments: make an `Effort()`, run the code, call `busy()`.

    Time of all threads / time of the calling one: 1.0 for work in one thread, about n for an operator on n
    threads (OpenMP threads that wait by spinning count as working). Load from other programs does not enter.
    """

    def __init__(self) -> None:
        self._all, self._own = time.process_time(), time.thread_time()

    def busy(self) -> float:
        """How many threads worked since this object was made; 1.0 after less than 1 ms of CPU time, too little to
        tell.
        """
        own = time.thread_time() - self._own
        return max(1.0, (time.process_time() - self._all) / own) if own >= 1e-3 else 1.0

    def alone(self) -> bool:
        """Whether the calling thread did nearly all the work since this object was made, even if that was little."""
        all_, own = time.process_time() - self._all, time.thread_time() - self._own
        return all_ - own < (PARALLEL - 1) * own + 1e-4
