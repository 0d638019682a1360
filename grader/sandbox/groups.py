"""A control group for each submission, where this machine lets us make one: memory and processes in all, and a fair
share of the processors, however many processes one has.

Version 1: beside the groups of the machine. Version 2: below the nearest group above us that we may write to and that
hands its controllers on (systemd gives each user one), else in a scope that ``systemd-run --user`` makes and delegates to
us (https://systemd.io/CGROUP_DELEGATION). Without any the limits of each process hold (RLIMIT_AS, RLIMIT_NPROC), the
``meter`` watches what all processes of a submission take together, and root, whom RLIMIT_NPROC does not bind, gets no new
processes at all.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path

from grader.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
MOST_THREADS = 32  # where no processes are allowed
SCOPE, LEAF = "course-grader-", "warm"  # a scope of ours; the group in it for what is no submission
SYSTEMD = ("systemd-run", "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes")
BUS = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # what systemd-run finds the user's systemd by


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


def make(limits: Limits, pid: int) -> Group | None:
    """A fresh group with the limits set, for the process ``pid`` and all it will start; None where none can be made."""
    name = f"course-{uuid.uuid4().hex[:12]}"
    memory, processes = str(limits.tree_bytes), str((limits.processes or MOST_THREADS) + limits.threads)
    if (ROOT / "cgroup.controllers").exists():
        settings = {"memory.max": memory, "memory.swap.max": "0", "pids.max": processes}
        made = (_made([(parent / name, settings, ("memory.max", "pids.max"))]) for parent in _parents(pid))
        return next(filter(None, made), None)
    needed = [
        (ROOT / "memory" / name, {"memory.limit_in_bytes": memory}, ("memory.limit_in_bytes",)),
        (ROOT / "pids" / name, {"pids.max": processes}, ("pids.max",)),
    ]
    return _made([*needed, (ROOT / "cpu" / name, {}, ())]) or _made(needed)  # groups in ``cpu`` share alike


@functools.cache
def possible() -> bool:
    """Whether a group can be made for what this process starts."""
    if scope():
        return True
    group = make(Limits(), os.getpid())
    if group is not None:
        group.remove()
    return group is not None


@functools.cache
def scope() -> tuple[str, ...]:
    """The start of a command line that runs it in a scope of its own (``--unit`` and ``--`` follow); empty where none is
    needed or can be made.
    """
    group = make(Limits(), os.getpid())
    if group is not None:
        group.remove()
        return ()
    if shutil.which(SYSTEMD[0]) is None or not os.environ.get(BUS[0]) or not (ROOT / "cgroup.controllers").exists():
        return ()
    try:
        tried = subprocess.run([*SYSTEMD, "--", "true"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return SYSTEMD if tried.returncode == 0 else ()


def sweep(older_s: float = 3600, name: str = "course-*") -> None:
    """Take away empty groups that graders which were killed have left."""
    for parent in (_own(), ROOT / "memory", ROOT / "pids", ROOT / "cpu"):
        for folder in parent.glob(name):
            try:
                if time.time() - folder.stat().st_mtime > older_s:
                    folder.rmdir()  # refused by the kernel while a process is in it
            except OSError:
                continue


def _own(pid: int | str = "self") -> Path:
    """The group a process is in (version 2)."""
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            return ROOT / line[3:].lstrip("/")
    return ROOT


def _parents(pid: int) -> list[Path]:
    """Where a group for the process may be made, the nearest first."""
    own = _own(pid)
    if own.name.startswith(SCOPE):
        _open_up(own)
    return [folder for folder in (own, *own.parents) if folder.is_relative_to(ROOT)]


def _open_up(own: Path) -> None:
    """Move what is in a scope of ours into a group below it: only then it hands its controllers on."""
    try:
        (own / LEAF).mkdir(exist_ok=True)
        for _ in range(10):  # what is forked meanwhile
            for pid in (own / "cgroup.procs").read_text(encoding="utf-8").split():
                (own / LEAF / "cgroup.procs").write_text(pid, encoding="utf-8")
        for controller in ("+memory", "+pids", "+cpu"):
            (own / "cgroup.subtree_control").write_text(controller, encoding="utf-8")
    except OSError:  # then the groups above are tried
        pass


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
