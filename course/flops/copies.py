"""Copy everything that a call can reach, so that what runs on the copies changes nothing of the caller's.

Objects are copied as pickle takes them apart, functions with their closures and with the globals that the user's own
functions name; a function given to `Copies` says what stands for a tensor. Code of installed packages is used as it is.
"""

from __future__ import annotations

import dis
import enum
import functools
import io
import queue
import re
import sys
import threading
import types
import weakref
from collections import Counter
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
TYPE = "type()"
ALONE = threading.RLock()
"""One run on copies at a time: classes and settings belong to the whole process."""
_PYTHONS = ("__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "_abc_impl")
"""What Python keeps in a class for itself."""


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


def _root(name: Any) -> str:
    """The package that a module of this name is in; "" for Python's own."""
    root = name.partition(".")[0] if isinstance(name, str) else ""
    return "" if root == "builtins" or root in sys.stdlib_module_names else root


@functools.cache
def _is_own(name: Any) -> bool:
    """Whether a module of that name holds the user's code, not that of Python, an installed package or this course."""
    home = sys.modules.get(_root(name))
    path = getattr(home, "__file__", None) or "".join([*getattr(home, "__path__", ())][:1])
    return _root(name) not in ("", "course") and not re.search(r"[/\\](site|dist)-packages[/\\]", path)


@functools.lru_cache(maxsize=10_000)
def _names_of(code: types.CodeType) -> frozenset[str]:
    """The names that a function uses, and its strings, which may be names; functions inside it included. TYPE: it calls type()."""
    inner = [_names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    asks = [TYPE for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL" and one.argval == "type"]
    return frozenset([*code.co_names, *asks, *(one for one in code.co_consts if isinstance(one, str))]).union(*inner)


class Copies:
    """Copies of objects; the same object gives the same copy.

    stand_for: what stands for a tensor. doubts: gets what is met that a count cannot see. tensors: those met. arrays: whether NumPy's
    were met. names: that copied code uses. refused: raised where something was used that cannot be copied.
    """

    def __init__(self, stand_for: Callable[[torch.Tensor], torch.Tensor], doubts: Counter[str]) -> None:
        self.doubts, self.tensors, self.arrays = doubts, list[torch.Tensor](), False
        self.refused: Refused | None = None
        self._stand_for = stand_for
        self._memo: dict[int, tuple[Any, Any]] = {}  # with the original: an id means something only while it lives
        self._spaces: dict[int, dict[str, Any]] = {}
        self.names = {"forward"}
        self._filled: set[tuple[int, int]] = set()
        self._classes: dict[type, set[str]] = {}  # of the user's, and which of their names were copied
        self._exchanged: list[tuple[type, str, Any]] = []
        self._exact: dict[type, Callable[[Any], Any]] = {
            tuple: self._tuple,
            types.FunctionType: self._function,
            types.BuiltinFunctionType: self._builtin,
            types.CellType: self._cell,
            types.MethodType: lambda x: types.MethodType(self(x.__func__), self(x.__self__)),
            staticmethod: lambda x: staticmethod(self(x.__func__)),
            classmethod: lambda x: classmethod(self(x.__func__)),
            property: lambda x: property(self(x.fget), self(x.fset), self(x.fdel)),
            functools._lru_cache_wrapper: self._cache,
            types.ModuleType: self._namespace,
            weakref.ref: lambda x: x if self(x()) is x() else weakref.ref(self(x())),
            torch.Generator: lambda x: x.clone_state(),
            **{kind: lambda x, make=make: make() for kind, make in _LOCKS.items()},
        }

    def __call__(self, value: Any) -> Any:
        """The copy of a value."""
        if id(value) in self._memo:
            return self._memo[id(value)][1]
        kind = type(value)
        if issubclass(kind, _ATOMS):
            return value
        make = self._exact.get(kind) or self._by_class(kind)
        return self._keep(value, make(value))

    def _keep(self, value: Any, new: Any) -> Any:
        return self._memo.setdefault(id(value), (value, new))[1]

    def _by_class(self, kind: type) -> Callable[[Any], Any]:
        """How objects of a class are copied."""
        if issubclass(kind, torch.Tensor):
            return self._tensor
        if issubclass(kind, (*_WAITED_FOR, threading.local)) or kind.__module__.startswith("torch.distributed.fsdp"):
            return self._refusing
        if issubclass(kind, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
            return lambda x: self(x.module)
        if issubclass(kind, (nn.Module, torch.optim.Optimizer)):
            return self._module
        if issubclass(kind, type):
            return self._class
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            return self._array
        foreign = kind.__module__.startswith("torch") and not f"{kind.__module__}.".startswith(_OF_TORCH)
        return (lambda x: x) if foreign else self._object

    def _refusing(self, value: Any) -> _Refusing:
        name = type(value).__name__
        return _Refusing(self, "FSDP" if name.startswith("FSDP") else name)

    # --- data ---

    def _tensor(self, x: torch.Tensor) -> torch.Tensor:
        self.tensors.append(x)
        new = self._keep(x, self._stand_for(x))
        if new is not x:
            vars(new).update({name: self(item) for name, item in vars(x).items()})
            if x.is_leaf and x.grad is not None and type(x) in (torch.Tensor, nn.Parameter):
                new.grad = self(x.grad)
        return new

    def _tuple(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        items = tuple(map(self, value))
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items

    def _array(self, value: Any) -> Any:
        self.arrays = True
        if value.base is not None:
            self.doubts["a NumPy array on the memory of something else"] += 1
        return value.copy()

    # --- objects ---

    def _module(self, value: nn.Module) -> Any:
        """Attribute by attribute; of a model that torch.compile wrapped, the model inside."""
        if "_orig_mod" in vars(value).get("_modules", {}):
            return self(value._modules["_orig_mod"])
        self(type(value))
        new = self._keep(value, object.__new__(type(value)))
        vars(new).update(self(vars(value)))
        return new

    def _object(self, value: Any) -> Any:
        """As pickle takes it apart and puts it together. What cannot be is used as it is, or refused if it is the user's."""
        self(type(value))
        try:
            parts = value.__reduce_ex__(4)
            if isinstance(parts, str):
                return value
            make, args, state, items, pairs = (*parts, None, None, None)[:5]
            new = make(*self(args))
        except Exception:  # code of others, which says that it cannot be copied
            home = type(value).__module__
            own = home in sys.modules and _is_own(home)
            return self._refusing(value) if own or hasattr(value, "__next__") else value
        self._keep(value, new)
        if state is not None and hasattr(new, "__setstate__"):
            new.__setstate__(self(state))
        elif state is not None:
            held, slots = state if isinstance(state, tuple) else (state, None)
            vars(new).update(self(held)) if held else None
            for name, item in (slots or {}).items():
                object.__setattr__(new, name, self(item))
        for item in items or ():
            new.append(self(item))
        for name, item in pairs or ():
            new[self(name)] = self(item)
        return new

    # --- code ---

    def _function(self, value: types.FunctionType) -> Any:
        plain = getattr(value, "_torchdynamo_orig_callable", None)
        if plain is not None:
            return self(plain)
        space, own = value.__globals__, _is_own(value.__globals__.get("__name__"))
        if not own and not value.__closure__:
            return value
        cells = tuple(map(self, value.__closure__ or ()))
        if id(value) in self._memo:  # one of the cells held it
            return self(value)
        within = self._space(space) if own else space
        new = self._keep(value, types.FunctionType(value.__code__, within, value.__name__, None, cells))
        new.__defaults__, new.__kwdefaults__ = self(value.__defaults__), self(value.__kwdefaults__)
        vars(new).update(self(vars(value)))
        if own:
            self._follow(value.__code__, space)
        return new

    def _cell(self, value: types.CellType) -> types.CellType:
        new = self._keep(value, types.CellType())
        if value != types.CellType():
            new.cell_contents = self(value.cell_contents)
        return new

    def _cache(self, value: Any) -> Any:
        inside = self(value.__wrapped__)
        return value if inside is value.__wrapped__ else functools.lru_cache(**value.cache_parameters())(inside)

    def _space(self, space: dict[str, Any]) -> dict[str, Any]:
        """The globals of copied functions: the same, and a copy of what these functions name."""
        return self._spaces.setdefault(id(space), {**space})

    def _builtin(self, value: types.BuiltinFunctionType) -> Any:
        """Of a list or dict the method of its copy; compiled code that is neither Python's nor torch's nor NumPy's is noted."""
        if _root(value.__module__) not in ("", "torch", "numpy"):
            self.doubts[f"{value.__module__} (compiled code)"] += 1
        owner = self(value.__self__)
        return value if owner is value.__self__ else getattr(owner, value.__name__)

    def _namespace(self, value: types.ModuleType) -> Any:
        name, path = value.__name__, getattr(value, "__file__", None) or ""
        if path.endswith((".so", ".pyd", ".dylib")) and _root(name) not in ("", "torch", "numpy"):
            self.doubts[f"{name} (compiled code)"] += 1
        if not _is_own(name):
            return value
        new = types.ModuleType(name)
        vars(new).update(self._space(vars(value)))
        self._spaces[id(vars(value))] = vars(new)
        return new

    def _follow(self, code: types.CodeType, space: dict[str, Any]) -> None:
        """Copies the globals that a function names."""
        if (id(code), id(space)) in self._filled:
            return
        self._filled.add((id(code), id(space)))
        names = _names_of(code)
        self.names |= names
        if names & _STARTS:
            self.doubts["work in another thread"] += 1
        for name in names & space.keys():
            new = self._space(space)[name] = self(space[name])
            if new is not space[name] and isinstance(new, types.ModuleType):
                self._follow(code, vars(space[name]))

    def _class(self, value: type) -> type:
        """The class itself; what the user's own code keeps in it is exchanged while the copies run."""
        if value is type:  # the user's own name for it
            self.names.add(TYPE)
        if _is_own(value.__module__) and not issubclass(value, enum.Enum):
            self._classes.setdefault(value, set())
        for base in value.__mro__[1:]:
            self(base)
        return value

    def of_call(self, call: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        """The copy of a model, its inputs and its keywords, to be run within `in_place`."""
        with torch.inference_mode(False), torch._C.DisableTorchFunctionSubclass():  # code of a subclass is the user's
            new = self(call)
            self._finish()
        return new

    def _finish(self) -> None:
        """Copies what classes of the user's hold: of their methods those whose names copied code uses."""
        found = True
        while found:
            found = [
                (owner, name, item)
                for owner, done in self._classes.items()
                for name, item in vars(owner).items()
                if name not in done and self._is_wanted(name, item)
            ]
            for owner, name, item in found:
                self._classes[owner].add(name)
                new = self(item)
                if new is not item:
                    self._exchanged.append((owner, name, new))

    def _is_wanted(self, name: str, item: Any) -> bool:
        if isinstance(item, (types.FunctionType, staticmethod, classmethod, property)):
            return name in self.names or name.startswith("__")
        return name not in _PYTHONS and not isinstance(item, (types.MemberDescriptorType, types.GetSetDescriptorType))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Copies stand in the user's own classes during this block; then these classes are as they were."""
        with ALONE:
            before = {owner: dict(vars(owner)) for owner in self._classes}
            try:
                for owner, name, new in self._exchanged:
                    type.__setattr__(owner, name, new)
                yield
            finally:
                for owner, kept in before.items():
                    for name in vars(owner).keys() - kept.keys():
                        type.__delattr__(owner, name)
                    for name, item in kept.items():
                        if vars(owner).get(name, kept) is not item:
                            type.__setattr__(owner, name, item)

    def clear(self) -> None:
        """Lets go of all copies: functions and their globals hold each other."""
        for held in (*self._spaces.values(), self._memo, self._spaces, self._classes, self._exchanged, self.tensors):
            held.clear()
