"""What a count can reach from the thing it was given: its modules, its loose tensors, its name."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves


def _held(model: Any) -> list[Any]:
    """What a plain callable can reach: the object it is bound to, its closure, the globals it names."""
    if isinstance(model, functools.partial):
        return [*model.args, *model.keywords.values(), *_held(model.func), model.func]
    held = [getattr(model, "__self__", None)]
    function = getattr(model, "__func__", model)
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            held.append(cell.cell_contents)
    code = getattr(function, "__code__", None)
    if code is not None:
        held += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    if not isinstance(model, type) and hasattr(model, "__dict__") and code is None:
        held += list(vars(model).values())
    return held


def _entry_modules(model: Any) -> list[nn.Module]:
    if isinstance(model, nn.Module):
        return [model]
    found: list[nn.Module] = []
    for value in _held(model):
        values = value if isinstance(value, (list, tuple)) else [value]
        found += [v for v in values if isinstance(v, nn.Module) and all(v is not other for other in found)]
    return found


def loose_tensors(model: Any) -> list[torch.Tensor]:
    """Tensors a plain callable reaches without a module."""
    if isinstance(model, nn.Module):
        return []
    return [value for value in _held(model) if isinstance(value, torch.Tensor)]


def modules_of(model: Any) -> list[nn.Module]:
    """Every module the call can reach, each once."""
    found: dict[int, nn.Module] = {}
    for entry in _entry_modules(model):
        for module in entry.modules():
            found.setdefault(id(module), module)
    return list(found.values())


def roots(model: Any) -> list[tuple[str, nn.Module]]:
    """The outermost modules and the name each gets in the tree."""
    if isinstance(model, nn.Module):
        return [("", model)]
    entries = _entry_modules(model)
    if len(entries) == 1:
        return [("", entries[0])]
    return [(f"{type(module).__name__.lower()}_{at}", module) for at, module in enumerate(entries)]


def kind(model: Any) -> str:
    """What the whole is called: the class of its only module, or the name of the function."""
    entries = _entry_modules(model)
    return (
        type(entries[0]).__name__ if len(entries) == 1 else getattr(model, "__name__", type(model).__name__)
    )


def without_data(modules: list[nn.Module], inputs: Any, kwargs: Any) -> bool:
    """Whether the model or the inputs already lie on the meta device: then only shapes can be counted."""
    tensors = [p for module in modules for p in (*module._parameters.values(), *module._buffers.values())]
    return any(isinstance(x, torch.Tensor) and x.is_meta for x in (*tensors, *tree_leaves((inputs, kwargs))))
