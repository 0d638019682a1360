"""Settings of the process that are put back after a block: generators, torch's defaults and switches."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from course import flags


@contextmanager
def defaults_kept() -> Iterator[None]:
    """Put back the default type and device, grad mode, autocast and anomaly detection."""
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    autocast = {kind: torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda")}
    anomaly = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        torch.backends.mha.set_fastpath_enabled(fast)
        if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not device:
            torch.set_default_device(None if device is None else device.device)
            if device is None:  # torch 2.9 raises in get_default_device() while a None is stored there
                vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)
        for kind, enabled in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
        torch.autograd.set_detect_anomaly(*anomaly)


@contextmanager
def generators_kept(devices: bool) -> Iterator[None]:
    """Put back the random generators of torch, Python and NumPy. devices: those of GPUs in use too."""
    numpy, python = sys.modules.get("numpy"), random.getstate()
    theirs, cpu = numpy.random.get_state() if numpy else None, torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if devices and torch.cuda.is_initialized() else None
    mps = torch.mps.get_rng_state() if devices and torch.backends.mps.is_available() else None
    try:
        yield
    finally:
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)
        random.setstate(python)
        if theirs is not None:
            numpy.random.set_state(theirs)


@contextmanager
def process_kept(devices: bool = False) -> Iterator[None]:
    """Put back generators, defaults and the switches of torch.backends."""
    with flags.preserved(), generators_kept(devices), defaults_kept():
        yield
