"""Attributes that somebody put on a torch.backends module and that nothing in torch reads.

Assigning `torch.backends.cudnn.benchmarks = True` creates an attribute and changes no switch; torch says
nothing. The same happens when a query such as `torch.backends.mps.is_available` is overwritten.
"""

from __future__ import annotations

import dis
import sys
import types
from dataclasses import dataclass
from functools import cache
from typing import Any

from course.core.i18n import Text, both, pick
from course.flags.catalogue import SWITCHES, closest

PREFIX = "torch.backends"
REPLACED_MODULE_MEMBERS = frozenset({"m"})  # where torch keeps the real module behind its stand-in


@dataclass(frozen=True, repr=False)
class Typo:
    """An attribute that has no effect. name: without `torch.backends.`; suggestion: what was meant, or None.

    overwritten: it hides a function of torch (a query, say) instead of being merely new.
    deletable: whether `del` undoes it; elsewhere the function is gone until the kernel restarts.
    """

    name: str
    value: Any
    suggestion: str | None
    overwritten: bool
    deletable: bool = True

    @property
    def text(self) -> Text:
        path, shown = f"{PREFIX}.{self.name}", repr(self.value)[:40]
        if self.overwritten:
            cure = both("Restart the kernel to get it back.", "请重启内核找回它。")
            if self.name in SWITCHES and SWITCHES[self.name].changeable:
                cure = both(
                    cure["en"] + f" Then call it: `{path}(...)`.", cure["zh"] + f"之后要这样调用：`{path}(...)`。"
                )
            if self.deletable:
                cure = both(f"`del {path}` brings it back.", f"用 `del {path}` 可以找回它。")
            return both(
                f"`{path} = {shown}` has overwritten a function of torch; it switches nothing. {cure['en']}",
                f"`{path} = {shown}` 覆盖了 torch 的一个函数，没有切换任何东西。{cure['zh']}",
            )
        if self.name in SWITCHES:
            return both(
                f"`{path} = {shown}` has no effect: this build of torch has no such switch. `del {path}` removes it.",
                f"`{path} = {shown}` 不起作用：当前的 torch 构建没有这个开关。用 `del {path}` 可以删掉它。",
            )
        meant = both("", "")
        if self.suggestion:
            meant = both(
                f" Did you mean `{SWITCHES[self.suggestion].path}`?", f"是不是想写 `{SWITCHES[self.suggestion].path}`？"
            )
        elif self.name.startswith("mps."):
            meant = both(
                " torch.backends.mps has queries only, nothing to switch.",
                "torch.backends.mps 只有查询，没有可以设置的开关。",
            )
        return both(
            f"`{path} = {shown}` only made a new attribute that torch never reads.{meant['en']} `del {path}` removes it.",
            f"`{path} = {shown}` 只是新建了一个 torch 从不读取的属性。{meant['zh']}用 `del {path}` 可以删掉它。",
        )

    def __str__(self) -> str:
        return pick(self.text)

    __repr__ = __str__


def typos() -> list[Typo]:
    """Every attribute on a loaded torch.backends module that has no effect, in order of name."""
    found = []
    for module_name in sorted(sys.modules):
        if module_name == PREFIX or module_name.startswith(PREFIX + "."):
            found += _in_module(module_name, sys.modules[module_name])
    return found


def _in_module(module_name: str, module: Any) -> list[Typo]:
    group = module_name.removeprefix(PREFIX).lstrip(".")
    stand_in = type(module) is not types.ModuleType
    known = REPLACED_MODULE_MEMBERS if stand_in else _names_in_source(module_name)
    found = []
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or isinstance(value, types.ModuleType):
            continue
        full = f"{group}.{name}" if group else name
        if name not in known and not _read_from_stand_in(module, full, name, stand_in):
            found.append(_typo(module, full, name, value, stand_in))
        elif not stand_in and not callable(value) and name in _functions_in_source(module_name):
            found.append(Typo(full, value, None, overwritten=True, deletable=False))
    return found


def _read_from_stand_in(module: Any, full: str, name: str, stand_in: bool) -> bool:
    """Whether torch reads this attribute where it was put: torch.einsum asks the stand-in of opt_einsum, which has no
    property for its switches (torch/backends/opt_einsum/__init__.py; torch/functional.py), so setting one leaves it there.
    """
    switch = SWITCHES.get(full)
    return stand_in and switch is not None and switch.kind == "switch" and name in vars(vars(module).get("m", module))


def _typo(module: Any, full: str, name: str, value: Any, stand_in: bool) -> Typo:
    real = vars(vars(module)["m"]) if stand_in and "m" in vars(module) else {}
    if callable(real.get(name)) or callable(getattr(type(module), name, None)):
        return Typo(full, value, None, overwritten=True)
    return Typo(full, value, None if full in SWITCHES else closest(full, changeable=True), overwritten=False)


@cache
def _names_in_source(module_name: str) -> frozenset[str]:
    """Every name the module's own code binds; none of them is a learner's."""
    code = _code(module_name)
    return frozenset(vars(sys.modules[module_name])) if code is None else frozenset(_bound(code))


@cache
def _functions_in_source(module_name: str) -> frozenset[str]:
    """The functions that the module's own code defines at its top."""
    code = _code(module_name)
    parts = () if code is None else code.co_consts
    return frozenset(part.co_name for part in parts if isinstance(part, types.CodeType))


def _code(module_name: str) -> types.CodeType | None:
    """The code of a loaded module; None without a source at hand: then what is there is taken as known."""
    try:
        return sys.modules[module_name].__spec__.loader.get_code(module_name)  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001  (loaders fail in many types)
        return None


def _bound(code: types.CodeType) -> set[str]:
    top = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
    return top | _bound_globals(code)


def _bound_globals(code: types.CodeType) -> set[str]:
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= _bound_globals(part)
    return names
