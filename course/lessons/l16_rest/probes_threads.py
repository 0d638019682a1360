"""What lesson 16 runs in a new process about servers: threads beside a busy neighbour, and PyTorch's launcher.

torch alone is needed. Every function returns rows of plain data.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import torch

CALLS, LEAST_CALLS, LEAST_ROUNDS = 600, 20, 6


NEIGHBOUR = [
    sys.executable,
    "-c",
    "import os, sys, threading\n"
    "threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()\n"
    "while True: pass",
]
"""A busy Python loop. It ends when its input closes, so also when the process that started it is killed."""


def two_cores() -> set[int]:
    """The two processors that this process may use first; an empty set where the system does not tell."""
    return set(sorted(os.sched_getaffinity(0))[:2]) if hasattr(os, "sched_getaffinity") else set()


def beside_a_neighbour(seconds: float, rounds: int = 12) -> list[dict[str, Any]]:
    """A convolution on one thread and on two, in turn, on two processors, alone and then beside one busy Python loop.

    Each row: 600 calls, fewer where they take long; their median and the time that 99 % of them stay below, in ms. On
    Linux this process and the neighbour stay on the same two processors.
    """
    cores = two_cores()
    if cores:
        os.sched_setaffinity(0, cores)
    torch.manual_seed(0)
    layer, x, rows = torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(1, 32, 56, 56), []
    with torch.inference_mode():
        for neighbours in (0, 1):
            busy = [subprocess.Popen(NEIGHBOUR, stdin=subprocess.PIPE) for _ in range(neighbours)]
            try:
                end = time.perf_counter() + seconds / 2
                for number in range(rounds):
                    for threads in (1, 2) if number % 2 else (2, 1):
                        found = _timed(layer, x, threads, seconds / 4 / LEAST_ROUNDS)
                        rows.append({"neighbours": neighbours, "round": number, "threads": threads, **found})
                    if time.perf_counter() > end and number + 1 >= LEAST_ROUNDS:
                        break
            finally:
                for one in busy:
                    one.kill()
                    one.communicate()
    return rows


def _timed(layer: Any, x: torch.Tensor, threads: int, seconds: float) -> dict[str, float]:
    torch.set_num_threads(threads)
    for _ in range(3):
        layer(x)
    times, end = [], time.perf_counter() + seconds
    while len(times) < CALLS and (len(times) < LEAST_CALLS or time.perf_counter() < end):
        start = time.perf_counter()
        layer(x)
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return {"calls": len(times), "median_ms": times[len(times) // 2], "p99_ms": times[int(0.99 * len(times))]}
