"""The device of the experiments that need a GPU. Without one they run on the CPU, which tests their form alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

import torch

T = TypeVar("T")


def device() -> str:
    """cuda where there is one, else cpu."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def wait() -> None:
    """Until the GPU has finished; nothing on a CPU."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def within(seconds: float, items: Iterable[T], least: int = 1) -> Iterator[T]:
    """The items until the seconds are out; the first ``least`` always come. For probes in a process of their own."""
    end = perf_counter() + (seconds if math.isfinite(seconds) else 1e9)
    for number, item in enumerate(items):
        if number >= least and perf_counter() > end:
            return
        yield item
