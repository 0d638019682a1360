"""Restore settings of the process after a block: random generators, torch's defaults and switches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from course import flags
from course.generators import generators_preserved


@contextmanager
def defaults_preserved() -> Iterator[None]:
    """Restore after the block: default type and device, grad mode, autocast, anomaly detection, attention's fast path."""
    dtype, device = torch.get_default_dtype(), getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    autocast = {kind: torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda")}
    anomaly = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.backends.mha.set_fastpath_enabled(fast)
        torch.autograd.set_detect_anomaly(*anomaly)
        for kind, enabled in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
        if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not device:
            torch.set_default_device(None if device is None else device.device)
            if device is None:  # torch 2.9 raises in get_default_device() while a None is stored there
                vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)


@contextmanager
def process_preserved(device: str = "cpu") -> Iterator[None]:
    """Restore after the block: random generators (those of `device` too), torch's defaults and the switches of torch.backends."""
    with flags.preserved(), generators_preserved(device), defaults_preserved():
        yield
