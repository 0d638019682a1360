"""Noisy neighbours for a benchmark: processes that compute and copy in bursts, and always end with it.

python -m benchmarks.neighbours SEED    one neighbour; it ends when its input closes
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """`count` neighbours while the block runs. Each ends when the block ends, also if this process is killed:
    then its input closes."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for seed in range(count):
            command = [sys.executable, "-m", "benchmarks.neighbours", str(seed)]
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


def main(seed: int) -> None:
    """Bursts, half of them arithmetic and half copying 8 MiB, between pauses; both 5 ms to 1 s, short ones as
    often as long ones (evenly spread on a logarithmic scale)."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    print("ready", flush=True)
    order, buffer = random.Random(seed), bytearray(8 << 20)
    while True:
        copying = order.random() < 0.5
        end = time.perf_counter() + _spell(order)
        while time.perf_counter() < end:
            if copying:
                bytes(buffer)
            else:
                sum(range(5000))
        time.sleep(_spell(order))


def _spell(order: random.Random) -> float:
    """Seconds of one burst or pause."""
    return 0.005 * 200 ** order.random()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
