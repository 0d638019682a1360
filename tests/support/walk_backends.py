"""Every public name of torch.backends in the installed torch, found by attribute. No name is listed by hand."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import torch.backends

PREFIX = "torch.backends"
PLAIN = (bool, int, float, str, bytes, set, frozenset, list, tuple, dict, type(None))


def modules() -> list[str]:
    """The names of the public modules, the package itself first; all of them are imported afterwards."""
    package = getattr(torch.backends, "m", torch.backends)
    names = [PREFIX, *(one.name for one in pkgutil.walk_packages(package.__path__, PREFIX + "."))]
    return [name for name in names if "._" not in name]


def members() -> set[str]:
    """Every public name, as it follows `torch.backends.`: modules' own functions, values and properties, and those of objects."""
    found: set[str] = set()
    for name in modules():
        if name.endswith(".run_cpu"):  # a script: importing it is not what it is for
            found.add(name)
            continue
        importlib.import_module(name)
        found |= {f"{name}.{one}" for one in _of_module(name)}
    return {one.removeprefix(PREFIX + ".") for one in found}


def there(name: str, owner: Any = torch.backends) -> bool:
    """Whether torch has it: as an attribute, or as a module, which is imported where something of it is asked for. A value that
    it refuses to tell is there.
    """
    if owner is torch.backends and f"{PREFIX}.{name}" in modules():
        return True
    for part in name.split("."):
        if owner is torch.backends and not hasattr(owner, part) and f"{PREFIX}.{part}" in modules():
            importlib.import_module(f"{PREFIX}.{part}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                owner = getattr(owner, part)
        except AttributeError:
            return False
        except Exception:  # noqa: BLE001  (no GPU, or two settings that contradict each other)
            return True
    return True


def _of_module(name: str) -> Iterator[str]:
    stand_in = sys.modules[name]
    real = vars(stand_in).get("m", stand_in)
    for kind in type(stand_in).__mro__:
        if kind not in (types.ModuleType, object):
            yield from _of_namespace(stand_in, vars(kind))
    listed = getattr(real, "__all__", ())
    own = {one: value for one, value in vars(real).items() if one in listed or _is_own(value, name)}
    yield from _of_namespace(stand_in, own)


def _is_own(value: Any, module: str) -> bool:
    """Whether this module made the value itself: what it imported belongs to another."""
    home = getattr(value, "__module__", None) or type(value).__module__
    return isinstance(value, PLAIN) or home == module


def _of_namespace(owner: Any, names: dict[str, Any]) -> Iterator[str]:
    for name, value in names.items():
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        inner = type(value)
        if inner.__module__.startswith(PREFIX) and not hasattr(inner, "__get__"):
            yield from (f"{name}.{one}" for one in _of_object(inner))
        yield name


def _of_object(kind: type) -> set[str]:
    """The public names of an object: of its class, and those that `__getattr__` compares its argument with."""
    names = {name for one in kind.__mro__ if one is not object for name in vars(one)}
    for function in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind)))):
        if isinstance(function, ast.FunctionDef) and function.name == "__getattr__":
            for one in ast.walk(function):
                if isinstance(one, ast.Compare) and isinstance(one.left, ast.Name) and one.left.id == "name":
                    names |= {each.value for each in one.comparators if isinstance(each, ast.Constant)}
    return {name for name in names if not name.startswith("_")}
