"""What a step can change, found from the step itself; and how it is put back: from copies of containers and of the memory of tensors."""

from __future__ import annotations

import contextlib
import functools
import re
import signal
import sys
import threading
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from course import flags
from course.core.generators import generators_preserved
from course.core.i18n import t
from course.timing import TimingError
from course.tryout.look import plain

HOLDS = {
    types.MethodType: ("__self__", "__func__"),
    functools.partial: ("func", "args", "keywords"),
    types.FunctionType: ("__closure__", "__defaults__", "__kwdefaults__"),
}
"""Kind of an object -> its attributes that hold others and cannot be assigned."""


class Reach:
    """Everything within reach of an object: attributes, items, closures, and the globals that functions of the user's files name.

    tensors: each once. containers: lists, sets and dicts (of attributes, too). attributes: (object, name, value) of what stands in no
    dict. spaces: (globals, names used of them). iterators: what nobody can put back.
    """

    def __init__(self, root: Any) -> None:
        self.tensors: list[torch.Tensor] = []
        self.containers: list[Any] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.spaces: list[tuple[dict[str, Any], set[str]]] = []
        self.iterators: list[Any] = []
        seen: dict[int, Any] = {}  # with the object: an id means something only while it lives
        waiting = [root]
        while waiting:
            value = waiting.pop()
            if id(value) not in seen and not isinstance(value, (str, bytes, int, float, type(None), type)):
                seen[id(value)] = value
                waiting += self._inside(value)

    def _inside(self, value: Any) -> Iterable[Any]:
        """What an object holds."""
        found = [getattr(value, "__dict__", None), *(getattr(value, name, None) for name in HOLDS.get(type(value), ()))]
        names: Iterable[str] = ()
        if isinstance(value, torch.Tensor):
            self.tensors.append(value)
            names = ("requires_grad", "grad") if value.is_leaf else ()
        elif isinstance(value, types.ModuleType):
            return found if own(value.__name__) else []
        elif isinstance(value, types.CellType):
            names = ("cell_contents",) if value != types.CellType() else ()
        elif isinstance(value, types.FunctionType):
            if own(value.__module__):
                named = names_of(value.__code__) & value.__globals__.keys()
                self.spaces.append((value.__globals__, named))
                found += [value.__globals__[name] for name in named]
        elif isinstance(value, (list, set, frozenset, tuple, deque)):
            found += value
        elif isinstance(value, dict):
            found += [*value.keys(), *value.values()]
        elif type(value).__module__ in ("builtins", "itertools") and hasattr(value, "__next__"):
            self.iterators.append(value)
        else:
            slots = [vars(kind).get("__slots__", ()) for kind in type(value).__mro__]
            names = [name for some in slots for name in ([some] if isinstance(some, str) else some)]
        if isinstance(value, (list, set, dict, deque)):
            self.containers.append(value)
        self.attributes += [
            (value, name, getattr(value, name)) for name in names if name[:2] != "__" and hasattr(value, name)
        ]
        return [*found, *(getattr(value, name, None) for name in names)]


def names_of(code: types.CodeType) -> set[str]:
    """The names that a function uses and does not define; functions inside it included."""
    return {*code.co_names}.union(*(names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)))


@functools.cache
def own(name: Any) -> bool:
    """Whether a module of that name is the user's, not Python's, an installed package's or the course's."""
    root = str(name).partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    others = ("course", "builtins", *sys.stdlib_module_names)
    return root == "__main__" or root not in others and not re.search(r"[/\\](site|dist)-packages[/\\]", file)


@contextlib.contextmanager
def put_back(step: Any, device: str = "cpu") -> Iterator[Reach]:
    """Put back after the block what it changed within reach of `step`, random generators and switches; gives what is within reach.

    Raises TimingError where an iterator is within reach.
    """
    reach = Reach(step)
    if reach.iterators:
        kind = type(reach.iterators[0]).__name__
        english = (
            f"The step takes from a {kind}, which cannot be put back: make it anew inside the step, or use a list."
        )
        raise TimingError(t(english, f"这一步会用到一个 {kind}，它用过就无法复原：请在这一步里新建，或改用列表。"))
    items = [(one, [*one.items()] if isinstance(one, dict) else [*one]) for one in reach.containers]
    spaces = [(space, {name: space[name] for name in names}) for space, names in reach.spaces]
    data = [(one, one.data) for one in reach.tensors if plain(one)]
    stores = {one.untyped_storage()._cdata: one.untyped_storage() for one, _ in data}
    memory = [(store, _bytes(store).clone()) for store in stores.values()]
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        with flags.preserved(), generators_preserved(device):
            yield reach
    finally:
        with _interrupts_wait():
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)
            for tensor, before in data:
                if (tensor.data_ptr(), tensor.dtype, tensor.stride()) != (
                    before.data_ptr(),
                    before.dtype,
                    before.stride(),
                ):
                    tensor.grad = None  # it may be of another type or layout
                    tensor.data = before
            for store, kept in memory:
                if store.nbytes() != kept.nbytes:
                    store.resize_(kept.nbytes)
                if not torch.equal(_bytes(store), kept):
                    _bytes(store).copy_(kept)
            for one, name, value in reach.attributes:
                if getattr(one, name, None) is not value:
                    setattr(one, name, value)
            for one, before in items:
                _refill(one, before)
            for space, before in spaces:
                space.update(before)


def _bytes(store: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=store.device).set_(store)


def _refill(container: Any, before: list[Any]) -> None:
    """Put these items into a list, a set or a dict that holds others now."""
    now = [*container.items()] if isinstance(container, dict) else [*container]
    flat = (lambda items: [x for pair in items for x in pair]) if isinstance(container, dict) else list
    if len(now) != len(before) or not all(map(lambda a, b: a is b, flat(now), flat(before))):
        container.clear()
        (container.update if isinstance(container, (dict, set)) else container.extend)(before)


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """An interrupt that comes in the block is raised after it."""
    came: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number)) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    if came:
        raise KeyboardInterrupt
