"""The modules behind a callable: an nn.Module itself, or those a function or an object keeps."""

from __future__ import annotations

import functools
import types
from collections import deque
from typing import Any

import torch
from torch import nn

from course.flops.sealed import facts_of, trusted

ENOUGH = 20_000
"""Objects looked at in one walk."""


def _inside(value: Any, home: set[str]) -> list[Any]:
    """What can be reached from a value in one step; functions are followed inside their own package."""
    if isinstance(value, dict):
        return list(dict.values(value))  # a class of its own may load something when asked
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__] if isinstance(value.__self__, nn.Module) else [value.__self__, value.__func__]
    if isinstance(value, types.FunctionType):
        if _package(value) not in home:
            return []
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        names = sorted(facts_of(value.__code__).names)
        return [
            *cells,
            *(value.__defaults__ or ()),
            *(value.__kwdefaults__ or {}).values(),
            *(value.__globals__[name] for name in names if name in value.__globals__),
        ]
    plain = not isinstance(value, (type, types.ModuleType, nn.Module, torch.Tensor)) and hasattr(value, "__dict__")
    return list(vars(value).values()) if plain and not trusted(type(value).__module__) else []


def _package(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


def roots(model: Any) -> list[nn.Module]:
    """The outermost modules the call can reach, nearest first."""
    home = {_package(value) for value in (model, type(model), getattr(model, "func", None))}
    found, seen, waiting = [], {}, deque([model, type(model).__call__])
    while waiting and len(seen) < ENOUGH:
        value = waiting.popleft()
        if id(value) not in seen:
            seen[id(value)] = value
            found += [value] if isinstance(value, nn.Module) else []
            waiting += _inside(value, home) if not isinstance(value, nn.Module) else []
        if isinstance(model, nn.Module):
            break
    return found


def modules_of(entries: list[nn.Module]) -> list[nn.Module]:
    """Every module of these, each once."""
    return list({id(module): module for entry in entries for module in entry.modules()}.values())
