"""Stand-ins kept outside the model: a forward may store what it makes in a dictionary of its file, on a class or in
a cached function. Left there, the next call of the model would meet a tensor without data, so each of these places
gets back what it held before.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from course.flops.formulas import tensors_in
from course.flops.reach import CONTAINERS, contents, is_object, is_own, walk

_CACHED = type(functools.lru_cache(lambda: None))
_DEEP = 200
"""Objects looked at in one value; what a cache holds is a few tensors."""


class Made:
    """The storages of the stand-ins made in one attempt, held weakly."""

    def __init__(self) -> None:
        self._storages: list[StorageWeakRef] = []

    def note(self, out: Any) -> None:
        """Remember the tensors in the output of an operator, or a stand-in."""
        for tensor in tensors_in((out,)):
            if tensor.layout is torch.strided and not tensor.is_nested:
                self._storages.append(StorageWeakRef(tensor.untyped_storage()))

    def living(self) -> set[int]:
        """Those that something still holds."""
        self._storages = [one for one in self._storages if not one.expired()]
        return {one.cdata for one in self._storages}


class Outside:
    """What lies around the model: the files its classes or functions are written in, and the files those use.

    Taken down before the count; `put_back` afterwards touches only what keeps a stand-in.
    """

    def __init__(self, modules: Iterable[nn.Module], model: Any) -> None:
        self._before: list[tuple[Any, Any]] = []
        near, far = _files(modules, model)
        for value in walk(near, _opens, look=_inside):
            self._take_down(value)
        for file in far:
            self._take_down(file)
            for value in list(vars(file).values()):
                if isinstance(value, CONTAINERS):
                    self._take_down(value)

    def _take_down(self, place: Any) -> None:
        if isinstance(place, CONTAINERS):
            self._before.append((place, contents(place)))
        elif _has_names(place) and (names := vars(place)):
            self._before.append((place, dict(names)))

    def put_back(self, made: Made) -> None:
        """Take the stand-ins out of every place that kept one."""
        if not (living := made.living()):
            return
        for place, before in self._before:
            _restore(place, before, lambda value: _keeps(value, living))
        if made.living():
            gc.collect()  # an attempt that stopped leaves cycles
        if living := made.living():
            _elsewhere(living)


def _files(modules: Iterable[nn.Module], model: Any) -> tuple[list[types.ModuleType], list[types.ModuleType]]:
    """The files of the model's classes and of the callable; those of what these files import by name."""
    kinds = dict.fromkeys(kind for module in modules for kind in type(module).__mro__)
    near = _named(map(_written_in, (*kinds, type(model), model, getattr(model, "func", None))))
    far = _named(_written_in(value) for file in near for value in list(vars(file).values()))
    return near, [file for file in far if file not in near]


def _named(names: Iterable[str | None]) -> list[types.ModuleType]:
    """The files of these names, without those of torch and the standard library."""
    return [sys.modules[name] for name in dict.fromkeys(names) if name in sys.modules and is_own(name)]


def _written_in(value: Any) -> str | None:
    """The name of the file that a value, or its class, is written in."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    name = getattr(value if isinstance(value, (type, types.FunctionType, _CACHED)) else type(value), "__module__", None)
    return name if isinstance(name, str) else None


def _has_names(value: Any) -> bool:
    """Whether it is a file, a class, a function or an object of somebody's own, each with names of its own."""
    if isinstance(value, types.ModuleType):
        return is_own(value.__name__)
    return is_own(value.__module__) if isinstance(value, (type, types.FunctionType)) else is_object(value)


def _opens(value: Any) -> bool:
    return not isinstance(value, (nn.Module, torch.Tensor))


def _inside(value: Any) -> list[Any]:
    """What a value outside the model can keep, in one step."""
    if isinstance(value, dict):
        return list(dict.values(value))
    if isinstance(value, (*CONTAINERS, tuple, frozenset)):
        return list(value)
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if not _has_names(value):
        return []
    found = [kept for kept in vars(value).values() if not isinstance(kept, types.ModuleType)]
    if isinstance(value, types.FunctionType):
        found += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    return found


def _keeps(value: Any, living: set[int]) -> bool:
    """Whether a stand-in can be reached from the value."""
    return any(_is_living(one, living) for one in walk([value], _opens, _DEEP, _inside))


def _is_living(value: Any, living: set[int]) -> bool:
    if not issubclass(type(value), torch.Tensor):  # isinstance asks proxies, also dead ones
        return False
    with torch._C.DisableTorchFunctionSubclass(), contextlib.suppress(RuntimeError, NotImplementedError):
        return value.untyped_storage()._cdata in living
    return False  # sparse: there is no storage


def _restore(place: Any, before: Any, keeps: Callable[[Any], bool]) -> None:
    """Give the changed entries that keep a stand-in their old value, or take them out."""
    if isinstance(place, CONTAINERS) and not isinstance(place, dict):
        known = set(map(id, before))
        for value in [value for value in place if id(value) not in known and keeps(value)]:
            place.remove(value) if isinstance(place, set) else _drop(place, value)
        return
    now = place if isinstance(place, dict) else vars(place)
    for name, value in (contents(now) if isinstance(now, dict) else dict(now)).items():
        if value is not before.get(name) and keeps(value):
            if isinstance(place, type):  # its names cannot be written directly
                setattr(place, name, before[name]) if name in before else delattr(place, name)
            elif name in before:
                now[name] = before[name]
            else:
                del now[name]


def _drop(place: Any, value: Any) -> None:
    del place[next(at for at, one in enumerate(place) if one is value)]


def _elsewhere(living: set[int]) -> None:
    """Cached functions are emptied, wherever they are; dictionaries that nothing above knows lose the entry."""
    everything = gc.get_objects()
    kept = [value for value in everything if _is_living(value, living)]
    for cached in [value for value in everything if type(value) is _CACHED]:
        if any(_keeps(value, living) for value in gc.get_referents(cached) if not isinstance(value, types.FunctionType)):
            cached.cache_clear()
    del everything
    for _ in range(3):  # a tensor in a dictionary, or in a tuple in one
        wanted, holders = set(map(id, kept)), gc.get_referrers(*kept)
        for holder in holders:
            if isinstance(holder, dict) and not holder.keys() & {"__builtins__", "__module__"}:  # no file, no class
                for name in [name for name, value in holder.items() if id(value) in wanted]:
                    del holder[name]
        kept = [holder for holder in holders if isinstance(holder, tuple)]
        if not kept:
            return
