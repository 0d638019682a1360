"""Use CPU time instead of wall time where other programs take the processor away in most rounds.

CPU time does not include waiting (for sleep, files, locks, other threads and processes, accelerators), so it is used only for
work that one thread does without waiting. Only Linux gives the numbers that are needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from course.i18n import t

try:
    import resource

    THREAD: int | None = getattr(resource, "RUSAGE_THREAD", None)
except ImportError:  # Windows
    THREAD = None

LONG_S = 0.0004
"""Shorter blocks are not watched: reading the CPU time takes about 0.6 us, and they are rarely interrupted."""
MOST = 0.5
"""From a larger share of preempted rounds on, CPU time is what can be compared."""
ALLOWED = 0.02
"""Up to this share, CPU time in other threads counts as none."""
WAITED = 0.1
"""Up to this share, rounds with waiting count as the system's: work that waits does so in most rounds."""


class Watch:
    """Counts the rounds in which this thread lost the processor, and the CPU time of each block, from now on.

    preempted, waited: rounds. total: rounds in all.
    """

    def __init__(self) -> None:
        self.preempted = self.waited = self.total = 0
        self._all, self._own = time.process_time(), time.thread_time()
        self._switches = _switches()

    def block(self, run: Callable[[], Any]) -> tuple[Any, float]:
        """Call `run()`; returns its result and the CPU time of this thread that it took, in seconds."""
        before = time.thread_time()
        found = run()
        return found, time.thread_time() - before

    def round_ends(self) -> None:
        """Count what happened since the last round ended."""
        own, forced = self._switches
        self._switches = _switches()
        self.waited += self._switches[0] > own
        self.preempted += self._switches[1] > forced
        self.total += 1

    def says_cpu(self) -> bool:
        """Whether CPU time is to be used: other programs took the processor in most rounds, one thread worked, and hardly waited."""
        own, whole = time.thread_time() - self._own, time.process_time() - self._all
        alone = whole - own <= ALLOWED * own
        return self.preempted > MOST * self.total and alone and self.waited <= WAITED * self.total

    def note(self) -> str:
        """The remark on a result in CPU time."""
        share = f"{self.preempted / self.total:.0%}"
        return t(
            f"Other programs took the processor away in {share} of the rounds, so CPU time was compared, not the time on the "
            "wall: one thread does this work and it never waits.",
            f"有 {share} 的轮次被其他程序抢走了处理器，所以比较的是 CPU 时间，而不是墙钟时间：这项工作只用一个线程，也从不等待。",
        )


def watch_for(clock: Any, seconds: float) -> Watch | None:
    """A Watch where CPU time could count: `clock` allows it, and the shortest block takes `seconds` >= LONG_S."""
    return Watch() if THREAD is not None and getattr(clock, "cpu_may_count", False) and seconds >= LONG_S else None


def _switches() -> tuple[int, int]:
    """How often this thread gave the processor up and how often it was taken away, so far."""
    usage = resource.getrusage(THREAD)
    return usage.ru_nvcsw, usage.ru_nivcsw
