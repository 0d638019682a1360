"""A control group for each submission, where this machine lets us make one: memory and processes in all, and a fair
share of the processors, however many processes one has.

Without one the limits of each process hold (RLIMIT_AS, RLIMIT_NPROC), and root, whom RLIMIT_NPROC does not bind,
gets no new processes at all.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from grader.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
OWN_MB = 128  # pages a fork copies from the warm process


class Group:
    """One control group (version 2), or one for each controller (version 1). Use ``make``."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders

    def take(self, pid: int) -> None:
        """Put a process in, and with it all that it starts. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of the group for want of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                if (folder / name).exists():
                    counts = dict(line.split()[:2] for line in (folder / name).read_text().splitlines())
                    return int(counts.get("oom_kill", 0)) > 0
        return False

    def remove(self) -> None:
        """Take the empty group away; one that is not empty yet stays until the machine restarts."""
        for folder in self.folders:
            try:
                folder.rmdir()
            except OSError:
                pass


def make(limits: Limits) -> Group | None:
    """A fresh group with the limits set, or None where none can be made."""
    name = f"course-{uuid.uuid4().hex[:12]}"
    memory = str(limits.memory_mb + limits.disk_mb + OWN_MB << 20)  # one process meets its own limit first, and kindly
    settings = {"memory.max": memory, "memory.swap.max": "0", "pids.max": str(limits.processes + limits.threads + 64)}
    if (ROOT / "cgroup.controllers").exists():
        return _made([(_own() / name, settings, ("memory.max", "pids.max"))])
    needed = [(ROOT / "memory" / name, {"memory.limit_in_bytes": memory}, ("memory.limit_in_bytes",)),
              (ROOT / "pids" / name, {"pids.max": settings["pids.max"]}, ("pids.max",))]
    return _made([*needed, (ROOT / "cpu" / name, {}, ())]) or _made(needed)  # groups in ``cpu`` share alike


def sweep(older_s: float = 3600, name: str = "course-*") -> None:
    """Take away empty groups that graders which were killed have left."""
    for parent in (_own(), ROOT / "memory", ROOT / "pids", ROOT / "cpu"):
        for folder in parent.glob(name):
            try:
                if time.time() - folder.stat().st_mtime > older_s:
                    folder.rmdir()  # refused by the kernel while a process is in it
            except OSError:
                continue


def _own() -> Path:
    """The group this process is in (version 2)."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            return ROOT / line[3:].lstrip("/")
    return ROOT


def _made(wanted: list[tuple[Path, dict[str, str], tuple[str, ...]]]) -> Group | None:
    group = Group([])
    try:
        for folder, settings, needed in wanted:
            if not os.access(folder.parent, os.W_OK):
                raise PermissionError(folder.parent)
            folder.mkdir()
            group.folders.append(folder)
            for name, value in settings.items():
                if name in needed or (folder / name).exists():
                    (folder / name).write_text(value)
        return group
    except OSError:
        group.remove()
        return None
