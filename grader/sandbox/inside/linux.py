"""The few Linux calls that Python's library lacks, each raising OSError with its name."""

from __future__ import annotations

import ctypes
import os

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
NAMESPACES = NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 1 << 14, 1 << 18
CAPBSET_DROP, SET_SECCOMP, SET_CHILD_SUBREAPER, NO_NEW_PRIVS = 24, 22, 36, 38
FILTER = 2  # SECCOMP_MODE_FILTER

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces of the kinds in ``flags``; of a new pid namespace, its next child."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    """mount(2). Raises OSError."""
    encoded = [None if text is None else text.encode() for text in (source, target, kind, data)]
    _checked(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def prctl(option: int, *values: object) -> None:
    """prctl(2). Raises OSError."""
    padded = [*values, 0, 0, 0, 0][:4]
    arguments = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in padded]
    _checked(_libc.prctl(option, *arguments), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up every capability of this process; it cannot get them back."""
    for number in range(64):
        try:
            prctl(CAPBSET_DROP, number)
        except OSError:  # beyond the last one this kernel knows
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
