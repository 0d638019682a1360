"""Which clock says how long a call took."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch


def watch_for(device: str) -> Callable[[], float]:
    """The wall clock; on a CPU with one thread the time of that thread, which other programs do not lengthen."""
    return time.thread_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
