"""Copies made for one count and thrown away: the same objects again, sharing nothing that can change."""

from __future__ import annotations

import builtins
import functools
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import torch

from course.flops.sealed import ATOMS, own_globals, sealed, trusted


class Uncopyable(Exception):
    """No faithful copy can be made (a file, a lock, a cache, code that reaches outside): a child must do."""


class Copier:
    """`copier(value)` is a copy of all that can be reached from the value; the same object gives the same copy.

    tensor: makes the stand-in of a tensor. What cannot change, and sealed functions and classes, is shared.
    """

    def __init__(self, tensor: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.tensor = tensor
        self._made: dict[int, Any] = {}
        self._alive: list[Any] = []  # an id means something only while its object lives
        self._spaces: dict[int, dict[str, Any]] = {}
        self._kinds: dict[type, bool] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SHARED:
            return value
        key, made = id(value), self._made
        if key in made:
            return made[key]
        self._alive.append(value)
        if kind in _EMPTY and not value:
            copy = made[key] = kind()
            return copy
        copy = _COPIES.get(kind, Copier._other)(self, value)
        return made.setdefault(key, copy)

    def _new(self, value: Any, copy: Any) -> Any:
        self._made[id(value)] = copy  # before its contents are copied: they may lead back here
        return copy

    def _list(self, value: Any) -> Any:
        copy = self._new(value, type(value)() if type(value) is not deque else deque(maxlen=value.maxlen))
        copy.extend(self(item) for item in value)
        return copy

    def _set(self, value: Any) -> Any:
        copy = self._new(value, set())
        copy.update(self(item) for item in value)
        return copy

    def _dict(self, value: Any) -> Any:
        copy = self._new(
            value, defaultdict(self(value.default_factory)) if type(value) is defaultdict else type(value)()
        )
        for name, item in value.items():
            copy[self(name)] = self(item)
        return copy

    def _tuple(self, value: Any) -> Any:
        if type(value) is not tuple and not self._sealed(type(value)):
            raise Uncopyable(type(value).__name__)
        items = [self(item) for item in value]
        if type(value) in (tuple, frozenset) and all(a is b for a, b in zip(value, items, strict=True)):
            return value
        return frozenset(items) if type(value) is frozenset else tuple.__new__(type(value), items)

    def _tensor(self, value: torch.Tensor) -> torch.Tensor:
        copy = self._new(value, self.tensor(value))
        if copy is value:
            return copy
        if vars(value):
            vars(copy).update({name: self(item) for name, item in vars(value).items()})
        if value.is_leaf and value.grad is not None:
            copy.grad = self(value.grad)
        return copy

    def _function(self, value: types.FunctionType) -> Any:
        """The same function, or its text with copied closure, defaults and globals."""
        if sealed(value):
            return value
        reads = own_globals(value)
        parts = {name: item for name, item in (reads or {}).items() if "." in name}  # of modules of their own
        if reads is None or trusted(value.__globals__.get("__name__")) or not all(map(sealed, parts.values())):
            raise Uncopyable(value.__qualname__)
        space = self._spaces.setdefault(id(value.__globals__), {"__builtins__": builtins})
        space.setdefault("__name__", value.__globals__.get("__name__"))
        cells, empty = [], []
        for before in value.__closure__ or ():
            if id(before) not in self._made:
                empty.append(before)
                self._alive.append(before)
            cells.append(self._made.setdefault(id(before), types.CellType()))
        copy = self._new(value, types.FunctionType(value.__code__, space, value.__name__, None, tuple(cells)))
        for before in empty:
            if before != types.CellType():
                self._made[id(before)].cell_contents = self(before.cell_contents)
        copy.__defaults__, copy.__kwdefaults__ = self(value.__defaults__), self(value.__kwdefaults__)
        vars(copy).update(self(vars(value)))
        for name, item in reads.items():
            if name not in space:
                root = name.partition(".")[0]
                space[root] = self(item) if root == name else value.__globals__[root]
        return copy

    def _method(self, value: types.MethodType) -> Any:
        owner = self(value.__self__)
        own = getattr(type(value.__self__), value.__name__, None) is value.__func__
        return types.MethodType(value.__func__ if own else self(value.__func__), owner)

    def _partial(self, value: Any) -> Any:
        return functools.partial(self(value.func), *self(value.args), **self(value.keywords))

    def _reference(self, value: Any) -> Any:
        if value.__callback__ is not None:
            raise Uncopyable("a weak reference with a callback")
        return value if value() is None else weakref.ref(self(value()))

    def _sealed(self, kind: type) -> bool:
        if kind not in self._kinds:
            self._kinds[kind] = sealed(kind)
        return self._kinds[kind]

    def _other(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, tuple):
            return self._tuple(value)
        if sealed(value):
            return value
        kind = type(value)
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype != object:
            return value.copy()
        if isinstance(value, torch.Generator):
            return value.clone_state()
        if kind.__new__ is not object.__new__ or not hasattr(value, "__dict__") or not self._sealed(kind):
            raise Uncopyable(f"{kind.__module__}.{kind.__qualname__}")
        try:
            copy = self._new(value, object.__new__(kind))
        except TypeError as error:
            raise Uncopyable(kind.__qualname__) from error
        for name, item in vars(value).items():
            vars(copy)[name] = self(item)
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                    object.__setattr__(copy, name, self(getattr(value, name)))
        return copy


_COPIES: dict[type, Callable[[Copier, Any], Any]] = {
    list: Copier._list,
    deque: Copier._list,
    set: Copier._set,
    dict: Copier._dict,
    OrderedDict: Copier._dict,
    defaultdict: Copier._dict,
    tuple: Copier._tuple,
    frozenset: Copier._tuple,
    torch.Tensor: Copier._tensor,
    torch.nn.Parameter: Copier._tensor,
    types.FunctionType: Copier._function,
    types.MethodType: Copier._method,
    functools.partial: Copier._partial,
    weakref.ReferenceType: Copier._reference,
    torch.Size: lambda _, value: value,
}
_EMPTY = frozenset((list, set, dict, OrderedDict))
_SHARED = frozenset(ATOMS)
