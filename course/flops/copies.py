"""Copy everything that a call can reach, so that what runs on the copies changes nothing of the caller's.

For a tensor stands a shape without memory (`Shapes`) or a copy with data (`Real`). Objects are copied as pickle takes them apart,
functions with their closures and with the globals that the user's own functions name. Classes are not copied: what the user's own ones
hold is exchanged for its copy while the copies run. Code of installed packages is used as it is.
"""

from __future__ import annotations

import copy
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
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from course.core.i18n import t
from course.flops.checks import NotHere, Refused

_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, slice, type(...), enum.Enum, io.IOBase)
_ATOMS += (types.CodeType, re.Pattern, torch.jit.ScriptModule, torch.jit.ScriptFunction)
_WAITED_FOR = (threading.Thread, threading.Event, threading.Condition, threading.Semaphore, threading.Barrier)
_WAITED_FOR += (queue.Queue, queue.SimpleQueue, Executor, Future, threading.local)
"""What other threads work through: a copy would be waited for in vain."""
_OF_TORCH = ("torch.nn.", "torch.optim.", "torch.distributions.", "torch.ao.", "torch.utils.data.")
"""Modules of torch whose objects are copied; others hold what belongs to the process."""
_STARTS = frozenset(
    "Thread Timer ThreadPoolExecutor ProcessPoolExecutor ThreadPool Pool Process start_new_thread to_thread".split()
)
"""Names of what starts other threads."""
ALONE = threading.RLock()
"""One run on copies at a time: classes and settings belong to the whole process."""
_CODE = (types.FunctionType, staticmethod, classmethod, property)
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_PYTHONS = ("__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "_abc_impl")
"""What Python keeps in a class for itself."""


class Shapes:
    """What stands for the caller's tensors: fake tensors of torch's, which have shapes alone, on the device where the caller's are.

    mode: to be on while the copies run. made: tensors of the run. broken: why the run does not count; the forward may have swallowed
    the exception and taken another path.
    """

    name = "meta"

    def __init__(self) -> None:
        self.mode: Any = FakeTensorMode()
        self.made: list[weakref.ref[torch.Tensor]] = []
        self.broken: Exception | None = None

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A tensor of the same shape without memory."""
        if type(x) not in (torch.Tensor, nn.Parameter) or x.layout is not torch.strided or x.is_nested:
            raise NotHere(f"a tensor of class {type(x).__name__}, {x.layout}")
        return self.mode.from_tensor(x)

    def stop(self, error: Exception) -> Exception:
        """Notes why the run does not count, if it is the first reason; returns it, to be raised."""
        self.broken = self.broken or error
        return error


class Real(Shapes):
    """Tensors are copies with data."""

    name = "real"

    def __init__(self) -> None:
        super().__init__()
        self.mode = nullcontext()
        self._copied: dict[Any, Any] = {}

    def stand_for(self, x: torch.Tensor) -> torch.Tensor:
        """A copy; tensors on one memory stay on one."""
        if torch._C._functorch.is_functorch_wrapped_tensor(x):
            return x
        alone = x.is_nested or x.layout is not torch.strided  # such a tensor shares no memory
        new = x.detach().clone() if alone else copy.deepcopy(x.detach(), self._copied)
        return _like(new if type(new) is type(x) else new.as_subclass(type(x)), x)


def from_outside(x: torch.Tensor) -> bool:
    """Whether data lie on memory that is not torch's own, as an array of NumPy's does; all copies lie on such as is."""
    by_itself = type(x).__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
    plain = by_itself and x.layout is torch.strided and not (x.is_nested or x.is_meta or nn.parameter.is_lazy(x))
    return plain and not x.untyped_storage().resizable()


def _like(new: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The new tensor as a parameter and with the wish for a gradient, where the other is one and has it."""
    if isinstance(x, nn.Parameter) and type(new).__torch_dispatch__ is torch.Tensor.__torch_dispatch__:
        return torch.Tensor._make_subclass(type(x), new, x.requires_grad)
    if isinstance(x, nn.Parameter):
        return nn.Parameter(new, x.requires_grad)
    new.requires_grad_(x.requires_grad)
    if x.is_leaf or not x.requires_grad:
        return new
    with torch.enable_grad():
        return new.clone()  # like the original it may be written to


class _Refusing:
    """Stands for an object that cannot be copied. Whoever uses it gets Refused."""

    def __init__(self, ground: Shapes, kind: str) -> None:
        vars(self).update(_ground=ground, _kind=kind)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        kind = vars(self)["_kind"]
        raise vars(self)["_ground"].stop(
            Refused(
                t(
                    f"it uses a {kind}, which cannot be copied, and a run would change yours: make it inside the forward, or "
                    "count a part without it",
                    f"它用到了 {kind}，这种对象无法复制，而运行会改动它：请在 forward 里新建，或只统计不用它的部分",
                )
            )
        )

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
    """The names that a function uses, its strings, which may be names, and "type()" if it calls that; functions inside it included."""
    inner = [_names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    asks = ("type",) if code.co_name == "__init__" else ("type", "vars", "dir")  # there vars(self) is usual
    calls = [
        f"{one.argval}()" for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL" and one.argval in asks
    ]
    return frozenset([*code.co_names, *calls, *(one for one in code.co_consts if isinstance(one, str))]).union(*inner)


class Copies:
    """Copies of objects; the same object gives the same copy.

    ground: says what stands for a tensor, and is told when something is used that cannot be copied. doubts: gets what is met that a
    count cannot see. tensors: those met. arrays: whether NumPy's were met. names: that copied code uses.
    """

    def __init__(self, ground: Shapes, doubts: Counter[str]) -> None:
        self.ground, self.doubts, self.tensors, self.arrays = ground, doubts, list[torch.Tensor](), False
        self.names = {"forward"}
        self._memo: dict[int, Any] = {}
        self._alive: list[Any] = []  # an id means something only while its object lives
        self._spaces: dict[int, dict[str, Any]] = {}  # by the id of the globals, those of copied functions
        self._followed: set[tuple[int, int]] = set()
        self._classes: dict[type, set[str]] = {}  # of the user's, and which of their names were copied
        self._exchanged: list[tuple[type, str, Any]] = []
        self._makers = {
            torch.Tensor: self._tensor,
            np.ndarray: self._array,
            types.FunctionType: self._function,
            types.BuiltinFunctionType: self._builtin,
            types.CellType: self._cell,
            types.ModuleType: self._namespace,
            staticmethod: lambda x: staticmethod(self(x.__func__)),
            classmethod: lambda x: classmethod(self(x.__func__)),
            property: lambda x: property(self(x.fget), self(x.fset), self(x.fdel)),
            types.MethodType: lambda x: types.MethodType(self(x.__func__), self(x.__self__)),
            type: self._class,
            _WAITED_FOR: self._refusing,
            (nn.DataParallel, nn.parallel.DistributedDataParallel): lambda x: self(x.module),
            (nn.Module, torch.optim.Optimizer): self._module,
            functools._lru_cache_wrapper: lambda x: functools.lru_cache(**x.cache_parameters())(self(x.__wrapped__)),
            weakref.ref: lambda x: x if self(x()) is x() else weakref.ref(self(x())),
            torch.Generator: lambda x: x.clone_state(),
            type(threading.Lock()): lambda _: threading.Lock(),
            type(threading.RLock()): lambda _: threading.RLock(),
        }

    def __call__(self, value: Any) -> Any:
        """The copy of a value."""
        kind = type(value)
        if issubclass(kind, _ATOMS):
            return value
        if id(value) not in self._memo:
            self._alive.append(value)
            make = next((make for kinds, make in self._makers.items() if issubclass(kind, kinds)), self._object)
            self._memo.setdefault(id(value), make(value))
        return self._memo[id(value)]

    def _refusing(self, value: Any) -> _Refusing:
        name = type(value).__name__
        return _Refusing(self.ground, "FSDP" if name.startswith("FSDP") else name)

    # --- data ---

    def _tensor(self, x: torch.Tensor) -> torch.Tensor:
        self.tensors.append(x)
        new = self._memo[id(x)] = self.ground.stand_for(x)
        if new is not x:
            vars(new).update({name: self(item) for name, item in vars(x).items()})
            if x.is_leaf and x.grad is not None and type(x) in (torch.Tensor, nn.Parameter):
                new.grad = self(x.grad)
        return new

    def _array(self, value: Any) -> Any:
        self.arrays = True
        if value.base is not None:
            self.doubts["a NumPy array on the memory of something else"] += 1
        return value.copy()

    def _module(self, value: nn.Module) -> Any:
        """Attribute by attribute; of a model that torch.compile wrapped, the model inside."""
        if "_orig_mod" in vars(value).get("_modules", {}):
            return self(value._modules["_orig_mod"])
        if type(value).__module__.startswith("torch.distributed.fsdp"):
            return self._refusing(value)
        self(type(value))
        new = self._memo[id(value)] = object.__new__(type(value))
        vars(new).update(self(vars(value)))
        return new

    def _object(self, value: Any) -> Any:
        """As pickle takes it apart and puts it together. What cannot be is used as it is, or refused if it is the user's."""
        kind = type(value)
        if kind is tuple:
            items = tuple(map(self, value))
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if kind.__module__.startswith("torch") and not f"{kind.__module__}.".startswith(_OF_TORCH):
            return value
        self(kind)
        try:
            parts = value.__reduce_ex__(4)
            if isinstance(parts, str):
                return value
            return copy._reconstruct(value, self._memo, *parts[:5], deepcopy=lambda x, _: self(x))  # type: ignore[attr-defined]
        except (NotHere, Refused):
            raise
        except Exception:  # code of others, which says that it cannot be copied
            own = kind.__module__ in sys.modules and _is_own(kind.__module__)
            new = self._memo[id(value)] = self._refusing(value) if own or hasattr(value, "__next__") else value
            return new

    # --- code ---

    def _function(self, value: types.FunctionType) -> Any:
        """The function with copies of what it reads; of one that torch.compile wrapped the one inside."""
        if (plain := getattr(value, "_torchdynamo_orig_callable", None)) is not None:
            return self(plain)
        space, own = value.__globals__, _is_own(value.__globals__.get("__name__"))
        if not own and not value.__closure__:
            return value
        cells = tuple(map(self, value.__closure__ or ()))
        if id(value) in self._memo:  # one of the cells held it
            return self._memo[id(value)]
        within = self._space(space) if own else space
        new = self._memo[id(value)] = types.FunctionType(value.__code__, within, value.__name__, None, cells)
        new.__defaults__, new.__kwdefaults__ = self(value.__defaults__), self(value.__kwdefaults__)
        vars(new).update(self(vars(value)))
        if own:
            self._follow(value.__code__, space)
        return new

    def _cell(self, value: types.CellType) -> types.CellType:
        new = self._memo[id(value)] = types.CellType()
        if value != types.CellType():
            new.cell_contents = self(value.cell_contents)
        return new

    def _space(self, space: dict[str, Any]) -> dict[str, Any]:
        """The globals of copied functions: the same, and a copy of what these functions name."""
        return self._spaces.setdefault(id(space), {**space})

    def _builtin(self, value: types.BuiltinFunctionType) -> Any:
        """Of a list or dict the method of its copy; compiled code that is neither Python's nor torch's nor NumPy's is noted."""
        self.names.add(f"{value.__name__}()")  # the user's own name for it
        self._note(value.__module__)
        owner = self(value.__self__)
        return value if owner is value.__self__ else getattr(owner, value.__name__)

    def _namespace(self, value: types.ModuleType) -> types.ModuleType:
        if (getattr(value, "__file__", None) or "").endswith((".so", ".pyd", ".dylib")):
            self._note(value.__name__)
        if not _is_own(value.__name__):
            return value
        new = types.ModuleType(value.__name__)
        vars(new).update(self._space(vars(value)))
        self._spaces[id(vars(value))] = vars(new)
        return new

    def _note(self, name: str | None) -> None:
        if _root(name) not in ("", "torch", "numpy"):
            self.doubts[f"{name} (compiled code)"] += 1

    def _follow(self, code: types.CodeType, space: dict[str, Any]) -> None:
        """Copies the globals that a function names, also those of other files of the user's."""
        if (id(code), id(space)) in self._followed:
            return
        self._followed.add((id(code), id(space)))
        names = _names_of(code)
        self.names |= names
        if names & _STARTS:
            self.doubts["work in another thread"] += 1
        for name in names & space.keys():
            new = self._space(space)[name] = self(space[name])
            if new is not space[name] and isinstance(new, types.ModuleType):
                self._follow(code, vars(space[name]))

    # --- classes ---

    def _class(self, value: type) -> type:
        """The class itself; what the user's own code keeps in it is exchanged while the copies run."""
        if value is type:
            self.names.add("type()")
        for one in value.__mro__:
            if _is_own(one.__module__) and not issubclass(one, enum.Enum):
                self._classes.setdefault(one, set())
        return value

    def of_call(self, call: tuple[Any, ...]) -> Any:
        """The copy of a model, its inputs and its keywords, to be run within `in_place`."""
        with torch.inference_mode(False), torch._C.DisableTorchFunctionSubclass():  # code of a subclass is the user's
            new = self(call)
            while wanted := [*self._attributes()]:
                for owner, name, item in wanted:
                    self._classes[owner].add(name)
                    self._exchanged += [(owner, name, own)] if (own := self(item)) is not item else []
        return new

    def _attributes(self) -> Iterator[tuple[type, str, Any]]:
        """What the user's classes hold: all data, and the methods whose names copied code uses."""
        for owner, done in self._classes.items():
            for name, item in vars(owner).items():
                if isinstance(item, _CODE):
                    wanted = name in self.names or name.startswith("__")
                else:
                    wanted = name not in _PYTHONS and not isinstance(item, _SLOTS)
                if wanted and name not in done:
                    yield owner, name, item

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
        kept = self._memo, self._alive, self._spaces, self._classes, self._exchanged, self._makers, self.tensors
        for held in (*self._spaces.values(), *kept):
            held.clear()
