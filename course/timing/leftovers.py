"""What the calls of a timed function leave behind: switches of torch, the default dtype and gradients, which are put back and named;
and results kept by the first call, so that later calls do less, which are named."""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from course.core.i18n import t

CACHED = functools._lru_cache_wrapper
SAMPLE = 4096
"""Entries looked at of one container."""
DEEPEST = 4
"""Steps from a function to what it reaches through others: closures, globals, arguments of a partial, attributes."""
FOREIGN = ("torch", "numpy", "builtins", "course")
"""Packages whose objects are no caches of the user's."""
BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def within_reach(f: Any) -> dict[str, Any]:
    """The objects that a function takes from outside, and what is reached through them: name -> object."""
    found: dict[str, Any] = {}
    seen: set[int] = set()

    def look(name: str, value: Any, deep: int) -> None:
        if id(value) not in seen and not isinstance(value, (types.ModuleType, type)):
            seen.add(id(value))
            found[f"{name} [{len(found)}]" if name in found else name] = value
            for inner, one in _parts(name, value) if deep else ():
                look(inner, one, deep - 1)

    look(str(getattr(f, "__name__", "self")), f, DEEPEST)
    return found


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    torch, foreign = sys.modules.get("torch"), type(value).__module__.partition(".")[0] in FOREIGN
    if isinstance(value, functools.partial):
        yield "func", value.func
        yield from ((f"argument {at}", one) for at, one in enumerate(value.args, start=1))
        yield from value.keywords.items()
    elif isinstance(value, BOUND):
        yield "self", value.__self__
        yield name, getattr(value, "__func__", None)
    elif isinstance(value, types.FunctionType):
        if (value.__module__ or "").partition(".")[0] not in FOREIGN:
            with contextlib.suppress(ValueError):  # a cell that is empty so far
                outside = inspect.getclosurevars(value)
                yield from {**outside.globals, **outside.nonlocals}.items()
    elif torch is not None and isinstance(value, torch.nn.Module):
        yield from ((f"{name}.{one}", parameter) for one, parameter in value.named_parameters())
        for module in value.modules():
            yield from ((f"{name}.{one}", part) for one, part in vars(module).items() if one[0] != "_")
    elif not foreign:
        yield from ((f"{name}.{one}", part) for one, part in getattr(value, "__dict__", {}).items())


class Left:
    """The switches of torch, its default dtype and the gradients of these tensors, as they were when this was made; empty in a
    process without torch."""

    def __init__(self, objects: Iterable[Any] = ()) -> None:
        self._torch = sys.modules.get("torch")
        if self._torch is None:
            return
        from course.flags import SWITCHES, snapshot
        from course.flags.state import Saved

        self._before, self._dtype = snapshot(), self._torch.get_default_dtype()
        self._switches = Saved([name for name, switch in SWITCHES.items() if switch.changeable])
        leaves = {id(x): x for x in objects if isinstance(x, self._torch.Tensor) and x.is_leaf and x.requires_grad}
        self._grads = [(x, x.grad, None if x.grad is None else x.grad.clone()) for x in leaves.values()]
        self._versions = [self._version(x) for x, _, _ in self._grads]

    @staticmethod
    def _version(leaf: Any) -> tuple[int, int]:
        return (id(leaf.grad), leaf.grad._version) if leaf.grad is not None else (0, 0)

    def restore(self) -> None:
        """Set them all, with the same steps whatever values they have."""
        if self._torch is None:
            return
        self._switches.put_back()
        self._torch.set_default_dtype(self._dtype)
        for leaf, grad, kept in self._grads:
            leaf.grad = grad
            if grad is not None:
                grad.detach().copy_(kept)
        self._versions = [self._version(x) for x, _, _ in self._grads]

    def put_back(self) -> list[str]:
        """Restore them all, if one has another value; returns what had, in words."""
        if self._torch is None:
            return []
        from course.flags import SWITCHES, changes, snapshot

        found = [SWITCHES[change.name].path for change in changes(self._before, snapshot())]
        if self._torch.get_default_dtype() != self._dtype:
            found.append("torch.set_default_dtype")
        grads = sum(self._version(x) != before for (x, _, _), before in zip(self._grads, self._versions, strict=True))
        if grads:
            found.append(t(f"the .grad of {grads} tensor{'s' * (grads > 1)}", f"{grads} 个张量的 .grad"))
        if found:
            self.restore()
        return found


class Kept:
    """Watches what a function takes from outside, from before its first call on."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self.objects = objects
        self._states = {name: _state(value) for name, value in objects.items()}
        self.changed: list[str] = []

    def first_call_done(self) -> None:
        """Note what the first call has changed: containers and iterators."""
        self.changed = [name for name, value in self.objects.items() if _state(value) != self._states[name]]
        self._caches = {name: one.cache_info() for name, one in self.objects.items() if isinstance(one, CACHED)}

    def notes(self, name: str) -> list[str]:
        """The remarks on a function of that name, after all its calls."""
        infos = {one: (then, self.objects[one].cache_info()) for one, then in self._caches.items()}
        looked_up = [
            one for one, (then, now) in infos.items() if now.hits > then.hits and now.misses == then.misses
        ]  # functools.cache
        if not (looked_up or self.changed):
            return []
        what = ", ".join(dict.fromkeys([*looked_up, *self.changed]))
        return [
            t(
                f"The first call of {name} changes {what}, so later calls do other work than the first: they look up what it keeps, "
                "or find an iterator empty, a list sorted. To time the work, make it anew inside every function alike, or call past "
                "the cache.",
                f"{name} 的第一次调用会改动 {what}，之后的调用做的就不是同样的活了：可能只是查表，或者迭代器已经取空、"
                "列表已经排好。要测运算本身，请在每个函数里同样地重新准备，或者绕过缓存。",
            )
        ]


def _state(value: Any) -> Any:
    """Of a container how many entries it has, and which; of an iterator how far it is; None of anything else."""
    if isinstance(value, (list, tuple, dict, set, deque, bytearray)):
        entries: Iterable[Any] = [*value, *value.values()] if isinstance(value, dict) else value
        return len(value), [one if isinstance(one, (int, float, str)) else id(one) for one in islice(entries, SAMPLE)]
    if isinstance(value, types.GeneratorType):
        return value.gi_frame is None
    if hasattr(type(value), "__next__"):
        return getattr(value, "_num_yielded", None) or operator.length_hint(value, -1)  # the first: of a DataLoader
    return None


def left_notes(left: Mapping[str, Iterable[str]]) -> list[str]:
    """The remarks on what functions left with another value. left: function -> what, in words."""
    return [
        t(
            f"{name} leaves {', '.join(what)} with another value. It was put back after every block, so the others are timed without "
            "it. Set a switch inside `with using({...}):` of course.flags, or outside of the function.",
            f"{name} 改动了 {'、'.join(what)} 而没有还原。每一块之后都已还原，因此其他候选不受影响。"
            "开关请在 course.flags 的 `with using({...}):` 里设置，或放到函数外面。",
        )
        for name, what in left.items()
        if what
    ]
