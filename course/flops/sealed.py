"""Whether code keeps to itself: all it can read or write lives in its own instances and arguments.

Sealed code may run in this process on copies of its objects. Anything else (a table in a module, a counter on a
class, a cache, a setting of the process) sends the count to a forked child. In doubt code is not sealed.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import re
import sys
import types
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch

TRUSTED = frozenset(
    (
        "torch math cmath functools itertools operator typing typing_extensions collections dataclasses "
        "enum abc numbers random time re string types contextlib copy numpy einops builtins"
    ).split()
)
"""Packages that keep nothing of the user's (their random generators are put back)."""
ATOMS = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(Ellipsis),
    type(NotImplemented),
    range,
    slice,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    torch.Size,
    re.Pattern,
    torch.finfo,
    torch.iinfo,
)
"""Values that cannot change."""
_REACHING = frozenset("globals vars locals eval exec compile setattr delattr __import__ open input breakpoint".split())
_ATTRIBUTES = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


@dataclass
class Facts:
    """What the text of a function says. names: globals it reads; bare: those used other than by a dotted name;
    attributes: all names after a dot; imports: modules imported inside; leaves: it writes on a global or reaches
    for a namespace; writes: it sets some attribute."""

    names: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    leaves: bool = False
    rebinds: bool = False
    writes: bool = False


_facts: WeakKeyDictionary[types.CodeType, Facts] = WeakKeyDictionary()


def facts_of(code: types.CodeType) -> Facts:
    """The facts of a function, those of the functions inside it included."""
    if code in _facts:
        return _facts[code]
    found, chain, last = Facts(attributes=set(code.co_names)), None, ""
    for step in dis.get_instructions(code):
        name = step.opname
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.bare |= {chain} if chain and last == "LOAD_GLOBAL" else set()
            chain, last = step.argval, "LOAD_GLOBAL"
            found.names.add(chain)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            last = name
            found.leaves |= step.argval == "__globals__" or (chain is not None and step.argval == "__dict__")
        elif name not in ("CACHE", "PRECALL", "EXTENDED_ARG", "PUSH_NULL"):
            found.bare |= {chain} if chain and last == "LOAD_GLOBAL" else set()
            if name in ("STORE_ATTR", "DELETE_ATTR"):
                found.writes = True
                found.leaves |= chain is not None
            found.rebinds |= name in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_STAR")
            found.imports |= {step.argval} if name == "IMPORT_NAME" else set()
            chain, last = None, name
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            below = facts_of(inner)
            for what in ("names", "bare", "attributes", "imports"):
                getattr(found, what).update(getattr(below, what))
            found.leaves, found.rebinds, found.writes = (
                found.leaves | below.leaves,
                found.rebinds | below.rebinds,
                found.writes | below.writes,
            )
    _facts[code] = found
    return found


def trusted(name: Any) -> bool:
    """Whether a module of that name belongs to a trusted package."""
    return isinstance(name, str) and name.partition(".")[0] in TRUSTED


def sealed(value: Any, seen: set[int] | None = None) -> bool:
    """Whether nothing that can change is reachable from the value."""
    seen = set() if seen is None else seen
    if isinstance(value, ATOMS) or id(value) in seen:
        return True
    seen.add(id(value))
    if isinstance(value, (tuple, frozenset)):
        return all(sealed(item, seen) for item in value)
    if isinstance(value, types.ModuleType):
        return trusted(value.__name__)
    if isinstance(value, types.FunctionType):
        return _function(value, seen)
    if isinstance(value, type):
        return _class(value, seen)
    if isinstance(value, (staticmethod, classmethod)):
        inner = value.__func__
        own = isinstance(value, classmethod) and isinstance(inner, types.FunctionType)
        return not (own and facts_of(inner.__code__).writes) and sealed(inner, seen)
    if isinstance(value, property):
        return all(sealed(part, seen) for part in (value.fget, value.fset, value.fdel))
    if isinstance(value, functools.cached_property):
        return sealed(value.func, seen)
    if isinstance(value, types.BuiltinFunctionType):
        return isinstance(value.__self__, (type(None), type, types.ModuleType, type(torch._C._nn)))
    if isinstance(value, enum.Enum) or type(value).__module__ in ("typing", "torch._ops", "torch.autograd.grad_mode"):
        return sealed(type(value), seen)
    return isinstance(value, (*_ATTRIBUTES, types.GenericAlias, types.UnionType))


def _class(kind: type, seen: set[int]) -> bool:
    """A class: neither it nor its bases keep anything that can change, and all their methods are sealed."""
    for base in (*kind.__mro__, *type(kind).__mro__):
        if trusted(base.__module__):
            continue
        for name, value in vars(base).items():
            inner = isinstance(value, (types.FunctionType, staticmethod, classmethod, property))
            if not inner and name.startswith("__") or name == "_abc_impl":
                continue
            if not sealed(value, seen):
                return False
    return True


def own_globals(function: types.FunctionType) -> dict[str, Any] | None:
    """The globals a function reads, by name; None where it reaches for more than that."""
    facts, space, found = facts_of(function.__code__), function.__globals__, {}
    if facts.leaves or facts.writes and ("type" in facts.names or "__class__" in facts.attributes):
        return None
    if not all(trusted(name) for name in facts.imports):
        return None
    for name in facts.names:
        if name not in space:
            if name in _REACHING and hasattr(builtins, name):
                return None
            continue
        value = space[name]
        if isinstance(value, types.ModuleType):
            if name in facts.bare or value is sys.modules.get("__main__"):
                return None
            if not trusted(value.__name__):
                found |= {f"{name}.{part}": vars(value)[part] for part in facts.attributes if part in vars(value)}
                continue
        found[name] = value
    return found


def _function(function: types.FunctionType, seen: set[int]) -> bool:
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *vars(function).values()]
    if not trusted(function.__globals__.get("__name__")):
        reads = own_globals(function)
        if reads is None or facts_of(function.__code__).rebinds:
            return False
        held += reads.values()
    return all(sealed(value, seen) for value in held)
