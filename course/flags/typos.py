"""Attributes that somebody put on a torch.backends module and that nothing in torch reads.

Assigning `torch.backends.cudnn.benchmarks = True` creates an attribute and changes no switch; torch says
nothing. The same happens when a query such as `torch.backends.mps.is_available` is overwritten.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from course.core.i18n import Text, both, pick
from course.flags.catalogue import SWITCHES, closest

PREFIX = "torch.backends"


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
        undo = both(f"`del {path}` takes it back.", f"用 `del {path}` 可以撤销。")
        if not self.deletable:
            undo = both("Restart the kernel to get it back.", "请重启内核找回它。")
        if self.overwritten:
            return both(
                f"`{path} = {shown}` has overwritten a function of torch; it switches nothing. {undo['en']}",
                f"`{path} = {shown}` 覆盖了 torch 的一个函数，没有切换任何东西。{undo['zh']}",
            )
        meant = SWITCHES[self.suggestion].path if self.suggestion else ""
        ask = both(f" Did you mean `{meant}`?", f"是不是想写 `{meant}`？") if meant else both("", "")
        return both(
            f"`{path} = {shown}` only made a new attribute that torch never reads.{ask['en']} {undo['en']}",
            f"`{path} = {shown}` 只是新建了一个 torch 从不读取的属性。{ask['zh']}{undo['zh']}",
        )

    def __str__(self) -> str:
        return pick(self.text)

    __repr__ = __str__


def typos() -> list[Typo]:
    """Every attribute on a loaded torch.backends module that has no effect, in order of name."""
    names = sorted(name for name in sys.modules if name == PREFIX or name.startswith(PREFIX + "."))
    return [typo for name in names for typo in _in_module(name, sys.modules[name])]


def _in_module(module_name: str, module: Any) -> Iterator[Typo]:
    group, stand_in = module_name.removeprefix(PREFIX).lstrip("."), type(module) is not types.ModuleType
    names, functions = ({"m"}, set[str]()) if stand_in else _in_source(module_name)
    real = vars(vars(module)["m"]) if stand_in and "m" in vars(module) else {}  # the module behind torch's stand-in
    for name, value in sorted(vars(module).items()):
        full = f"{group}.{name}" if group else name
        if name.startswith("__") or isinstance(value, types.ModuleType):
            continue
        if name in functions and not callable(value):
            yield Typo(full, value, None, overwritten=True, deletable=False)
        elif name in names or stand_in and full in SWITCHES and SWITCHES[full].kind == "switch" and name in real:
            continue  # torch.einsum reads the switches of opt_einsum from the stand-in, which has no property for them
        elif stand_in and (callable(real.get(name)) or callable(getattr(type(module), name, None))):
            yield Typo(full, value, None, overwritten=True)
        else:
            yield Typo(full, value, None if full in SWITCHES else closest(full, changeable=True), overwritten=False)


@cache
def _in_source(module_name: str) -> tuple[set[str], set[str]]:
    """Every name in the module's own code, none of which is a learner's; and the functions it defines at its top."""
    try:
        code = sys.modules[module_name].__spec__.loader.get_code(module_name)  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001  (loaders fail in many types; without a source what is there is taken as known)
        return set(vars(sys.modules[module_name])), set()
    return names_of(code), {part.co_name for part in code.co_consts if isinstance(part, types.CodeType)}


def names_of(code: types.CodeType) -> set[str]:
    """The names that code reads or binds outside of its own functions; those of functions inside it included."""
    return {*code.co_names}.union(*(names_of(one) for one in code.co_consts if isinstance(one, types.CodeType)))
