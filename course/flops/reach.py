"""What a count can reach from the thing it was given: its modules, the objects they keep, its name."""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

CONTAINERS = (list, dict, set, deque)
"""Containers that can change."""
_FOREIGN = frozenset(sys.stdlib_module_names) | set("torch numpy course IPython ipykernel tqdm matplotlib".split())
"""Objects of these packages look after themselves: loggers, queues, locks."""
_TRAINING = ("torch.optim.", "torch.amp.")
"""Optimizers, schedulers and scalers do not: a training step changes them."""
ENOUGH = 20_000
"""Objects looked at in one walk."""


def is_own(space: Any) -> bool:
    """Whether a file, by the name it is imported under, is somebody's own."""
    return isinstance(space, str) and space.partition(".")[0] not in _FOREIGN


def contents(container: Any) -> Any:
    """A plain copy of a container, for whatever class of its own it has."""
    if isinstance(container, dict):
        return dict.copy(container)
    return set(container) if isinstance(container, set) else list(container)


def _own(value: Any) -> bool:
    """Whether it is an object or a function of somebody's own code."""
    space = getattr(value if isinstance(value, types.FunctionType) else type(value), "__module__", None)
    return is_own(space) or isinstance(space, str) and space.startswith(_TRAINING)


def is_object(value: Any) -> bool:
    """Whether it is an object of somebody's own class, with attributes."""
    plain = not isinstance(value, (type, types.FunctionType, types.ModuleType, torch.Tensor)) and hasattr(value, "__dict__")
    return plain and (_own(value) or isinstance(value, types.SimpleNamespace))


def _globals_named(code: types.CodeType) -> set[str]:
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_globals_named(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)))


def _of_function(function: types.FunctionType) -> list[Any]:
    """What a function can reach: its closure, its defaults, the globals it names."""
    held = list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:
            pass  # not filled yet
    return held + [function.__globals__[name] for name in sorted(_globals_named(function.__code__))
                   if name in function.__globals__]


def inside(value: Any) -> list[Any]:
    """What can be reached from a value in one step."""
    if isinstance(value, dict):
        return list(dict.values(value))  # a class of its own may load something when asked
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, types.FunctionType):
        return _of_function(value) if _own(value) else []
    return list(vars(value).values()) if isinstance(value, nn.Module) or is_object(value) else []


def walk(start: Iterable[Any], into: Callable[[Any], bool], enough: int = ENOUGH,
         look: Callable[[Any], list[Any]] = inside) -> Iterator[Any]:
    """What can be reached, nearest first, each once, at most `enough`; `into` says what to look inside."""
    seen: dict[int, Any] = {}
    waiting = deque(start)
    while waiting and len(seen) < enough:
        value = waiting.popleft()
        if value is None or isinstance(value, (bool, int, float, str, bytes)) or id(value) in seen:
            continue
        seen[id(value)] = value
        yield value
        if into(value):
            waiting.extend(look(value))


def _package(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


def _behind(model: Any) -> Iterator[Any]:
    """What a plain callable can reach, down to modules; functions are followed inside its own package."""
    start = [model, getattr(model, "__self__", None), type(model).__call__]
    home = {_package(value) for value in (model, type(model), getattr(model, "func", None))}

    def into(value: Any) -> bool:
        if isinstance(value, types.MethodType) and isinstance(value.__self__, nn.Module):
            return False
        return not isinstance(value, nn.Module) and (not isinstance(value, types.FunctionType) or _package(value) in home)

    return walk(start, into)


def _entry_modules(model: Any) -> list[nn.Module]:
    """The outermost modules."""
    return [model] if isinstance(model, nn.Module) else [v for v in _behind(model) if isinstance(v, nn.Module)]


def loose_tensors(model: Any) -> list[torch.Tensor]:
    """Tensors a plain callable reaches without a module."""
    return [] if isinstance(model, nn.Module) else [v for v in _behind(model) if isinstance(v, torch.Tensor)]


def objects_behind(model: Any) -> list[Any]:
    """Objects and containers a plain callable reaches without a module."""
    return [] if isinstance(model, nn.Module) else [
        value for value in _behind(model) if isinstance(value, CONTAINERS) or is_object(value)]


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
