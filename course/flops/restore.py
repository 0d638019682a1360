"""Leaving nothing behind: everything a forward could change is noted before and put back after.

Modules: every attribute of every module, its hooks and training flags, and what the objects, lists, dicts and
sets hold that can be reached from there or from the inputs. Process: random generators (torch on every device
in use, Python, NumPy), grad mode, and the fast path of multi-head attention. Tensors written in a real run:
copied before the first write.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from course.flops.reach import CONTAINERS, ENOUGH, contents, is_object, walk


def _refill(container: Any, contents: Any) -> None:
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(contents)
    else:
        container.extend(contents)


def _same(now: Any, before: Any) -> bool:
    if len(now) != len(before):
        return False
    if isinstance(now, dict):
        return all(a is b for a, b in zip(now, before, strict=True)) and all(
            a is b for a, b in zip(dict.values(now), before.values(), strict=True)
        )
    if isinstance(now, set):
        return now == before
    return all(a is b for a, b in zip(now, before, strict=True))


@contextmanager
def modules_kept(modules: Iterable[nn.Module], *others: Any) -> Iterator[None]:
    """Put back every attribute of the modules, and of the objects and containers they and `others` keep."""
    start, saved = [*modules, *others], []
    of_modules = 100 * len(start)  # each holds a dozen containers; none may be left out
    for value in walk(start, lambda value: not isinstance(value, (FunctionType, MethodType)), ENOUGH + of_modules):
        if isinstance(value, CONTAINERS):
            saved.append((value, contents(value) if value else None))
        elif isinstance(value, nn.Module) or is_object(value):
            attributes = vars(value)
            saved.append((attributes, attributes.copy()))
    try:
        yield
    finally:
        for container, before in saved:
            if before is None:
                if container:
                    container.clear()
            elif not _same(container, before):
                _refill(container, before)


@contextmanager
def functions_kept() -> Iterator[None]:
    """Put back the functions of torch, torch.nn.functional and Tensor if the block patches them."""
    before = [(space, dict(vars(space))) for space in (torch, torch.nn.functional, torch.Tensor)]
    try:
        yield
    finally:
        for space, names in before:
            now = vars(space)
            for name in [name for name, value in names.items() if now.get(name) is not value]:
                if callable(names[name]):
                    setattr(space, name, names[name])
        for name in set(vars(torch.Tensor)) - set(before[-1][1]):
            delattr(torch.Tensor, name)


@contextmanager
def _defaults_kept() -> Iterator[None]:
    """Put back the default type and device, autocast and anomaly detection."""
    dtype, anomaly = torch.get_default_dtype(), torch.is_anomaly_enabled()
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    autocast = {kind: torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda")}
    checking = torch.is_anomaly_check_nan_enabled()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not device:
            torch.set_default_device(None if device is None else device.device)
            if device is None:  # torch 2.9 raises in get_default_device() while a None is stored there
                vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)
        for kind, enabled in autocast.items():
            torch.set_autocast_enabled(kind, enabled)
        torch.autograd.set_detect_anomaly(anomaly, checking)


@contextmanager
def process_kept(fast_path: bool = False) -> Iterator[None]:
    """Put back the random generators, torch's defaults, grad mode and the attention fast path.

    fast_path: whether nn.MultiheadAttention may take it in the block; it hides its operators.
    The switches of torch.backends are kept by course.flags, patched functions by `functions_kept`.
    """
    numpy = sys.modules.get("numpy")
    python_state = random.getstate()
    numpy_state = numpy.random.get_state() if numpy is not None else None
    cpu_state = torch.get_rng_state()
    cuda = (
        torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    )
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    grad = torch.is_grad_enabled()
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(fast_path)
    try:
        with _defaults_kept():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
        torch.set_grad_enabled(grad)
        torch.set_rng_state(cpu_state)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)
        random.setstate(python_state)
        if numpy_state is not None:
            numpy.random.set_state(numpy_state)


class WriteGuard:
    """Copies a tensor that existed before the run the moment an operator is about to write to it."""

    def __init__(self) -> None:
        self._born: set[int] = set()  # storages made during the run
        self._saved: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def adopt(self, tensors: Iterable[torch.Tensor]) -> None:
        """These are stand-ins of ours: writing to them needs no copy."""
        self._born.update(_storage(tensor) for tensor in tensors if _has_storage(tensor))

    def before_write(self, tensor: torch.Tensor) -> None:
        """Keep a copy of the tensor unless it was made during the run or is kept already."""
        if not _has_storage(tensor):
            return
        key = _storage(tensor)
        if key not in self._born and key not in self._saved:
            whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())
            self._saved[key] = (whole, whole.clone())

    def after(self, inputs: Iterable[torch.Tensor], outputs: Iterable[torch.Tensor]) -> None:
        """Note which storages an operator has made: those of its outputs that no input had."""
        old = {_storage(tensor) for tensor in inputs if _has_storage(tensor)}
        self._born.update(
            key for key in (_storage(tensor) for tensor in outputs if _has_storage(tensor)) if key not in old
        )

    def undo(self) -> None:
        """Put the copies back."""
        with torch.no_grad():
            for tensor, copy in self._saved.values():
                tensor.copy_(copy)
        self._saved.clear()


def _has_storage(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_meta


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata
