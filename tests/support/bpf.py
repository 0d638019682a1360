"""A tiny interpreter for the kernel's filters: classic BPF over ``struct seccomp_data``, as in Linux net/core/filter.c."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def run(program: bytes, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """The verdict of ``program`` on one call. Raises ValueError for a program the kernel would not take."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    code = list(struct.iter_unpack("=HBBI", program))
    if not 0 < len(code) <= 4096:
        raise ValueError("too long")
    place, accumulator = 0, 0
    while place < len(code):
        operation, right, wrong, value = code[place]
        place += 1
        if operation == 0x20:  # ld [value]
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x06:  # ret value
            return value
        elif operation in (0x15, 0x35, 0x45):  # jeq, jge, jset
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[operation]
            place += right if holds else wrong
        else:
            raise ValueError(f"operation {operation:#x}")
    raise ValueError("runs off the end")
