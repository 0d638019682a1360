"""A Linux control group for each submission, where this machine allows it.

It limits the memory and the number of all processes together, and gives each submission the same share of the
processors, however many processes it has.

Version 1: the groups are made beside those of the machine. Version 2: they are made below the nearest parent group that we
may write to and that delegates its controllers; systemd gives each user one (https://systemd.io/CGROUP_DELEGATION). Where no
group can be made, each process still has its limits (RLIMIT_AS, RLIMIT_NPROC), the ``meter`` measures the memory of all
processes together, and submissions marked by root, whom RLIMIT_NPROC does not bind, may start no processes.
"""

from __future__ import annotations

import functools
import os
import uuid
from pathlib import Path

from grader.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
MOST_THREADS = 32  # where no processes are allowed


class Group:
    """One control group (version 2), or one for each controller (version 1). ``make`` makes it."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders

    def add(self, pid: int) -> None:
        """Put a process into the group; the processes it starts later belong to it too. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid), "ascii")

    def out_of_memory(self) -> bool:
        """Whether the system ended a process of the group because the group had used up its memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                if (folder / name).exists():
                    counts = dict(line.split()[:2] for line in (folder / name).read_text("ascii").splitlines())
                    return int(counts.get("oom_kill", 0)) > 0
        return False

    def remove(self) -> None:
        """Remove the group, if it is empty."""
        for folder in self.folders:
            try:
                folder.rmdir()
            except OSError:
                pass


def make(limits: Limits, pid: int) -> Group | None:
    """A new group with these limits, for the process ``pid`` (not yet in it); None where none can be made."""
    name = f"course-{uuid.uuid4().hex[:12]}"
    memory, processes = str(limits.tree_bytes), str((limits.processes or MOST_THREADS) + 1)
    if (ROOT / "cgroup.controllers").exists():
        settings = {"memory.max": memory, "memory.swap.max": "0", "pids.max": processes}
        own = _own(pid)
        parents = (folder for folder in (own, *own.parents) if folder.is_relative_to(ROOT))
        made = (_made([(parent / name, settings, ("memory.max", "pids.max"))]) for parent in parents)
        return next(filter(None, made), None)
    needed = [
        (ROOT / "memory" / name, {"memory.limit_in_bytes": memory}, ("memory.limit_in_bytes",)),
        (ROOT / "pids" / name, {"pids.max": processes}, ("pids.max",)),
    ]
    return _made([*needed, (ROOT / "cpu" / name, {}, ())]) or _made(needed)  # groups in ``cpu`` share alike


@functools.cache
def possible() -> bool:
    """Whether a group can be made for the processes that this one starts."""
    group = make(Limits(), os.getpid())
    if group is not None:
        group.remove()
    return group is not None


def _own(pid: int | str = "self") -> Path:
    """The folder of the group that a process is in (version 2)."""
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
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
                    (folder / name).write_text(value, "ascii")
        return group
    except OSError:
        group.remove()
        return None
