"""Restore the random generators of the process after a block."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def generators_preserved(device: str = "cpu") -> Iterator[None]:
    """Restore after the block: the random generators of Python, NumPy and torch (the CPU's and those of `device`)."""
    kind, numpy = device.split(":")[0], sys.modules.get("numpy")
    python, arrays = random.getstate(), numpy.random.get_state() if numpy else None
    states = torch.mps.get_rng_state() if kind == "mps" else None
    devices = [torch.device(device)] if kind in ("cuda", "xpu") else []
    with torch.random.fork_rng(devices=devices, device_type=kind if devices else "cuda"):
        try:
            yield
        finally:
            random.setstate(python)
            if numpy:
                numpy.random.set_state(arrays)
            if states is not None:
                torch.mps.set_rng_state(states)
