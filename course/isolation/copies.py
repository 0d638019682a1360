"""Copy a value with everything it refers to, so that code can run on the copy without changing the original."""

from __future__ import annotations

import builtins
import functools
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as global_hooks
from torch.utils._device import DeviceContext

from course.i18n import t
from course.isolation.self_contained import ATOMS, own_globals, self_contained, trusted


class Uncopyable(Exception):
    """No exact copy is possible (a file, a lock, a cache, code that uses globals); a forked child is needed."""


def copied(value: Any, tensor: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A copy of the value and of everything it refers to. tensor: makes the copy of a tensor.

    Raises Uncopyable where no exact copy is possible, or where code of others, such as global hooks, would run on the copy.
    """
    if _disturbed():
        raise Uncopyable(
            t(
                "a hook on all modules or a mode of torch is active",
                "有对所有模块生效的 hook，或正处于 torch 的某种模式",
            )
        )
    copier = Copier(tensor)
    try:
        with torch._C.DisableTorchFunctionSubclass():  # code of a subclass is the user's
            made = copier(value)
    except RecursionError as why:
        raise Uncopyable(t("nested too deeply", "嵌套太深")) from why
    if copier.arrays and copier.lent:
        raise Uncopyable(t("an array may share its memory with a tensor", "有数组可能和张量共用内存"))
    return made


def _disturbed() -> bool:
    """Whether code other than the model's would run on the copies, such as global hooks."""
    modes = [torch._C._get_function_stack_at(at) for at in range(torch._C._len_torch_function_stack())]
    hooks = [found for name, found in vars(global_hooks).items() if name.startswith("_global_") and "hooks" in name]
    others = any(not isinstance(mode, DeviceContext) for mode in modes)
    return others or torch._C._len_torch_dispatch_stack() > 0 or any(hooks)


class Copier:
    """`copier(value)` returns a copy of the value and of everything it refers to; the same object gives the same copy.

    tensor: makes the copy of a tensor. Objects that cannot change, and self-contained functions and classes, are not copied
    but shared. arrays: whether NumPy arrays were copied. lent: whether tensors were copied whose memory belongs to
    another library.
    """

    def __init__(self, tensor: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.tensor = tensor
        self.arrays = self.lent = False
        self._made: dict[int, tuple[Any, Any]] = {}  # with the original: an id means something only while it lives
        self._spaces: dict[int, dict[str, Any]] = {}
        self._slots: dict[type, list[str] | None] = {}  # None: not self-contained

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SHARED:
            return value
        known = self._made.get(id(value))
        if known is not None:
            return known[1]
        copy = _COPIES.get(kind, Copier._other)(self, value)
        return self._made.setdefault(id(value), (value, copy))[1]

    def _new(self, value: Any, copy: Any) -> Any:
        self._made[id(value)] = value, copy  # before its contents are copied: they may lead back here
        return copy

    def _list(self, value: Any) -> Any:
        copy = self._new(value, deque(maxlen=value.maxlen) if type(value) is deque else [])
        copy.extend(map(self, value))
        return copy

    def _set(self, value: Any) -> Any:
        copy = self._new(value, set())
        copy.update(map(self, value))
        return copy

    def _dict(self, value: Any) -> Any:
        made = defaultdict(self(value.default_factory)) if type(value) is defaultdict else type(value)()
        copy = self._new(value, made)
        for name, item in value.items():
            copy[self(name)] = self(item)
        return copy

    def _tuple(self, value: Any) -> Any:
        if _SHARED.issuperset(map(type, value)) and type(value) in (tuple, frozenset):
            return value
        if type(value) is not tuple and not self._is_self_contained(type(value)):
            raise Uncopyable(type(value).__name__)
        items = [self(item) for item in value]
        if type(value) in (tuple, frozenset) and all(a is b for a, b in zip(value, items, strict=True)):
            return value
        return frozenset(items) if type(value) is frozenset else tuple.__new__(type(value), items)

    def _tensor(self, value: torch.Tensor) -> torch.Tensor:
        copy = self._new(value, self.tensor(value))
        if copy is value:
            return copy
        if value.layout is torch.strided and not value.is_nested:
            self.lent = self.lent or not value.untyped_storage().resizable()
        for name, item in vars(value).items():
            vars(copy)[name] = self(item)
        if value.is_leaf and value.grad is not None:
            copy.grad = self(value.grad)
        return copy

    def _cell(self, value: types.CellType) -> types.CellType:
        copy = self._new(value, types.CellType())
        if value != types.CellType():
            copy.cell_contents = self(value.cell_contents)
        return copy

    def _function(self, value: types.FunctionType) -> Any:
        """The function itself where it is self-contained, else its code with a copied closure, defaults and globals."""
        if self_contained(value):
            return value
        reads = own_globals(value)
        parts = {name: item for name, item in (reads or {}).items() if "." in name}  # of modules of their own
        if reads is None or trusted(value.__globals__.get("__name__")) or not all(map(self_contained, parts.values())):
            raise Uncopyable(value.__qualname__)
        home = {"__builtins__": builtins, "__name__": value.__globals__.get("__name__")}
        space = self._spaces.setdefault(id(value.__globals__), home)
        cells = tuple(map(self, value.__closure__ or ()))
        if id(value) in self._made:  # one of them led back here
            return self._made[id(value)][1]
        copy = self._new(value, types.FunctionType(value.__code__, space, value.__name__, None, cells))
        copy.__defaults__, copy.__kwdefaults__ = self(value.__defaults__), self(value.__kwdefaults__)
        vars(copy).update(self(vars(value)))
        for name, item in reads.items():
            if name not in space:
                root, module = name.partition(".")[0], "." in name or isinstance(item, types.ModuleType)
                space[root] = value.__globals__[root] if module else self(item)
        return copy

    def _method(self, value: types.MethodType) -> Any:
        owner = self(value.__self__)
        own = getattr(type(value.__self__), value.__name__, None) is value.__func__
        return types.MethodType(value.__func__ if own else self(value.__func__), owner)

    def _partial(self, value: Any) -> Any:
        return functools.partial(self(value.func), *self(value.args), **self(value.keywords))

    def _reference(self, value: Any) -> Any:
        if value.__callback__ is not None:
            raise Uncopyable(t("a weak reference with a callback", "带回调的弱引用"))
        return value if value() is None else weakref.ref(self(value()))

    def _is_self_contained(self, kind: type) -> bool:
        if kind not in self._slots:
            self._slots[kind] = _slots(kind) if self_contained(kind) else None
        return self._slots[kind] is not None

    def _other(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, (torch.Tensor, tuple)):
            return self._tensor(value) if isinstance(value, torch.Tensor) else self._tuple(value)
        if not isinstance(value, (nn.Module, types.ModuleType)) and self_contained(value):
            return value  # a module of Python in an attribute could be written to
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype != object and value.base is None:
            self.arrays = True
            return value.copy()
        if isinstance(value, torch.Generator):
            return value.clone_state()
        made_so = kind.__new__ is object.__new__ and hasattr(value, "__dict__") and not hasattr(kind, "__del__")
        if not made_so or not self._is_self_contained(kind):
            raise Uncopyable(f"{kind.__module__}.{kind.__qualname__}")
        try:
            copy = self._new(value, object.__new__(kind))
        except TypeError as error:
            raise Uncopyable(kind.__qualname__) from error
        inside = vars(copy)
        for name, item in vars(value).items():
            of = type(item)
            if of in _SHARED:
                inside[name] = item
            else:
                plain = _OF_A_MODULE.get(name) is of and not item and id(item) not in self._made
                inside[name] = self._new(item, of()) if plain else self(item)
        for name in self._slots[kind] or ():
            if hasattr(value, name):
                object.__setattr__(copy, name, self(getattr(value, name)))
        return copy


def _slots(kind: type) -> list[str]:
    found = [vars(base).get("__slots__", ()) for base in kind.__mro__]
    names = [name for slots in found for name in ((slots,) if isinstance(slots, str) else slots)]
    return [name for name in names if name not in ("__dict__", "__weakref__")]


_COPIES: dict[type, Callable[[Copier, Any], Any]] = {
    **dict.fromkeys((list, deque), Copier._list),
    **dict.fromkeys((dict, OrderedDict, defaultdict), Copier._dict),
    **dict.fromkeys((tuple, frozenset), Copier._tuple),
    **dict.fromkeys((torch.Tensor, nn.Parameter), Copier._tensor),
    set: Copier._set,
    types.CellType: Copier._cell,
    types.FunctionType: Copier._function,
    types.MethodType: Copier._method,
    functools.partial: Copier._partial,
    weakref.ReferenceType: Copier._reference,
}
_SHARED = frozenset(ATOMS)
_OF_A_MODULE = {
    name: type(value) for name, value in vars(nn.Module()).items() if type(value) in (dict, OrderedDict, set)
}
"""The tables of every module, most of them empty."""
