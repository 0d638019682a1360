"""The system calls a submission may not make, as a filter for the kernel (seccomp, classic BPF).

Refused calls fail with EPERM; ``clone3`` with ENOSYS, so that the C library uses ``clone`` instead, whose flags
the filter can read. Also refused: memory that counts for no process and no folder (memfd, System V), so that the
limits hold without a control group; resources of which a machine or user has few (io_setup, inotify); and a
lease on a file, which makes every other program that opens the file wait up to 45 s.
Numbers: Linux arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from pathlib import Path

from . import linux

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED: dict[str, dict[str, int]] = {machine: {} for machine in ARCHITECTURES}
"""Machine -> name of a refused call -> its number there (``calls.txt``)."""
for _line in Path(__file__).with_name("calls.txt").read_text("ascii").splitlines()[1:]:
    _name, *_numbers = _line.split()
    for _machine, _number in zip(ARCHITECTURES, _numbers, strict=True):
        if _number != "-":
            REFUSED[_machine][_name] = int(_number)
NUMBERS = {  # clone, clone3, ioctl, fcntl, prctl, socket, socketpair
    "x86_64": (56, 435, 16, 72, 157, 41, 53),
    "aarch64": (220, 435, 29, 25, 167, 198, 199),
}
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: in a network namespace with no device
NEW_NAMESPACE = linux.NAMESPACES | linux.NEWCGROUP | 0x80  # 0x80: a new time namespace
THREAD = 0x00010000
TIOCSTI = 0x5412  # an ioctl that writes input into a terminal
SETLEASE, SETDELEG = 1024, 1040  # commands of fcntl
SETDUMPABLE = 4  # a command of prctl that hides how much memory a process takes

ALLOW, KILL = 0x7FFF0000, 0x80000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
CALL, MACHINE, FIRST, SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data


def refuse(number: int = errno.EPERM) -> int:
    """The value a filter returns to make a call fail with this error number."""
    return 0x00050000 | number


def program(machine: str, processes: bool = True) -> bytes:
    """The filter for ``machine`` as bytes. processes: whether new processes (not threads) may be started.

    Raises KeyError for a machine whose call numbers are not listed here.
    """
    clone, clone3, ioctl, fcntl, prctl, *sockets = NUMBERS[machine]
    code = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, CALL)]
    if machine == "x86_64":  # calls also have x32 numbers, which are not in the list
        code += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, refuse())]
    for number in sorted(REFUSED[machine].values()):
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, refuse())]
    code += [(EQUAL, 0, 1, clone3), (RETURN, 0, 0, refuse(errno.ENOSYS))]
    for number, place_of, commands in (
        (ioctl, SECOND, (TIOCSTI,)),
        (fcntl, SECOND, (SETLEASE, SETDELEG)),
        (prctl, FIRST, (SETDUMPABLE,)),
    ):
        code += [
            (EQUAL, 0, 3 + len(commands), number),
            (LOAD, 0, 0, place_of),
            *((EQUAL, len(commands) - place, 0, command) for place, command in enumerate(commands)),
            (RETURN, 0, 0, ALLOW),
            (RETURN, 0, 0, refuse()),
        ]
    for number in sockets:
        code += [
            (EQUAL, 0, 3 + len(FAMILIES), number),
            (LOAD, 0, 0, FIRST),
            *((EQUAL, len(FAMILIES) - place, 0, family) for place, family in enumerate(FAMILIES)),
            (RETURN, 0, 0, refuse(errno.EAFNOSUPPORT)),
            (RETURN, 0, 0, ALLOW),
        ]
    code += [
        (EQUAL, 1, 0, clone),
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, FIRST),
        (ANY_BIT, 0, 1, NEW_NAMESPACE),
        (RETURN, 0, 0, refuse()),
    ]
    if not processes:
        code += [(ANY_BIT, 1, 0, THREAD), (RETURN, 0, 0, refuse(errno.EAGAIN))]
    code += [(RETURN, 0, 0, ALLOW)]
    if machine == "x86_64" and not processes:  # fork and vfork have numbers of their own there
        code[4:4] = [(EQUAL, 1, 0, 57), (EQUAL, 0, 1, 58), (RETURN, 0, 0, refuse(errno.EAGAIN))]
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def install(processes: bool = True) -> None:
    """Install the filter in this process and all it will start; it cannot be removed. Needs no_new_privs or CAP_SYS_ADMIN."""
    code = program(platform.machine(), processes)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

    linux.prctl(linux.SET_SECCOMP, linux.FILTER, ctypes.byref(Program(len(code) // 8, ctypes.addressof(buffer))))
