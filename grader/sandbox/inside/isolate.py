"""Isolation of a fork of the warm process: namespaces, private tmpfs folders, resource limits, no privileges."""

from __future__ import annotations

import os
import resource
from typing import Any

from . import linux, seccomp

HOME = "/home/student"
PROC = ("cpuinfo", "meminfo")  # of /proc a program may still read these
TERMINALS = 16  # at once; there are only some thousand on the whole machine, and others' must not be in sight
SIGNALS = 1024  # waiting at once; all processes of the user on this machine share one number
MEGABYTE = 1 << 20
_BEFORE = {"bytes": 0}  # the address space of the warm process


def divide(namespaces: int = linux.NAMESPACES) -> None:
    """New namespaces for the next child of this process. Raises OSError where the kernel refuses."""
    user, group = os.getuid(), os.getgid()
    linux.unshare(namespaces)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def close(limits: dict[str, Any]) -> None:
    """Isolate the child of ``divide``: mount tmpfs over its writable folders, set resource limits, drop all capabilities,
    install the system call filter. Irreversible. Raises OSError.
    """
    _folders(limits["disk_mb"] * MEGABYTE)
    restrict(limits, limits["processes"])
    linux.drop_capabilities()
    linux.prctl(linux.NO_NEW_PRIVS, 1)
    seccomp.install(processes=limits["processes"] > 0)


def _folders(size: int) -> None:
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    kept = {name: os.open(f"/proc/{name}", os.O_RDONLY) for name in PROC}
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
    for name, descriptor in kept.items():
        with open(descriptor, encoding="utf-8") as file:
            texts[name] = file.read()
    linux.mount("tmpfs", "/proc", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
    for name, text in texts.items():
        with open(f"/proc/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    linux.mount("none", "/proc", None, linux.MS_REMOUNT | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV)


def restrict(limits: dict[str, Any], processes: int = 0) -> None:
    """Limits of this process and of each that it starts. processes: 0 leaves their number alone."""
    for name, value in {
        "AS": _BEFORE["bytes"] + limits["memory_mb"] * MEGABYTE,
        "FSIZE": limits["disk_mb"] * MEGABYTE,
        "NOFILE": limits["open_files"],
        "CPU": limits["cpu_limit_s"],
        "CORE": 0,
        "SIGPENDING": SIGNALS,
        **({"NPROC": processes} if processes else {}),
    }.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def number() -> int:
    """This process's id as the process outside its pid namespace knows it; call it before ``close``."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return next(int(line.split()[-2]) for line in file if line.startswith("NSpid:"))


def offer() -> None:
    """If this machine runs out of memory, a submission is ended first, not the grader; call it before ``close``."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
            file.write("1000")
    except OSError:
        pass


def remember() -> None:
    """Note how much address space the warm process takes; call it once when everything is loaded."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        _BEFORE["bytes"] = int(file.read().split()[0]) * resource.getpagesize()
