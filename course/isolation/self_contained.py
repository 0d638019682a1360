"""Whether code is self-contained: it reads and writes nothing but its own instances and arguments.

Self-contained code may run in this process on copies of its objects. Code that uses anything else (a table in a module, a
counter on a class, a cache, a setting of the process) must run in a forked child. In doubt code is not self-contained. One
case is not noticed: an attribute set on a class that is an argument or an attribute, as in `self.kind.extra = 1`.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import re
import sys
import types
import warnings
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import torch

TRUSTED = frozenset(
    "torch math cmath functools itertools operator typing typing_extensions collections dataclasses enum abc numbers "
    "random time re string types contextlib copy numpy einops builtins".split()
)
"""Packages that keep nothing of the user's (their random generators are put back)."""
ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), range, slice, re.Pattern),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size, torch.finfo, torch.iinfo),
)
"""Values that cannot change."""
_REACHING = frozenset(
    "globals vars locals eval exec compile setattr delattr __import__ open input breakpoint id hash".split()
)
"""Builtins that reach further, or tell a copy from its original."""
_LASTING = re.compile(r"(un)?(set(?!_grad_enabled$)|seterr|enable(?!_grad$)|disable|register|add_safe|reset)(_|$)")
"""Names of functions of trusted packages that change a setting for good."""
_METHODS = (types.FunctionType, staticmethod, classmethod, property)
_OF_C = (
    *(types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GenericAlias, types.UnionType),
)
_SILENT = frozenset(("CACHE", "PRECALL", "EXTENDED_ARG", "PUSH_NULL"))

Facts = dict[str, set[str]]
"""What the text of a function says. names: globals it reads; chains: dotted names from a global as far as they go;
renamed: those of them that get another name; attributes: all names after a dot; imports: modules imported inside;
does: "writes" (sets some attribute), "leaves" (writes on a global or reaches for a namespace), "rebinds" (assigns a
global name)."""
_facts: WeakKeyDictionary[types.CodeType, Facts] = WeakKeyDictionary()


def facts_of(code: types.CodeType) -> Facts:
    """The ``Facts`` about a function's code and about the functions inside it."""
    if code in _facts:
        return _facts[code]
    found: Facts = {kind: set() for kind in ("names", "chains", "renamed", "attributes", "imports", "does")}
    found["attributes"].update(code.co_names)
    chain = ""
    for step in dis.get_instructions(code):
        name, what = step.opname, step.argval
        if name in ("LOAD_ATTR", "LOAD_METHOD"):
            by_hand = chain not in ("", "object") and what in ("__dict__", "__setattr__", "__delattr__")
            found["does"] |= {"leaves"} if by_hand or what in ("__globals__", "__enter__") else set()
            chain = chain and f"{chain}.{what}"
        elif name not in _SILENT:
            found["chains"].add(chain)
            found["renamed"] |= {chain} if name.startswith(("STORE_", "COPY", "DUP_")) else set()
            if name in ("STORE_ATTR", "DELETE_ATTR"):
                found["does"] |= {"writes", "leaves"} if chain else {"writes"}
            elif name in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_STAR"):
                found["does"].add("rebinds")
            elif name == "IMPORT_NAME":
                found["imports"].add(what)
            chain = what if name in ("LOAD_GLOBAL", "LOAD_NAME") else ""
            found["names"] |= {chain} if chain else set()
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            for kind, below in facts_of(inner).items():
                found[kind] |= below
    _facts[code] = found
    return found


def trusted(name: Any) -> bool:
    """Whether a module of that name belongs to a trusted package."""
    return isinstance(name, str) and name.partition(".")[0] in TRUSTED


def self_contained(value: Any) -> bool:
    """Whether the value refers to nothing that can change."""
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, ATOMS) and id(one) not in seen:
            seen[id(one)] = one
            parts = _parts(one)
            if parts is None:
                return False
            waiting += parts
    return True


def _parts(value: Any) -> Iterable[Any] | None:
    """The parts of the value that must be self-contained for the value to be so; None where it cannot be."""
    if isinstance(value, (tuple, frozenset)):
        return value
    if isinstance(value, types.ModuleType):
        return () if trusted(value.__name__) else None
    if isinstance(value, types.FunctionType):
        return _parts_of_function(value)
    if isinstance(value, type):
        bases = [base for base in (*value.__mro__, *type(value).__mro__) if not trusted(base.__module__)]
        held = [(name, item) for base in bases for name, item in vars(base).items() if name != "_abc_impl"]
        return [item for name, item in held if isinstance(item, _METHODS) or not name.startswith("__")]
    if isinstance(value, (staticmethod, classmethod)):
        inner = value.__func__
        on_class = isinstance(value, classmethod) and isinstance(inner, types.FunctionType)
        return None if on_class and "writes" in facts_of(inner.__code__)["does"] else [inner]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, functools.cached_property):
        return [value.func]
    if isinstance(value, types.BuiltinFunctionType):
        of_module = isinstance(value.__self__, (type(None), type, types.ModuleType))
        home = (value.__module__ or "builtins").removeprefix("_")
        return () if of_module and (trusted(home) or value is warnings.warn) else None
    if isinstance(value, enum.Enum) or type(value).__module__ in ("typing", "torch._ops", "torch.autograd.grad_mode"):
        return [type(value)]
    return () if isinstance(value, _OF_C) else None


def _parts_of_function(function: types.FunctionType) -> list[Any] | None:
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *vars(function).values()]
    if trusted(function.__globals__.get("__name__")):
        return held
    reads = own_globals(function)
    return None if reads is None or "rebinds" in facts_of(function.__code__)["does"] else [*held, *reads.values()]


def own_globals(function: types.FunctionType) -> dict[str, Any] | None:
    """The globals that a function reads, by name; None where it uses more than these."""
    facts, space, found = facts_of(function.__code__), function.__globals__, {}
    renamed = any(isinstance(_named(space, chain), (type, types.FunctionType)) for chain in facts["renamed"])
    on_class = renamed or "type" in facts["names"] or "__class__" in facts["attributes"]
    if "leaves" in facts["does"] or "writes" in facts["does"] and (on_class or facts["imports"]):
        return None
    passed = any(_open(space, chain) for chain in facts["chains"])
    if passed or not all(map(trusted, facts["imports"])):
        return None
    if facts["imports"] and any(map(_LASTING.match, facts["attributes"])):
        return None
    for name in facts["names"]:
        value = space.get(name, function)
        if value is function and name not in space:
            if name in _REACHING and hasattr(builtins, name):
                return None
        elif isinstance(value, types.ModuleType) and not trusted(value.__name__):
            if value is sys.modules.get("__main__"):
                return None
            found |= {f"{name}.{part}": vars(value)[part] for part in facts["attributes"] if part in vars(value)}
        else:
            found[name] = value
    return found


def _open(space: dict[str, Any], chain: str) -> bool:
    """Whether a dotted name stands for a module, or for a table or a lasting setting of a trusted package."""
    owner, _, last = chain.rpartition(".")
    root = space.get(chain.partition(".")[0])
    module = isinstance(root, types.ModuleType)
    if _LASTING.match(last) and trusted(root.__name__ if module else getattr(root, "__module__", None)):
        return True
    tables = module and any(isinstance(_named(space, one), (dict, list, set)) for one in (owner, chain))
    return tables or isinstance(_named(space, chain), types.ModuleType)


def _named(space: dict[str, Any], chain: str) -> Any:
    """The object that a dotted name stands for. (Code could pass on a module or a class and change it.)"""
    root, *rest = chain.split(".")
    value = space.get(root)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, types.ModuleType) else None
    return value
