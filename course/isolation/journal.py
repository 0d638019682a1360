"""A journal of the mutable objects within reach of some roots; `restore()` puts back what differs from it."""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
import random
import re
import sys
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from operator import is_, setitem
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from course.i18n import t

_ATOMS = frozenset(
    (
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        type(...),
        range,
        slice,
        torch.dtype,
        torch.device,
        torch.layout,
    )
    + (torch.memory_format, torch.Size, types.BuiltinFunctionType, types.CodeType, re.Pattern)
)
_MISSING: Any = object()
_LARGE = 1 << 26
"""NumPy arrays of more bytes are not copied: they cannot be written to until the journal is restored."""
_COPIED = tuple(type(iter(one)) for one in ([], (), range(0), range(1 << 70), "", b""))
"""Iterators of Python for which a copy can stand."""
BY_THEMSELVES = (torch._C._disabled_torch_dispatch_impl, FakeTensor.__torch_dispatch__)
"""Of the classes whose tensors are handed to operators as they are."""
Undo = Callable[[], Any]


class Unrestorable(RuntimeError):
    """The code advances an iterator, which nobody can put back."""

    def __init__(self, kind: str) -> None:
        english = f"the code advances a {kind}, which cannot be put back: make it anew in the forward, or use a list"
        super().__init__(t(english, f"代码会推进一个 {kind}，而它无法复原：请在 forward 里新建，或改用列表"))


class _Refusing:
    """Stands in the place of an iterator that cannot be copied, and refuses to be advanced."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self, *_: Any) -> Any:
        raise Unrestorable(self._kind)

    send = throw = __next__


def plain(x: torch.Tensor) -> bool:
    """Whether the tensor has memory of its own that can be read byte by byte."""
    wraps = type(x).__torch_dispatch__ is not BY_THEMSELVES[0]
    return not wraps and x.layout is torch.strided and not (x.is_nested or x.is_meta or nn.parameter.is_lazy(x))


@functools.cache
def is_own(name: Any) -> bool:
    """Whether a module of that name holds the user's code, not that of Python, an installed package or this course."""
    root = name.partition(".")[0] if isinstance(name, str) else ""
    if root in ("", "course") or root in sys.stdlib_module_names:
        return False
    home = sys.modules.get(root)
    path = getattr(home, "__file__", None) or "".join([*getattr(home, "__path__", ())][:1])
    return not re.search(r"[/\\](site|dist)-packages[/\\]", path)


@functools.lru_cache(maxsize=10_000)
def names_of(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a function uses, and those of attributes that it may set; functions inside it included."""
    inner = [names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    used = frozenset(code.co_names).union(*(one[0] for one in inner))
    stored = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_ATTR", "DELETE_ATTR")}
    if not used.isdisjoint(("setattr", "delattr", "__setattr__", "__delattr__", "vars", "__dict__")):
        stored |= {one for one in code.co_consts if isinstance(one, str)}
    return used, frozenset(stored).union(*(one[1] for one in inner))


class Journal:
    """Every mutable object within reach of `roots` as it is now.

    Followed are attributes, items, closures, defaults, and the globals that the user's own functions name. Of modules,
    classes and functions of others only the attributes are kept that code within reach may set by name. An iterator is
    replaced by a copy, or by one that raises Unrestorable when it is advanced. tensors: those met, by id. saving: the
    mode that keeps their memory, where `unchanged` set one.
    """

    saving: Any

    def __init__(self, *roots: Any) -> None:
        self.tensors: dict[int, torch.Tensor] = {}
        self.arrays: list[Any] = []
        self._undo: list[Undo] = []
        self._seen: dict[int, Any] = {}  # with the object: an id means something only while it lives
        self._foreign: list[Any] = []
        self._stored: set[str] = set()
        self._advanced: list[tuple[Any, Any]] = []
        waiting, note_of = [*roots], functools.cache(_note_of)
        with torch._C.DisableTorchFunctionSubclass():  # code of a subclass is the user's
            while waiting:
                value = waiting.pop()
                note = note_of(type(value))
                if note is not None and id(value) not in self._seen:
                    self._seen[id(value)] = value
                    waiting += note(self, value)
            for one in self._foreign:
                self._keep(one, *self._stored)

    def _keep(self, value: Any, *names: str) -> list[Any]:
        """The attributes of these names, which will be put back."""
        items = [_attribute(value, name) for name in names]
        self._undo += [functools.partial(_attribute_back, value, *kept) for kept in zip(names, items, strict=True)]
        return [None if item is _MISSING else item for item in items]

    def _replace_iterators(self, put: Callable[..., Any], holder: Any, items: Iterable[tuple[Any, Any]]) -> None:
        """Put a copy, or one that refuses, in the place of each iterator of Python's own; it is not looked at again."""
        for place, item in items:
            if _iterates(type(item)):
                self._seen[id(item)] = item
                put(holder, place, _replaced(item))

    def _object(self, value: Any) -> list[Any]:
        return [type(value), getattr(value, "__dict__", None), *self._keep(value, *_slots(type(value)))]

    def _iterator(self, value: Any) -> list[Any]:
        self._advanced.append((value, _position(value)))
        return []

    def _list(self, value: Any) -> list[Any]:
        kept = list(value)
        self._undo.append(functools.partial(_list_back, value, kept))
        self._replace_iterators(setitem, value, enumerate(kept))
        return [*kept, getattr(value, "__dict__", None)]

    def _dict(self, value: Any) -> list[Any]:
        kept = dict.copy(value)
        self._undo.append(functools.partial(_dict_back, value, kept))
        self._replace_iterators(dict.__setitem__, value, kept.items())
        return [*kept, *kept.values(), getattr(value, "__dict__", None)]

    def _set(self, value: Any) -> list[Any]:
        kept = set(value)
        self._undo.append(lambda: value == kept or (value.clear(), value.update(kept)))
        return [*kept]

    def _cell(self, value: types.CellType) -> list[Any]:
        if value == types.CellType():
            return []
        kept = self._keep(value, "cell_contents")
        self._replace_iterators(setattr, value, [("cell_contents", kept[0])])
        return kept

    def _cache(self, value: Any) -> list[Any]:
        size = value.cache_info().currsize
        self._undo.append(lambda: value.cache_info().currsize == size or value.cache_clear())
        return [value.__wrapped__, vars(value)]

    def _random(self, value: Any) -> list[Any]:
        read, write = ("getstate", "setstate") if isinstance(value, random.Random) else ("get_state", "set_state")
        self._undo.append(functools.partial(getattr(value, write), getattr(value, read)()))
        return []

    def _of_numpy(self, value: Any) -> list[Any]:
        if hasattr(value, "bit_generator"):
            self._keep(value.bit_generator, "state")
        elif hasattr(value, "set_state"):
            self._random(value)
        elif type(value).__name__ == "ndarray" and value.flags.writeable:
            self.arrays.append(value)
            if value.nbytes <= _LARGE:
                self._undo.append(functools.partial(value.__setitem__, ..., value.copy()))
            else:
                self._keep(value.flags, "writeable")
                value.flags.writeable = False
        return []

    def _tensor(self, x: torch.Tensor) -> list[Any]:
        self.tensors[id(x)] = x
        held = [vars(x), *self._keep(x, *_slots(type(x)))]
        if nn.parameter.is_lazy(x):
            return held
        names = ("grad", "requires_grad") if x.is_leaf else ()
        held += self._keep(x, *names, "_backward_hooks", "_post_accumulate_grad_hooks")
        self._undo.append(functools.partial(_place_back, x, _place(x)))
        return held

    def _function(self, value: types.FunctionType) -> list[Any]:
        held = [*(value.__closure__ or ()), *self._keep(value, "__defaults__", "__kwdefaults__"), vars(value)]
        space = value.__globals__
        if not is_own(space.get("__name__")):
            self._foreign.append(value)
            return held
        used, stored = names_of(value.__code__)
        self._stored |= stored
        named = {name: space.get(name, _MISSING) for name in used}
        self._undo.append(functools.partial(_items_back, space, named))
        self._replace_iterators(setitem, space, named.items())
        # a name that is missing may be imported inside: `import torch.nn.init`
        held += [sys.modules.get(name) if item is _MISSING else item for name, item in named.items()]
        modules, known = [one for one in held if isinstance(one, types.ModuleType)], set()
        while modules:
            module = modules.pop()
            known.add(module)
            parts = [vars(module)[name] for name in used if name in vars(module)]
            held += parts
            modules += [one for one in parts if isinstance(one, types.ModuleType) and one not in known]
        return held

    def _class(self, value: type) -> list[Any]:
        if not is_own(value.__module__):
            self._foreign.append(value)
            return []
        kept = {name: item for name, item in vars(value).items() if name not in ("__dict__", "__weakref__", "__doc__")}
        self._undo.append(functools.partial(_class_back, value, kept))
        return [*kept.values(), *value.__bases__]

    def _module(self, value: types.ModuleType) -> list[Any]:
        if is_own(value.__name__):
            return [vars(value)]
        self._foreign.append(value)
        return []

    def lends(self) -> bool:
        """Whether an array of NumPy lies on the memory of a tensor: a stand-in of one would not show in the other."""
        found = [x for x in self.tensors.values() if plain(x)] if self.arrays else []
        at = [(x.untyped_storage().data_ptr(), x.untyped_storage().nbytes()) for x in found]
        return any(a <= one.__array_interface__["data"][0] < a + n for one in self.arrays for a, n in at)

    def restore(self) -> None:
        """Puts everything back. Raises, at the end, what could not be: Unrestorable for an iterator that was advanced."""
        failed: list[Exception] = []
        with torch._C.DisableTorchFunctionSubclass():
            for undo in reversed(self._undo):
                try:
                    undo()
                except Exception as error:
                    failed.append(error)
        failed += [Unrestorable(type(one).__name__) for one, position in self._advanced if _position(one) != position]
        if failed:
            raise failed[0]


_NOTES: tuple[tuple[Any, Callable[[Journal, Any], list[Any]]], ...] = (
    (torch.Tensor, Journal._tensor),
    (dict, Journal._dict),
    ((list, deque), Journal._list),
    ((tuple, frozenset), lambda _, value: [*value]),
    (types.FunctionType, Journal._function),
    (type, Journal._class),
    (set, Journal._set),
    (types.CellType, Journal._cell),
    (types.MethodType, lambda _, value: [value.__self__, value.__func__]),
    ((staticmethod, classmethod), lambda _, value: [value.__func__]),
    (property, lambda _, value: [value.fget, value.fset, value.fdel]),
    (functools.partial, lambda _, value: [value.func, value.args, value.keywords, vars(value)]),
    (functools._lru_cache_wrapper, Journal._cache),
    (types.ModuleType, Journal._module),
    ((random.Random, torch.Generator), Journal._random),
    (weakref.ref, lambda _, value: [value()]),
)
"""What is kept of the kinds of objects."""


def _note_of(kind: type) -> Callable[[Journal, Any], list[Any]] | None:
    if kind in _ATOMS:
        return None
    for of, note in _NOTES:
        if issubclass(kind, of):
            return note
    if kind.__module__.startswith("numpy"):
        return Journal._of_numpy
    return Journal._iterator if _iterates(kind) else Journal._object


@functools.lru_cache(maxsize=1000)
def _slots(kind: type) -> tuple[str, ...]:
    """The names of attributes outside `__dict__`."""
    slots = [vars(base).get("__slots__", ()) for base in kind.__mro__]
    names = [name for some in slots for name in ((some,) if isinstance(some, str) else some)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def _iterates(kind: type) -> bool:
    return kind.__module__ in ("builtins", "itertools") and hasattr(kind, "__next__")


def _replaced(iterator: Any) -> Any:
    return copy.copy(iterator) if isinstance(iterator, _COPIED) else _Refusing(type(iterator).__name__)


def _position(iterator: Any) -> Any:
    frame = getattr(iterator, "gi_frame", None)
    return frame.f_lasti if frame else getattr(iterator, "__length_hint__", lambda: None)()


def _attribute(value: Any, name: str) -> Any:
    """An attribute; of a class or module its own, which asks nobody (such a module may import when it is asked)."""
    own = isinstance(value, (type, types.ModuleType))
    return vars(value).get(name, _MISSING) if own else getattr(value, name, _MISSING)


def _attribute_back(value: Any, name: str, item: Any) -> None:
    if _attribute(value, name) is item:
        return
    base = type if isinstance(value, type) else object
    with contextlib.suppress(AttributeError, TypeError):
        if item is _MISSING:
            base.__delattr__(value, name)
        else:
            base.__setattr__(value, name, item)


def _class_back(value: type, kept: dict[str, Any]) -> None:
    for name in {*vars(value), *kept}:
        if not name.startswith(("__", "_abc_")):
            _attribute_back(value, name, kept.get(name, _MISSING))


def _place(x: torch.Tensor) -> tuple[Any, ...]:
    """Where in which memory a tensor lies, and how often it was written to."""
    version = None if x.is_inference() else x._version
    return (x.untyped_storage(), x.storage_offset(), x.shape, x.stride(), version) if plain(x) else (version,)


def _place_back(x: torch.Tensor, place: tuple[Any, ...]) -> None:
    *where, version = place
    if where:
        *now, _ = _place(x)
        if now[1:] != where[1:] or now[0]._cdata != where[0]._cdata:
            with torch.no_grad():
                x.set_(*where)
    if version is not None and x._version != version:
        torch._C._autograd._unsafe_set_version_counter((x,), (version,))


def _list_back(value: Any, kept: list[Any]) -> None:
    if len(value) != len(kept) or not all(map(is_, value, kept)):
        value.clear()
        value.extend(kept)


def _dict_back(value: Any, kept: dict[Any, Any]) -> None:
    same = dict.__len__(value) == len(kept) and all(map(is_, dict.keys(value), kept))
    if not (same and all(map(is_, dict.values(value), kept.values()))):
        base = OrderedDict if isinstance(value, OrderedDict) else dict
        base.clear(value)
        for name, item in kept.items():
            base.__setitem__(value, name, item)


def _items_back(space: dict[str, Any], kept: dict[str, Any]) -> None:
    for name, item in kept.items():
        if item is _MISSING:
            space.pop(name, None)
        elif space.get(name, _MISSING) is not item:
            space[name] = item
