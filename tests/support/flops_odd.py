"""Forwards that keep state in odd places, for the tests of counting: each a class with one trick."""

from __future__ import annotations

import contextvars
import functools
import os
import random
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

TABLES: dict[Any, Any] = {"n": torch.zeros(())}
TOTAL = torch.zeros(8)
MASK: Tensor | None = None
SETTINGS = types.SimpleNamespace(seen=3)
THREAD = threading.local()
CONTEXT: contextvars.ContextVar[Any] = contextvars.ContextVar("context", default=None)
WEAK: Any = weakref.WeakKeyDictionary()
USER = {"mine": torch.ones(8)}
HELPER = types.ModuleType("odd_helper")
exec(
    "import torch\nmask = None\ndef get():\n    global mask\n"
    "    mask = torch.ones(8) if mask is None else mask\n    return mask\n",
    vars(HELPER),
)
sys.modules["odd_helper"] = HELPER


class Thing:
    """An object with attributes."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Slotted:
    """An object without `__dict__`."""

    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = torch.zeros(())


class Store:
    """Class attributes."""

    tables: dict[int, Tensor] = {}
    mask: Tensor | None = None
    count = 0

    @classmethod
    def more(cls) -> None:
        cls.count += 1


@functools.lru_cache
def cached(size: int) -> Tensor:
    return torch.ones(size)


def attributes_of_a_function() -> Tensor:
    if not hasattr(attributes_of_a_function, "table"):
        attributes_of_a_function.table = torch.ones(8)
    return attributes_of_a_function.table


def default(tables: dict[int, Tensor] = {}) -> Tensor:  # noqa: B006
    return tables.setdefault(8, torch.ones(8))


def _global(model: Any, y: Tensor) -> None:
    global MASK
    MASK = torch.ones(8) if MASK is None else MASK


def _switch(model: Any, y: Tensor) -> None:
    torch.set_default_dtype(torch.float64)
    torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
    torch.use_deterministic_algorithms(True)
    torch.set_grad_enabled(torch.is_grad_enabled())


def _draw(model: Any, y: Tensor) -> None:
    torch.rand(3), random.random(), np.random.rand(), torch.randperm(4)


def _hooks(model: Any, y: Tensor) -> None:
    model.norm.register_forward_hook(lambda *_: None)
    model.layer.weight.register_hook(lambda grad: grad)
    nn.modules.module.register_module_forward_hook(lambda *_: None)


def _attributes(model: Any, y: Tensor) -> None:
    model.calls += 1
    model.log.append(y)
    model.late = nn.Linear(2, 2)
    model.norm.train(not model.norm.training)
    model.layer.weight.note = "seen"
    model.layer.weight.grad = None
    with torch.no_grad():
        model.layer.bias.add_(1)


TRICKS: dict[str, Callable[[Any, Tensor], Any]] = {
    "nothing": lambda model, y: None,
    "state in a dict": lambda model, y: model.state["n"].add_(1),
    "average in a dict": lambda model, y: model.state["mean"].mul_(0.9).add_(y.detach().mean(0), alpha=0.1),
    "object": lambda model, y: model.thing.n.add_(1),
    "slots": lambda model, y: model.slots.n.add_(1),
    "tuple": lambda model, y: (model.pair[0].add_(1), model.pair[1]["deep"].append(y)),
    "list in a dict": lambda model, y: model.state["list"][0].add_(y.detach().mean()),
    "key of a dict": lambda model, y: model.state.update(new=y),
    "key removed": lambda model, y: model.state.pop("n"),
    "attributes": _attributes,
    "hooks": _hooks,
    "module dict": lambda model, y: TABLES["n"].add_(1),
    "module dict, new key": lambda model, y: TABLES.setdefault("new", torch.ones(8)),
    "module tensor": lambda model, y: TOTAL.add_(y.detach().sum(0)),
    "module name": _global,
    "module object": lambda model, y: vars(SETTINGS).setdefault("table", torch.ones(8)),
    "unrelated": lambda model, y: model.alias.add_(1),
    "another file": lambda model, y: HELPER.get(),
    "class dict": lambda model, y: Store.tables.setdefault(8, torch.ones(8)),
    "class name": lambda model, y: setattr(Store, "mask", y),
    "class method": lambda model, y: Store.more(),
    "own class": lambda model, y: setattr(type(model), "seen", 1),
    "lru_cache": lambda model, y: cached(8),
    "function attribute": lambda model, y: attributes_of_a_function(),
    "default argument": lambda model, y: default(),
    "thread local": lambda model, y: vars(THREAD).setdefault("table", torch.ones(8)),
    "context": lambda model, y: CONTEXT.set(y),
    "weak dict": lambda model, y: WEAK.setdefault(model, y),
    "iterator": lambda model, y: next(model.iterator),
    "generator": lambda model, y: next(model.generator),
    "torch generator": lambda model, y: torch.rand(3, generator=model.random),
    "numpy array": lambda model, y: model.array.fill(1),
    "global generators": _draw,
    "environment": lambda model, y: os.environ.update(ODD_FLOPS="1"),
    "import path": lambda model, y: sys.path.append("odd"),
    "torch switched": _switch,
    "warning": lambda model, y: warnings.warn("odd", stacklevel=2),
    "input in place": lambda model, y: None,
    "attention state": lambda model, y: model.attention(y, y, y),
}


class Odd(nn.Module):
    """A linear layer and a batch norm, and one trick in between. needs: whether it looks at data; stops: raises."""

    def __init__(self, trick: str, needs: bool = False, stops: type[BaseException] | None = None) -> None:
        super().__init__()
        self.layer, self.norm, self.drop = nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout()
        self.attention = nn.MultiheadAttention(8, 2)
        self.layer.weight.grad = torch.ones(8, 8)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.state = {"n": torch.zeros(()), "mean": torch.zeros(8), "list": [torch.zeros(())]}
        self.thing, self.slots, self.pair = Thing(n=torch.zeros(())), Slotted(), (torch.zeros(()), {"deep": [1]})
        self.alias, self.calls, self.log = USER["mine"], 0, []
        self.iterator, self.generator = iter([1, 2, 3]), (x for x in range(3))
        self.random, self.array = torch.Generator().manual_seed(1), np.zeros(3)
        self.trick, self.needs, self.stops, self.given = trick, needs, stops, torch.zeros(2)
        if trick not in ("iterator", "generator"):
            del self.iterator, self.generator  # no copy can be made of these

    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        self.given = x.detach()
        if self.trick == "input in place":
            self.given.mul_(2)
        y = self.drop(self.norm(self.layer(x)))
        TRICKS[self.trick](self, y)
        if self.needs and y.sum().item() > 1e9:
            return x
        if self.stops is not None:
            raise self.stops("in the middle")
        return y
