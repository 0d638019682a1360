"""Models that keep tensors outside themselves: after a count they compute what they computed before."""

from __future__ import annotations

import contextvars
import functools
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from course.flops import count

TABLES: dict[Any, Any] = {}
MASK = None
SETTINGS = types.SimpleNamespace(seen=3)
THREAD = threading.local()
CONTEXT: contextvars.ContextVar[Any] = contextvars.ContextVar("context", default=None)
WEAK: Any = weakref.WeakKeyDictionary()


@functools.lru_cache
def cached(size: int) -> Tensor:
    return torch.ones(size)


@functools.cache
def cached_pair(size: int) -> tuple[Tensor, Tensor]:
    return torch.ones(size), torch.ones(size)[None]


class Store:
    tables: dict[int, Tensor] = {}
    mask: Tensor | None = None
    only: Store | None = None

    def __init__(self) -> None:
        self.table = torch.ones(8)

    @functools.lru_cache  # noqa: B019
    def method(self, size: int) -> Tensor:
        return torch.ones(size)

    @classmethod
    def get(cls) -> Tensor:
        if cls.only is None:
            cls.only = cls()
        return cls.only.table


def in_dictionary(_: nn.Module) -> Tensor:
    return TABLES.setdefault(8, [torch.ones(8), {"more": (torch.ones(8),)}])[1]["more"][0]


def in_file(_: nn.Module) -> Tensor:
    global MASK
    MASK = torch.ones(8) if MASK is None else MASK
    return MASK


def in_class_dictionary(_: nn.Module) -> Tensor:
    return Store.tables.setdefault(8, torch.ones(8))


def in_class(_: nn.Module) -> Tensor:
    Store.mask = torch.ones(8) if Store.mask is None else Store.mask
    return Store.mask


def in_function(_: nn.Module) -> Tensor:
    if not hasattr(in_function, "table"):
        in_function.table = torch.ones(8)
    return in_function.table


def in_default(_: nn.Module, tables: dict[int, Tensor] = {}) -> Tensor:  # noqa: B006
    return tables.setdefault(8, torch.ones(8))


def in_object(_: nn.Module) -> Tensor:
    if not hasattr(SETTINGS, "table"):
        SETTINGS.table = torch.ones(8)
    return SETTINGS.table


def in_thread(_: nn.Module) -> Tensor:
    if not hasattr(THREAD, "table"):
        THREAD.table = torch.ones(8)
    return THREAD.table


def in_context(_: nn.Module) -> Tensor:
    if CONTEXT.get() is None:
        CONTEXT.set(torch.ones(8))
    return CONTEXT.get()


def beside_the_model(model: nn.Module) -> Tensor:
    if model not in WEAK:
        WEAK[model] = torch.ones(8)
    return WEAK[model]


def of_the_weights(model: nn.Module) -> Tensor:
    return TABLES.setdefault("weights", model.layer.weight.detach().t()[0])


PLACES: list[Callable[[nn.Module], Tensor]] = [
    in_dictionary, in_file, in_class_dictionary, in_class, in_function, in_default, in_object, in_thread, in_context,
    beside_the_model, of_the_weights, lambda _: cached(8), lambda _: cached_pair(8)[1], lambda _: Store().method(8),
    lambda _: Store.get(),
]


class Model(nn.Module):
    def __init__(self, place: Callable[[nn.Module], Tensor], stops: str) -> None:
        super().__init__()
        self.layer, self.place, self.stops = nn.Linear(8, 8), place, stops

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x) * self.place(self)
        if self.stops == "on data" and y.sum().item() > 1e9:
            return x
        if self.stops == "always":
            raise ValueError("stopped")
        return y


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("stops", ["never", "on data", "always"])
@pytest.mark.parametrize("training", [False, True])
def test_the_model_works_as_before(place: Callable[[nn.Module], Tensor], stops: str, training: bool) -> None:
    TABLES.clear(), Store.tables.clear(), cached.cache_clear(), cached_pair.cache_clear(), Store.method.cache_clear()
    model, x = Model(place, stops), torch.randn(2, 8)
    if stops == "always":
        with pytest.raises(ValueError, match="stopped"):
            count(model, x, training=training)
        model.stops = "never"
    else:
        assert count(model, x, training=training).macs == (2 if training else 1) * 2 * 8 * 8
    factor = model.layer.weight.t()[0] if place is of_the_weights else 1
    assert torch.equal(model(x), model.layer(x) * factor)


def test_what_was_there_stays() -> None:
    kept = TABLES[8] = [torch.ones(8), {"more": (torch.full((8,), 2.0),)}]
    TABLES["other"] = 5
    count(Model(in_dictionary, "never"), torch.randn(2, 8))
    assert TABLES[8] is kept and TABLES["other"] == 5 and kept[1]["more"][0][0] == 2


def test_a_helper_in_another_file(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = types.ModuleType("acme_tables")
    exec("import torch\nmask = None\ndef get(_):\n    global mask\n"
         "    mask = torch.ones(8) if mask is None else mask\n    return mask\n", vars(helper))
    monkeypatch.setitem(sys.modules, "acme_tables", helper)
    monkeypatch.setitem(globals(), "acme", helper)
    model, x = Model(lambda model: helper.get(model), "never"), torch.randn(2, 8)
    count(model, x)
    assert helper.mask is None and torch.equal(model(x), model.layer(x))


def test_a_container_that_loads_when_asked_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading(dict):
        def __init__(self, needed: int) -> None:
            super().__init__(a=1)

        def values(self) -> Any:
            raise AssertionError("asked")

        items = copy = values

    monkeypatch.setitem(globals(), "LOADING", Loading(1))
    model = Model(in_dictionary, "never")
    model.loading = Loading(2)
    assert count(model, torch.randn(2, 8)).exact


class Pickling(nn.Module):
    """Writes down what passes through, as a hook for debugging does."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(pickle.loads(pickle.dumps(x)))


def test_a_forward_that_pickles_a_tensor_does_not_end_the_process() -> None:
    counted = count(Pickling(), torch.randn(2, 8))
    assert (counted.macs, counted.ground) == (2 * 8 * 8, "real")


def test_forward_mode_derivatives_are_counted_exactly() -> None:
    layer, x = nn.Linear(8, 8), torch.randn(2, 8)
    counted = count(lambda x: torch.func.jvp(layer, (x,), (torch.ones_like(x),)), x)
    assert counted.exact  # torch multiplies by the zero tangent of the weight too
    assert counted.macs == 3 * 2 * 8 * 8
