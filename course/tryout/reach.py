"""Everything that a step can change: the tensors, containers and objects that its code refers to; saved, and put back."""

from __future__ import annotations

import contextlib
import functools
import sysconfig
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from course.generators import generators_preserved
from course.i18n import both
from course.tryout.settings import TryError

LISTS, DICTS, SETS = (list, deque), (dict, OrderedDict, defaultdict), (set,)
LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    | {str(Path(__file__).parents[1]), "<frozen"}
)
"""Where code lies whose globals hold nothing of the user's."""
MOST = 200_000
"""Objects looked at."""


class Reach:
    """The objects within reach of a step: of its closure, the globals that its code names, arguments, attributes, items."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self.tensors: list[torch.Tensor] = []
        self.held: list[Any] = []
        self.once: list[str] = []
        seen: dict[int, Any] = {}
        waiting = [step]
        while waiting and len(seen) < MOST:
            one = waiting.pop()
            if id(one) not in seen and not isinstance(
                one, (str, bytes, int, float, type, types.ModuleType, type(None))
            ):
                seen[id(one)] = one
                waiting += self._parts(one)

    def _parts(self, one: Any) -> list[Any]:
        """What it refers to; notes on the way what can change."""
        if isinstance(one, torch.Tensor):
            self.tensors.append(one)
            return [one.grad] if one.is_leaf and one.grad is not None else []
        if isinstance(one, types.FunctionType):
            return _of_function(one)
        if isinstance(one, types.MethodType):
            return [one.__self__, one.__func__]
        if isinstance(one, functools.partial):
            return [one.func, *one.args, *one.keywords.values()]
        if isinstance(one, (tuple, frozenset)):
            return list(one)
        if isinstance(one, (*LISTS, *SETS, *DICTS)):
            self.held.append(one)
            return [*one.values(), *one.keys()] if isinstance(one, DICTS) else list(one)
        if hasattr(type(one), "__next__") and not hasattr(one, "read"):
            self.once.append(type(one).__name__)
        inside = getattr(one, "__dict__", None)
        if type(inside) is dict and not isinstance(one, torch.Generator):
            self.held.append(inside)
            return list(inside.values())
        return []


def _of_function(one: types.FunctionType) -> list[Any]:
    found = [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values(), *vars(one).values()]
    for cell in one.__closure__ or ():
        with contextlib.suppress(ValueError):  # empty so far
            found.append(cell.cell_contents)
    if not one.__code__.co_filename.startswith(LIBRARIES):
        found += [one.__globals__[name] for name in _names(one.__code__) if name in one.__globals__]
    return found


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def device_of(step: Callable[[], Any]) -> str:
    """The kind of device on which the tensors within reach are."""
    return next((one.device.type for one in Reach(step).tensors if one.device.type != "cpu"), "cpu")


def check_no_iterator(step: Callable[[], Any]) -> None:
    """Raises TryError where the step takes from an iterator, which cannot be put back."""
    for name in Reach(step).once[:1]:
        raise TryError(
            both(
                f"The step takes from a {name}, and what is taken cannot be put back. Take one batch before, and let the step use that.",
                f"这一步会从 {name} 里取数据，取走的放不回去。请先取出一个 batch，让这一步用它。",
            )
        )


@contextlib.contextmanager
def put_back(step: Callable[[], Any], device: str) -> Iterator[None]:
    """Whatever the block does with `step`: tensors, containers, objects and random generators are as before, also after an error."""
    reach, storages = Reach(step), {}
    strided = [one for one in reach.tensors if one.layout is torch.strided and not one.is_inference()]
    tensors = [(one, one.data, one.grad if one.is_leaf else None) for one in strided]
    for one in strided:
        memory = one.untyped_storage()
        if memory.data_ptr() not in storages:
            storages[memory.data_ptr()] = memory, memory.clone()
    held = [(one, one.copy()) for one in reach.held]
    try:
        with generators_preserved(device):
            yield
    finally:
        for one, was in held:
            if not _same(one, was):
                one.clear()
                one.extend(was) if isinstance(one, LISTS) else one.update(was)
        for memory, values in storages.values():
            memory.copy_(values)
        for one, data, grad in tensors:
            if one.is_leaf:
                one.grad, one.data = None, data
                one.grad = grad


def _same(one: Any, was: Any) -> bool:
    """Whether a container holds the very same objects in the same order."""
    pairs = [one.items(), was.items()] if isinstance(one, dict) else [one, was]
    now, then = ([*map(id, sum(each, ()))] if isinstance(one, dict) else [*map(id, each)] for each in map(list, pairs))
    return now == then
