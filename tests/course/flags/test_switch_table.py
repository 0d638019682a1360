"""Protects who looks a switch up: torch.backends is walked by attribute, and every name has a row that says all."""

from __future__ import annotations

import ast
import importlib
import inspect
import mmap
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch.backends

from course.core.catalog import BY_ID
from course.core.i18n import LANGUAGES
from course.experiment import base
from course.experiment.new_process import answer_of
from course.flags import DEPENDS, TABLE, WHEN
from course.questions import knowledge

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


ROWS = list(TABLE.values())
BACKENDS = [row for row in ROWS if row.group not in ("torch", "env")]
NAMED = {name for row in BACKENDS for name in (row.name, *row.also)}
LESSONS = {lesson[:2] for lesson in BY_ID}


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.removeprefix("<=").split(".")[:2]))


@pytest.mark.slow
def test_every_public_name_of_torch_backends_has_a_row():
    found = set(answer_of("from tests.course.flags.test_switch_table import members\nanswer(sorted(members()))")[0])
    assert len(found) > 100
    new = [one for one in sorted(found - NAMED) if not any(name.startswith(f"{one}.") for name in NAMED)]
    assert new == [], f"add to course/flags/switches.json a row (or a name in the `also` of one) for {', '.join(new)}"


@pytest.mark.parametrize("row", [row for row in BACKENDS if row.kind != "internal"], ids=lambda row: row.name)
def test_a_row_is_there_from_its_first_version_on(row):
    here = version(torch.__version__)
    expected = version(row.since) <= here and (not row.until or here <= version(row.until))
    assert {name: there(name) for name in (row.name, *row.also)} == dict.fromkeys((row.name, *row.also), expected)


def test_what_stands_beside_torch_backends_is_there_too():
    importlib.import_module("torch._inductor.config")
    for row in ROWS:
        if row.group == "torch" and version(row.since) <= version(torch.__version__):
            names = [name.removeprefix("torch.") for name in (row.name, *row.also)]
            assert any(there(name, torch) for name in names), row.name


def test_the_libraries_know_every_environment_variable():
    """Those of other devices' libraries are looked for only where this build has them; oneDNN puts its names together."""
    libraries = [
        path
        for pattern in ("*torch_c*", "*c10*")
        for path in (Path(torch.__file__).parent / "lib").glob(pattern)
        if path.suffix in (".so", ".dll")
    ]
    unknown = {
        row.name.removeprefix("env.")
        for row in ROWS
        if row.kind == "env" and version(row.since) <= version(torch.__version__)
    }
    for path in libraries:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            unknown = {name for name in unknown if text.find(name.encode()) < 0}
    names = "OMP_ ONEDNN_ MKL_ KMP_ PYTORCH_ENABLE_MPS PYTORCH_MPS PYTORCH_DEBUG_MPS MIOPEN_ CUDNN_ NVIDIA_"
    elsewhere = tuple(names.split())
    if not torch.backends.cuda.is_built():
        elsewhere += ("TORCH_CUDNN", "CUBLAS", "CUDA_", "PYTORCH_CUDA")
    assert [name for name in sorted(unknown) if not name.startswith(elsewhere)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_field_of_a_row_is_empty(row):
    texts = [row.text, *filter(None, (row.note, row.nobody, row.depends))]
    if row.changeable:
        texts.append(row.readers)
        assert row.takes and (row.default is DEPENDS) == (row.depends is not None)
    if row.kind == "setter":
        assert row.get and row.set, f"{row.name}: add it to GET and SET of course/flags/access.py"
    assert all(set(text) == set(LANGUAGES) and all(text.values()) for text in texts)
    assert row.when in WHEN and row.source and version(row.since) >= (2, 9)


def test_every_row_is_shown_by_an_experiment_or_a_card_or_says_why_nobody_needs_it():
    cards = {name for card in knowledge.read().values() for name in card.switches}
    missing = [row.name for row in ROWS if not (row.experiment or row.nobody or row.name in cards)]
    both_ways = [row.name for row in ROWS if row.nobody and (row.experiment or row.name in cards)]
    assert missing == [], f"write `experiment` or `nobody`, or name in a knowledge card: {', '.join(missing)}"
    assert both_ways == [], f"delete `nobody`, an experiment or a knowledge card shows it: {', '.join(both_ways)}"
    known = set(base.load_all())
    assert [row.experiment for row in ROWS if row.experiment[:2] in LESSONS and row.experiment not in known] == []
