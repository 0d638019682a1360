"""Restore what a block may change of the process: random generators, torch's default dtype and device."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def process_state_preserved(device: str = "cpu") -> Iterator[None]:
    """Restore after the block: the random generators of Python, NumPy and torch (the CPU's and those of `device`), and the dtype and
    device that torch makes tensors of where none is named.
    """
    kind, numpy = device.split(":")[0], sys.modules.get("numpy")
    python, arrays = random.getstate(), numpy.random.get_state() if numpy else None
    states = torch.mps.get_rng_state() if kind == "mps" else None
    devices = [torch.device(device)] if kind in ("cuda", "xpu") else []
    dtype, where = torch.get_default_dtype(), _device_mode()
    with torch.random.fork_rng(devices=devices, device_type=kind if devices else "cuda"):
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            if _device_mode() is not where:
                torch.set_default_device(where and where.device)
            random.setstate(python)
            if numpy:
                numpy.random.set_state(arrays)
            if states is not None:
                torch.mps.set_rng_state(states)


def _device_mode() -> Any:
    """What torch.set_default_device has set, if anything."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
