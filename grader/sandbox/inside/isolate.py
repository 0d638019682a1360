"""Isolation of a fork of the warm process: namespaces, private tmpfs folders, resource limits, no privileges."""

from __future__ import annotations

import os
import resource
from typing import Any

from . import linux, seccomp

HOME = "/home/student"
PROC = ("cpuinfo", "meminfo")  # the only files of /proc that a submission can read
TERMINALS = 16  # at once; a machine has only some thousand, and a submission must not see those of others
SIGNALS = 1024  # waiting at once; the system has one such limit for all processes of a user
MEGABYTE = 1 << 20
_BEFORE = {"bytes": 0}  # the address space of the warm process


def enter_namespaces() -> None:
    """Enter new namespaces, also of the network, in which there is no device; the next child of this process is the first one of the new
    pid namespace. Raises OSError where the system refuses.
    """
    user, group = os.getuid(), os.getgid()
    linux.unshare(linux.NAMESPACES)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def lock_down(limits: dict[str, Any]) -> None:
    """Called in that child: mount tmpfs over its writable folders, set resource limits, drop all capabilities, install
    the system call filter. Irreversible. limits: ``Limits.plain()``. Raises OSError.
    """
    _folders(limits["disk_mb"] * MEGABYTE)
    _restrict(limits)
    linux.drop_capabilities()
    linux.prctl(linux.NO_NEW_PRIVS, 1)
    seccomp.install(processes=limits["processes"] > 0)


def _folders(size: int) -> None:
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    opened = {name: os.open(f"/proc/{name}", os.O_RDONLY) for name in PROC}
    for folder, share in (("/tmp", size), (HOME, size), ("/dev/shm", size)):
        linux.mount(
            "tmpfs", folder, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, f"size={share},nr_inodes=20000,mode=700"
        )
    linux.mount(
        "devpts",
        "/dev/pts",
        "devpts",
        linux.MS_NOSUID | linux.MS_NOEXEC,
        f"newinstance,ptmxmode=0666,mode=620,max={TERMINALS}",
    )
    texts = {}
    for name, descriptor in opened.items():
        with open(descriptor, encoding="utf-8") as file:
            texts[name] = file.read()
    linux.mount("tmpfs", "/proc", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
    for name, text in texts.items():
        with open(f"/proc/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    linux.mount("none", "/proc", None, linux.MS_REMOUNT | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV)


def _restrict(limits: dict[str, Any]) -> None:
    """Set the resource limits of this process, which each process it starts inherits."""
    for name, value in {
        "AS": _BEFORE["bytes"] + limits["memory_mb"] * MEGABYTE,
        "FSIZE": limits["disk_mb"] * MEGABYTE,
        "NOFILE": limits["open_files"],
        "CPU": limits["cpu_limit_s"],
        "CORE": 0,
        "SIGPENDING": SIGNALS,
        **({"NPROC": limits["processes"]} if limits["processes"] else {}),
    }.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def outer_pid() -> int:
    """This process's id as seen from outside its pid namespace; call it before ``lock_down``."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[-2]) for line in file if line.startswith("NSpid:"))


def end_first_without_memory() -> None:
    """Ask the system to end this process first if the machine runs out of memory; call it before ``lock_down``."""
    with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
        file.write("1000")


def note_memory() -> None:
    """Store how much address space the warm process takes; call it once when everything is loaded."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        _BEFORE["bytes"] = int(file.read().split()[0]) * resource.getpagesize()
