"""A photograph of everything that can be reached from some objects, and of the process: two of them can be compared.

Tensors are held by their bits, containers and objects by what they hold (by identity), functions by their closure,
defaults and globals, and so on down. Used to show that a count changes nothing.
"""

from __future__ import annotations

import contextvars
import functools
import os
import random
import sys
import threading
import types
import weakref
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules import module as global_hooks

from course import flags

OWN = ("tests", "test_", "benchmarks", "__main__", "acme", "course.models", "odd_")
"""Where objects come from whose functions, classes and modules are followed."""
PASSING = ("__warningregistry__", "__builtins__", "__loader__", "__spec__", "__pytest", "@py_assert")


def _own(name: Any) -> bool:
    return isinstance(name, str) and name.startswith(OWN)


def _tensor(x: torch.Tensor) -> tuple[Any, list[Any]]:
    if nn.parameter.is_lazy(x):
        return None, [vars(x)]
    held = [vars(x), x.grad if x.is_leaf else None, x._backward_hooks]
    about = (tuple(x.shape), x.dtype, str(x.device), x.requires_grad, type(x), str(x.layout))
    if type(x) in (torch.Tensor, nn.Parameter) and x.layout is torch.strided and not x.is_meta:
        whole = torch.empty(0, dtype=torch.uint8).set_(x.detach().untyped_storage())
        bits = hash(whole.numpy().tobytes()) if whole.numel() < 1 << 20 else float(whole[::997].double().sum())
        about += (x.data_ptr(), x.stride(), 0 if x.is_inference() else x._version, bits)
    return about, held


def _facts(value: Any) -> tuple[Any, list[Any]]:
    """What can be compared of one object, and what it holds."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, dict):
        keys = [key for key in dict.keys(value) if not (isinstance(key, str) and key.startswith(PASSING))]
        held = [*keys, *(dict.__getitem__(value, key) for key in keys)]
        return list(map(id, held)), [*held, getattr(value, "__dict__", None)]
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "deque":
        held = list(value) if not isinstance(value, (set, frozenset)) else sorted(value, key=id)
        return list(map(id, held)), held
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        held = [*cells, value.__defaults__, value.__kwdefaults__, vars(value)]
        return list(map(id, cells)), held + ([value.__globals__] if _own(value.__module__) else [])
    if isinstance(value, types.MethodType):
        return None, [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return None, [value.func, value.args, value.keywords]
    if isinstance(value, functools._lru_cache_wrapper):
        return value.cache_info(), [vars(value)]
    if isinstance(value, contextvars.ContextVar):
        return id(value.get(None)), [value.get(None)]
    if isinstance(value, torch.Generator):
        return value.get_state().numpy().tobytes(), []
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state), []
    if isinstance(value, np.ndarray):
        return value.tobytes(), []
    if isinstance(value, types.GeneratorType):
        return (value.gi_frame.f_lasti if value.gi_frame else None), []
    if isinstance(value, weakref.ref):
        return id(value()), [value()]
    if isinstance(value, type):
        if not _own(value.__module__):
            return None, []
        names = {name: item for name, item in vars(value).items() if not name.startswith(("__", "_abc_"))}
        return [(name, id(item)) for name, item in names.items()], list(names.values())
    if isinstance(value, types.ModuleType):
        return None, [vars(value)] if _own(value.__name__) else []
    if hasattr(value, "__length_hint__"):
        return value.__length_hint__(), []
    slots = [name for base in type(value).__mro__ for name in vars(base).get("__slots__", ()) if hasattr(value, name)]
    held = [getattr(value, name) for name in slots if name not in ("__dict__", "__weakref__")]
    names = getattr(value, "__dict__", None)
    return list(map(id, held)), [*held, names if isinstance(names, dict) else None]


def photograph(*roots: Any) -> tuple[dict[int, Any], list[Any]]:
    """Facts by identity, and the objects (kept alive, so that an identity means one object)."""
    found, alive, waiting = {}, [], list(roots)
    while waiting:
        value = waiting.pop()
        if value is None or isinstance(value, (bool, int, float, str, bytes, types.CodeType)) or id(value) in found:
            continue
        facts, held = _facts(value)
        found[id(value)] = (type(value).__name__, facts)
        alive.append(value)
        waiting += held
    return found, alive


def of_process() -> dict[str, Any]:
    """Settings of Python and torch that a forward may change."""
    return {
        "generators": (torch.get_rng_state().numpy().tobytes(), random.getstate(), str(np.random.get_state())),
        "environment": dict(os.environ),
        "directory": os.getcwd(),
        "path": list(sys.path),
        "flags": flags.read(),
        "defaults": (
            torch.get_default_dtype(),
            str(torch.get_default_device()),
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.is_anomaly_enabled(),
            torch.is_anomaly_check_nan_enabled(),
            torch.get_num_threads(),
        ),
        "functions": {
            space.__name__: {name: id(value) for name, value in vars(space).items() if callable(value)}
            for space in (torch, F, torch.Tensor, nn.Module, nn.Linear, threading.Thread)
        },
        "global hooks": [
            len(value)
            for name, value in sorted(vars(global_hooks).items())
            if name.startswith("_global_") and hasattr(value, "__len__")
        ],
        "modes": torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack(),
    }


def differences(before: tuple[dict[int, Any], list[Any]], after: tuple[dict[int, Any], list[Any]]) -> list[str]:
    """What is not as it was, in words."""
    objects = {id(value): value for value in before[1]}
    changed = [
        f"{facts[0]} changed: {str(objects[key])[:90]}"
        for key, facts in before[0].items()
        if after[0].get(key) != facts
    ]
    return sorted(changed) + [f"{facts[0]} added" for key, facts in after[0].items() if key not in before[0]]
