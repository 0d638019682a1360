"""Restore settings of the process after a block: random generators, defaults and switches of torch, Python's own."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch.distributions import Distribution
from torch.nn.modules import module as global_hooks

from course import flags
from course.generators import generators_preserved

_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled),
    (torch.is_warn_always_enabled, torch.set_warn_always),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.is_grad_enabled, torch._C._set_grad_enabled),
    (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda on: torch.autograd.set_detect_anomaly(*on),
    ),
    (lambda: torch.is_autocast_enabled("cpu"), lambda on: torch.set_autocast_enabled("cpu", on)),
    (lambda: torch.is_autocast_enabled("cuda"), lambda on: torch.set_autocast_enabled("cuda", on)),
    (lambda: dict(vars(torch._tensor_str.PRINT_OPTS)), vars(torch._tensor_str.PRINT_OPTS).update),
    (lambda: Distribution._validate_args, Distribution.set_default_validate_args),
    (torch._C._check_sparse_tensor_invariants, torch._C._set_check_sparse_tensor_invariants),
    (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    (os.getcwd, os.chdir),
    (lambda: [*sys.path], lambda path: sys.path.__setitem__(slice(None), path)),
    (lambda: dict(os.environ), lambda names: (os.environ.clear(), os.environ.update(names))),
)
"""How to read a setting, and how to set it."""


@contextmanager
def _settings_preserved() -> Iterator[None]:
    numpy = sys.modules.get("numpy")
    more = ((numpy.geterr, lambda kinds: numpy.seterr(**kinds)),) if numpy else ()
    before = [(read, write, read()) for read, write in (*_SETTINGS, *more)]
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    saved = torch._C._autograd._top_saved_tensors_default_hooks(True)
    hooks = [
        (one, one.copy())
        for name, one in vars(global_hooks).items()
        if name.startswith("_global_") and hasattr(one, "copy")
    ]
    try:
        yield
    finally:
        while torch._C._autograd._top_saved_tensors_default_hooks(True) not in (None, saved):
            torch._C._autograd._pop_saved_tensors_default_hooks()
        for now, kept in hooks:
            if now != kept:
                now.clear()
                now.update(kept)
        if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not device:
            torch.set_default_device(None if device is None else device.device)
            if device is None:  # torch 2.9 raises in get_default_device() while a None is stored there
                vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)
        for read, write, value in before:
            if read() != value:
                with suppress(OSError):  # a folder that is gone
                    write(value)


@contextmanager
def process_preserved(devices: Iterable[str] = ()) -> Iterator[None]:
    """Restore after the block: random generators (those of `devices` too), defaults and switches of torch, and what a forward
    may change in Python: environment, folder, import path, collector."""
    with ExitStack() as stack:
        stack.enter_context(flags.preserved())
        for device in sorted({"cpu", *devices} - {"meta"}):
            stack.enter_context(generators_preserved(device))
        stack.enter_context(_settings_preserved())
        yield
