"""The time and memory of one cell: seconds that are the submission's own, whatever else the machine does meanwhile."""

from __future__ import annotations

import os
import signal
from time import monotonic

from grader.sandbox import usage
from grader.sandbox.limits import PATIENCE, Limits

TICK_S, QUICK_S = 0.1, 0.03  # between two looks at a single process, and at several
RARELY = 5  # exact memory is read for at most one part in so many of the time: that takes milliseconds a process
BUSY = 0.2  # of a cell's wall time spent waiting: then the machine disturbed it


class Meter:
    """Looks at one kernel while cells run. ``begin`` a cell, ``look`` now and then, ``end`` it.

    bounded: whether something else holds its memory back (a control group).
    """

    def __init__(self, pid: int, limits: Limits, bounded: bool) -> None:
        self._pid, self._limits, self._bounded = pid, limits, bounded
        self._most = limits.tree_bytes
        self._exact_from = 0.0
        self._born, self._stalled = monotonic(), usage.stalled_s()
        self._start = self._now = usage.measure(pid)
        self._begun = monotonic()
        self._looked = False

    def begin(self) -> None:
        """A cell starts."""
        self._start = self._now = usage.measure(self._pid)
        self._begun, self._looked = monotonic(), False

    def look(self) -> float:
        """The cell's own seconds so far: its processor time, or the wall time in which it did not wait for a processor,
        whichever is more.
        """
        self._looked, self._now = True, usage.measure(self._pid) or self._now
        return self.seconds

    def end(self) -> float:
        """The cell's own seconds now that it has ended: since the last look it may have waited again. One that ended before the
        first look is not looked at.
        """
        return min(self.seconds, self.look()) if self._looked else self.seconds

    @property
    def seconds(self) -> float:
        """As of the last look; of a cell that ended before the first one all of its wall time."""
        return max(self.cpu_s / max(1, self._limits.threads), self.wall_s - self._waiting_s)

    @property
    def wall_s(self) -> float:
        return monotonic() - self._begun

    @property
    def cpu_s(self) -> float:
        return max(0.0, self._now.cpu_s - self._start.cpu_s) if self._now and self._start and self._looked else 0.0

    @property
    def _waiting_s(self) -> float:
        if not (self._now and self._start and self._looked):
            return 0.0
        return min(self.wall_s, max(0.0, self._now.waiting_s - self._start.waiting_s))

    @property
    def pause_s(self) -> float:
        """Until the next look."""
        return QUICK_S if self._now and len(self._now.pids) > 1 else TICK_S

    def too_much_memory(self) -> bool:
        """Whether all its processes together take more than they may, as of the last look."""
        if self._bounded or not self._now or self._now.resident <= self._most or monotonic() < self._exact_from:
            return False
        before = monotonic()
        taken = usage.memory(self._now.pids)
        after = monotonic()
        self._exact_from = after + RARELY * (after - before)
        return taken > self._most

    def end_others(self) -> bool:
        """End all processes of the submission but the kernel; whether there were any. A number that another process has been
        given meanwhile is told by its namespace.
        """
        ended = False
        for pid in self._now.pids[1:] if self._now else ():
            try:
                handle = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{self._pid}/ns/pid"):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    ended = True
            except OSError:
                pass
            finally:
                os.close(handle)
        self._exact_from = 0.0
        return ended

    def too_many(self) -> bool:
        """Whether there are more processes than may be, where the kernel does not hold them back."""
        return bool(self._now) and len(self._now.pids) > self._limits.processes + self._limits.threads + 1

    def out_of_patience(self, limit: float) -> bool:
        """Whether a cell with this limit has waited so long for its processor that it must end all the same."""
        return self.wall_s >= PATIENCE * limit

    def disturbed(self, limit: float) -> bool:
        """Whether a cell that ran into its limit hardly ran, because of what else the machine did."""
        if self.cpu_s >= limit / 2:
            return False
        since = max(1e-9, monotonic() - self._born)
        stalled = (usage.stalled_s() - self._stalled) / since
        return self._waiting_s > BUSY * self.wall_s or stalled > BUSY or self.out_of_patience(limit)
