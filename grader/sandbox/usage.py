"""What the processes of a submission use, read from /proc: processor time, time spent waiting for a processor, memory.

All descendants of the kernel count, also those that started a session of their own: the kernel is the first process of their
pid namespace, so a process whose parent has ended becomes its child. Formats: Linux Documentation/filesystems/proc.rst
and scheduler/sched-stats.rst.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
MOST_PROCESSES = 5000  # of one submission are measured


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


def waiting_is_known() -> bool:
    """Whether this machine says how long its threads wait for a processor."""
    return Path("/proc/self/schedstat").exists()


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
