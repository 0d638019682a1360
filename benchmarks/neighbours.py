"""Noisy neighbours for a benchmark: processes that compute or copy without a pause, and always end with it.

python -m benchmarks.neighbours NUMBER    one neighbour; it ends when its input closes
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """`count` neighbours while the block runs, every second one copying 48 MB, the others in arithmetic. Each ends when the
    block ends, also if this process is killed: then its input closes."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(count):
            command = [sys.executable, "-m", "benchmarks.neighbours", str(number)]
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()  # it is making noise now
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.communicate()


def main(number: int) -> None:
    """Arithmetic in Python for an even number, copies of 48 MB for an odd one, until the input closes."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    buffer = bytearray(48 << 20) if number % 2 else None
    print("ready", flush=True)
    while True:
        bytes(buffer) if buffer else sum(range(5000))


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
