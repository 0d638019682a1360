"""The time and memory of one cell, read from /proc. Only the submission's own time counts, however busy the machine is.

All descendants of the kernel count, also those that started a session of their own: the kernel is the first process of their
pid namespace, so a process whose parent has ended becomes its child. Formats: Linux Documentation/filesystems/proc.rst
and scheduler/sched-stats.rst.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import monotonic

from grader.sandbox.limits import PATIENCE, Limits

TICK_S, QUICK_S = 0.1, 0.03  # seconds between two measurements of a single process, and of several
RARELY = 5  # reading exact memory takes milliseconds a process; it may take at most one fifth of the time
BUSY = 0.2  # a cell that waited for a processor in so much of its wall time was disturbed
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
MOST_PROCESSES = 5000  # of one submission are measured


class Meter:
    """Measures one kernel while its cells run: call ``begin`` at the start of a cell, ``look`` now and then, ``end`` after it.

    bounded: whether a control group limits its memory already.
    """

    def __init__(self, pid: int, limits: Limits, bounded: bool) -> None:
        self._pid, self._limits, self._bounded = pid, limits, bounded
        self._most = limits.tree_bytes
        self._exact_from = 0.0
        self.begin()

    def begin(self) -> None:
        """Start measuring a cell."""
        self._start, self._now = measure(self._pid), None
        self._begun = monotonic()

    def look(self) -> float:
        """Measure now. Returns the cell's own seconds so far: its processor time, or the wall time less the time it waited for
        a processor, whichever is more.
        """
        self._now = measure(self._pid) or self._now
        return self.seconds

    def end(self) -> float:
        """The own seconds of a cell that has ended. Measures once more, because the cell may have waited since the last
        measurement; not for a cell that ended before the first one.
        """
        return min(self.seconds, self.look()) if self._now else self.seconds

    @property
    def seconds(self) -> float:
        """The cell's own seconds as of the last measurement; its wall time where there was none."""
        return max(self.cpu_s, self.wall_s - self._waiting_s)

    @property
    def wall_s(self) -> float:
        return monotonic() - self._begun

    @property
    def cpu_s(self) -> float:
        return max(0.0, self._now.cpu_s - self._start.cpu_s) if self._now and self._start else 0.0

    @property
    def _waiting_s(self) -> float:
        return max(0.0, self._now.waiting_s - self._start.waiting_s) if self._now and self._start else 0.0

    @property
    def pause_s(self) -> float:
        """Seconds until the next measurement."""
        return QUICK_S if self._now and len(self._now.pids) > 1 else TICK_S

    def too_much_memory(self) -> bool:
        """Whether all processes together take more memory than they may, as of the last measurement."""
        if self._bounded or not self._now or self._now.resident <= self._most or monotonic() < self._exact_from:
            return False
        before = monotonic()
        taken = memory(self._now.pids)
        after = monotonic()
        self._exact_from = after + RARELY * (after - before)
        return taken > self._most

    def too_many(self) -> bool:
        """Whether there are more processes than allowed, where the system does not limit them."""
        return bool(self._now) and len(self._now.pids) > self._limits.processes + 2

    def out_of_patience(self, limit: float) -> bool:
        """Whether a cell with this limit has taken so much wall time that it must end, although it waited for a processor."""
        return self.wall_s >= PATIENCE * limit

    def disturbed(self, limit: float) -> bool:
        """Whether a cell that reached its limit had hardly run, because other programs used the machine."""
        if self.cpu_s >= limit / 2:
            return False
        return self._waiting_s > BUSY * self.wall_s or self.out_of_patience(limit)


@dataclass(frozen=True)
class Usage:
    """What a tree of processes has used so far.

    cpu_s: processor time of all processes, with ended ones that their parent has waited for. waiting_s: seconds in which
    threads could have run and had no processor, summed over threads. resident: bytes of anonymous memory; memory that
    several processes share counts once for each, so this is an upper bound. pids: the processes.
    """

    cpu_s: float
    waiting_s: float
    resident: int
    pids: tuple[int, ...]


def measure(pid: int) -> Usage | None:
    """The usage of the process and all its descendants; None where /proc cannot be read."""
    cpu = waiting = resident = 0
    found, here = [], [pid]
    while here and len(found) < MOST_PROCESSES:
        one = here.pop()
        try:
            fields = _read(f"/proc/{one}/stat").rpartition(")")[2].split()
            pages = _read(f"/proc/{one}/statm").split()
            threads = os.listdir(f"/proc/{one}/task")
            cpu += sum(map(int, fields[11:15]))  # utime, stime, and of children waited for: cutime, cstime
            resident += int(pages[1]) - int(pages[2])
            for thread in threads:
                waiting += _waiting(one, thread)
                here += map(int, _read(f"/proc/{one}/task/{thread}/children").split())
        except (OSError, ValueError, IndexError):  # it has just ended
            if one == pid:
                return None
            continue
        found.append(one)
    return Usage(cpu / TICKS, waiting / 1e9, resident * PAGE, tuple(found))


def memory(pids: tuple[int, ...]) -> int:
    """Bytes that the processes take together; memory that several share counts once (proportional set size)."""
    total = 0
    for pid in pids:
        try:
            lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss:", "SwapPss:")))
        except (OSError, ValueError, IndexError):
            continue
    return total


def _waiting(pid: int, thread: str) -> int:
    try:
        return int(_read(f"/proc/{pid}/task/{thread}/schedstat").split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
