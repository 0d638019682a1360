"""Copy everything that a call can reach, so that what runs on the copies changes nothing of the caller's.

Objects, containers, functions with their closures, and the globals that the user's own functions name are copied; a
function of `Copies` says what stands for a tensor. Code of installed packages is used as it is.
"""

from __future__ import annotations

import enum
import functools
import io
import queue
import re
import sys
import threading
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from course.core.i18n import t
from course.flops.checks import Refused

_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, slice, type(...), enum.Enum, io.IOBase)
_ATOMS += (types.CodeType, re.Pattern, torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size)
_ATOMS += (torch.jit.ScriptModule, torch.jit.ScriptFunction)
_WAITED_FOR = (threading.Thread, threading.Event, threading.Condition, threading.Semaphore, threading.Barrier)
_WAITED_FOR += (queue.Queue, queue.SimpleQueue, Executor, Future)
"""What other threads work through: a copy would be waited for in vain."""
_LOCKS = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}
_OF_TORCH = ("torch.nn.", "torch.optim.", "torch.distributions.", "torch.ao.", "torch.utils.data.")
"""Modules of torch whose objects are copied; others hold what belongs to the process."""
_STARTS = frozenset(
    "Thread Timer ThreadPoolExecutor ProcessPoolExecutor ThreadPool Pool Process start_new_thread to_thread".split()
)
"""Names of what starts other threads."""

_SUFFIXES = (".so", ".pyd", ".dylib")


class _Refusing:
    """Stands for an object that cannot be copied. Whoever uses it gets Refused."""

    def __init__(self, copies: Copies, kind: str) -> None:
        vars(self).update(_copies=copies, _kind=kind)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        copies, kind = vars(self)["_copies"], vars(self)["_kind"]
        copies.refused = copies.refused or Refused(
            t(
                f"it uses a {kind}, which cannot be copied, and a run would change yours: make it inside the forward, or count "
                "a part without it",
                f"它用到了 {kind}，这种对象无法复制，而运行会改动它：请在 forward 里新建，或只统计不用它的部分",
            )
        )
        raise copies.refused

    __getattr__ = __iter__ = __next__ = __call__ = __enter__ = __exit__ = __len__ = __getitem__ = _refuse


@functools.cache
def is_own(name: Any) -> bool:
    """Whether a module of that name holds the user's code, not that of Python, an installed package or this course."""
    root = name.partition(".")[0] if isinstance(name, str) else ""
    if root in ("", "course", "builtins") or root in sys.stdlib_module_names:
        return False
    home = sys.modules.get(root)
    path = getattr(home, "__file__", None) or "".join([*getattr(home, "__path__", ())][:1])
    return not re.search(r"[/\\](site|dist)-packages[/\\]", path)


@functools.lru_cache(maxsize=10_000)
def names_of(code: types.CodeType) -> frozenset[str]:
    """The names that a function uses, and its strings, which may be names; functions inside it included."""
    inner = [names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return frozenset([*code.co_names, *(one for one in code.co_consts if isinstance(one, str))]).union(*inner)


class Copies:
    """Copies of objects; the same object gives the same copy.

    stand_for: what stands for a tensor. tensors: those met. doubts: what was met that a count cannot see. printed: what the
    user's own functions print. refused: the exception raised where something was used that cannot be copied.
    """

    def __init__(self, stand_for: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.tensors: list[torch.Tensor] = []
        self.doubts: Counter[str] = Counter()
        self.printed = io.StringIO()
        self.refused: Refused | None = None
        self._stand_for = stand_for
        self._memo: dict[int, tuple[Any, Any]] = {}  # with the original: an id means something only while it lives
        self._spaces: dict[int, dict[str, Any]] = {}
        self._names = {"forward"}
        self._filled: set[tuple[int, int]] = set()
        self._methods: dict[str, list[tuple[type, str, Any]]] = defaultdict(list)  # whose names no code has used yet
        self._classes: dict[type, None] = {}
        self._exchanged: list[tuple[type, str, Any]] = []
        self._ranges: list[tuple[int, int]] = []  # memory of arrays
        self._makers: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
            (torch.Tensor, self._tensor),
            (_WAITED_FOR, lambda x: self._keep(x, _Refusing(self, type(x).__name__))),
            ((nn.DataParallel, nn.parallel.DistributedDataParallel), lambda x: self._keep(x, self(x.module))),
            (nn.Module, self._module),
            (dict, self._dict),
            ((list, deque), self._list),
            ((set, frozenset), self._set),
            (tuple, self._tuple),
            (types.FunctionType, self._function),
            (types.MethodType, lambda x: self._keep(x, types.MethodType(self(x.__func__), self(x.__self__)))),
            ((staticmethod, classmethod), lambda x: self._keep(x, type(x)(self(x.__func__)))),
            (property, lambda x: self._keep(x, type(x)(self(x.fget), self(x.fset), self(x.fdel)))),
            (functools._lru_cache_wrapper, self._cache),
            (type, self._class),
            (types.ModuleType, self._namespace),
            (weakref.ref, self._reference),
            (torch.Generator, lambda x: self._keep(x, x.clone_state())),
            (threading.local, self._local),
        )

    def __call__(self, value: Any) -> Any:
        """The copy of a value."""
        if id(value) in self._memo:
            return self._memo[id(value)][1]
        kind = type(value)
        if issubclass(kind, _ATOMS):
            return value
        for of, make in self._makers:
            if issubclass(kind, of):
                return make(value)
        if kind in _LOCKS:
            return self._keep(value, _LOCKS[kind]())
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            return self._array(value)
        return self._object(value)

    def _keep(self, value: Any, new: Any) -> Any:
        self._memo[id(value)] = value, new
        return new

    def _state(self, value: Any, new: Any) -> Any:
        """Copies attributes, also those in slots, without asking code of the user's."""
        for name, item in getattr(value, "__dict__", {}).items():
            new.__dict__[name] = self(item)
        for base in type(value).__mro__[:-1]:
            for name, slot in vars(base).items():
                if isinstance(slot, types.MemberDescriptorType) and name not in ("__dict__", "__weakref__"):
                    try:
                        slot.__set__(new, self(slot.__get__(value)))
                    except (AttributeError, TypeError):  # nothing there, or it cannot be set
                        pass
        return new

    # --- data ---

    def _tensor(self, x: torch.Tensor) -> torch.Tensor:
        self.tensors.append(x)
        new = self._keep(x, self._stand_for(x))
        if new is not x:
            for name, item in vars(x).items():
                vars(new)[name] = self(item)
            if x.is_leaf and x.grad is not None and type(x) in (torch.Tensor, nn.Parameter):
                new.grad = self(x.grad)
        return new

    def _dict(self, value: dict[Any, Any]) -> Any:
        new = self._keep(value, type(value).__new__(type(value)))
        if isinstance(value, defaultdict):
            new.default_factory = self(value.default_factory)
        put = OrderedDict.__setitem__ if isinstance(value, OrderedDict) else dict.__setitem__
        for name, item in [*dict.items(value)]:
            put(new, self(name), self(item))
        return self._state(value, new) if type(value) is not dict else new

    def _list(self, value: Any) -> Any:
        kind = type(value)
        new = self._keep(value, deque.__new__(kind) if isinstance(value, deque) else list.__new__(kind))
        if isinstance(value, deque):
            deque.__init__(new, (), value.maxlen)
        new.extend([self(item) for item in value])
        return self._state(value, new) if kind not in (list, deque) else new

    def _set(self, value: Any) -> Any:
        return self._keep(value, type(value)(self(item) for item in value))

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        items = [self(item) for item in value]
        if id(value) in self._memo or all(a is b for a, b in zip(items, value, strict=True)):
            return self._memo.get(id(value), (value, value))[1]
        plain = type(value).__module__ != "torch.return_types"
        return self._keep(value, tuple.__new__(type(value), items) if plain else type(value)(items))

    def _array(self, value: Any) -> Any:
        start = value.__array_interface__["data"][0]
        if value.base is not None:
            self.doubts["a NumPy array on the memory of something else"] += 1
        self._ranges.append((start, start + value.nbytes))
        return self._keep(value, value.copy())

    def on_an_array(self, address: int) -> bool:
        """Whether this memory belongs to an array that was copied: then two copies would not show in each other."""
        return any(start <= address < end for start, end in self._ranges)

    # --- objects ---

    def _module(self, value: nn.Module) -> Any:
        if "_orig_mod" in vars(value).get("_modules", {}):  # torch.compile wrapped it
            return self._keep(value, self(value._modules["_orig_mod"]))
        self(type(value))
        return self._state(value, self._keep(value, object.__new__(type(value))))

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__.startswith("torch.distributed.fsdp"):
            return self._keep(value, _Refusing(self, "FSDP"))
        if kind.__module__.startswith("torch") and not f"{kind.__module__}.".startswith(_OF_TORCH):
            return value
        if (kind.__reduce_ex__, kind.__reduce__) == (
            object.__reduce_ex__,
            object.__reduce__,
        ) and kind.__flags__ & 1 << 9:
            try:
                new = object.__new__(kind)
            except TypeError:  # its parts are not all Python's
                return self._reduced(value)
            self(kind)
            return self._state(value, self._keep(value, new))
        return self._reduced(value)

    def _reduced(self, value: Any) -> Any:
        """As pickle takes it apart and puts it together."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # code of others, which says that it cannot be copied
            return self._keep(value, _Refusing(self, type(value).__name__) if hasattr(value, "__next__") else value)
        if isinstance(parts, str):
            return value
        make, args, state, items, pairs = (*parts, None, None, None)[:5]
        try:
            new = self._keep(value, make(*self(args)))
        except Exception:
            return self._keep(value, value)
        if state is not None and hasattr(new, "__setstate__"):
            new.__setstate__(self(state))
        elif state is not None:
            held, slots = state if isinstance(state, tuple) else (state, None)
            for name, item in {**(held or {}), **(slots or {})}.items():
                object.__setattr__(new, name, self(item))
        for item in items or ():
            new.append(self(item))
        for name, item in pairs or ():
            new[self(name)] = self(item)
        return new

    def _local(self, value: threading.local) -> Any:
        return self._state(value, self._keep(value, threading.local()))

    def _reference(self, value: weakref.ref[Any]) -> Any:
        target = value()
        if target is None or type(value) is not weakref.ref or self(target) is target:
            return value
        return self._keep(value, weakref.ref(self(target)))

    # --- code ---

    def _function(self, value: types.FunctionType) -> Any:
        plain = getattr(value, "_torchdynamo_orig_callable", None)
        if plain is not None:
            return self._keep(value, self(plain))
        space, own = value.__globals__, is_own(value.__globals__.get("__name__"))
        if not own and not value.__closure__:
            return value
        cells = [(cell, self._memo.get(id(cell), (None, None))[1]) for cell in value.__closure__ or ()]
        made = [(cell, new or self._keep(cell, types.CellType())) for cell, new in cells]
        new = types.FunctionType(
            value.__code__, self._space(space) if own else space, value.__name__, None, tuple(cell for _, cell in made)
        )
        self._keep(value, new)
        new.__qualname__, new.__module__, new.__doc__ = value.__qualname__, value.__module__, value.__doc__
        for (cell, known), (_, fresh) in zip(cells, made, strict=True):
            if known is None and cell != types.CellType():
                fresh.cell_contents = self(cell.cell_contents)
        new.__defaults__, new.__kwdefaults__ = self(value.__defaults__), self(value.__kwdefaults__)
        for name, item in vars(value).items():
            vars(new)[name] = self(item)
        if own:
            self._follow(value.__code__, space)
        return new

    def _cache(self, value: Any) -> Any:
        inside = self(value.__wrapped__)
        if inside is value.__wrapped__:
            return value
        return self._keep(value, functools.lru_cache(**value.cache_parameters())(inside))

    def _space(self, space: dict[str, Any]) -> dict[str, Any]:
        """The globals of copied functions: the same, and a copy of what these functions name."""
        if id(space) not in self._spaces:
            self._spaces[id(space)] = {"print": self._print, **space}
        return self._spaces[id(space)]

    def _print(self, *words: Any, file: Any = None, **how: Any) -> None:
        print(*words, file=self.printed if file in (None, sys.stdout) else file, **how)

    def _namespace(self, value: types.ModuleType) -> Any:
        if not is_own(value.__name__):
            return value
        new = self._keep(value, types.ModuleType(value.__name__))
        vars(new).update(self._space(vars(value)))
        self._spaces[id(vars(value))] = vars(new)
        return new

    def _follow(self, code: types.CodeType, space: dict[str, Any]) -> None:
        """Copies the globals that a function names, and the methods that it names of classes met."""
        if (id(code), id(space)) in self._filled:
            return
        self._filled.add((id(code), id(space)))
        names = names_of(code)
        if names & _STARTS:
            self.doubts["work in another thread"] += 1
        if what := compiled_in(code, space):
            self.doubts[f"{what} (compiled code)"] += 1
        for name in names - self._names:
            self._names.add(name)
            for method in self._methods.pop(name, ()):
                self._exchange(*method)
        for name in names & space.keys():
            new = self._space(space)[name] = self(space[name])
            if new is not space[name] and isinstance(new, types.ModuleType):
                self._follow(code, vars(space[name]))

    def _class(self, value: type) -> type:
        """The class itself; what the user's own code keeps in it is exchanged while the copies run."""
        if value in self._classes or not is_own(value.__module__) or issubclass(value, enum.Enum):
            return value
        self._classes[value] = None
        for base in value.__mro__[1:]:
            self._class(base)
        for name, item in [*vars(value).items()]:
            if isinstance(item, (types.FunctionType, staticmethod, classmethod, property)) and name not in self._names:
                if not name.startswith("__"):
                    self._methods[name].append((value, name, item))
                    continue
            if name not in ("__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "_abc_impl"):
                self._exchange(value, name, item)
        return value

    def _exchange(self, owner: type, name: str, item: Any) -> None:
        if not isinstance(item, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            new = self(item)
            if new is not item:
                self._exchanged.append((owner, name, new))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Copies stand in the user's own classes during this block; then these classes are as they were."""
        before = {owner: dict(vars(owner)) for owner in self._classes}
        try:
            for owner, name, new in self._exchanged:
                type.__setattr__(owner, name, new)
            yield
        finally:
            for owner, kept in before.items():
                for name in [name for name, item in vars(owner).items() if kept.get(name, kept) is not item]:
                    if name not in kept:
                        type.__delattr__(owner, name)
                for name, item in kept.items():
                    if vars(owner).get(name, kept) is not item:
                        type.__setattr__(owner, name, item)

    def clear(self) -> None:
        """Lets go of all copies: functions and their globals hold each other."""
        for space in self._spaces.values():
            space.clear()
        for held in (self._memo, self._spaces, self._methods, self._classes, self._exchanged, self.tensors):
            held.clear()


def compiled_in(code: types.CodeType, space: dict[str, Any]) -> str | None:
    """The name of compiled code, neither Python's nor torch's nor NumPy's, that a function names; or None."""
    waiting, seen = [space], set()
    while waiting:
        names = waiting.pop()
        seen.add(id(names))
        for name in code.co_names:
            value = names.get(name)
            if isinstance(value, types.ModuleType):
                if (getattr(value, "__file__", None) or "").endswith(_SUFFIXES) and not _trusted(value.__name__):
                    return value.__name__
                if id(vars(value)) not in seen and not _trusted(value.__name__):
                    waiting.append(vars(value))
            elif isinstance(value, types.BuiltinFunctionType) and _is_compiled(value.__module__):
                return f"{value.__module__}.{name}"
    return None


def _trusted(name: Any) -> bool:
    root = name.partition(".")[0] if isinstance(name, str) else ""
    return root in ("", "torch", "numpy", "course") or root in sys.stdlib_module_names


def _is_compiled(name: Any) -> bool:
    path = getattr(sys.modules.get(name), "__file__", None)
    return not _trusted(name) and (name not in sys.modules or bool(path) and path.endswith(_SUFFIXES))
