"""Nothing that is alive is changed by a count: photographs of everything reachable, before and after."""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from benchmarks import zoo, zoo_steps
from benchmarks.zoo_parts import Entry
from course.flops import CountError, count
from course.lessons.l03_flops.crosscheck import cross_check
from tests.support.photograph import differences, of_process, photograph

pytestmark = pytest.mark.slow

TABLES: dict[Any, Any] = {"n": torch.zeros(())}
TOTAL = torch.zeros(8)
MASK: Tensor | None = None
WEAK: Any = weakref.WeakKeyDictionary()
HELPER = types.ModuleType("odd_helper")
exec(
    "import torch\nmask = None\ndef get():\n    global mask\n"
    "    mask = torch.ones(8) if mask is None else mask\n    return mask\n"
    "last = None\ndef keep(y):\n    global last\n    last = y\n",
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


@functools.lru_cache
def cached(size: int) -> Tensor:
    return torch.ones(size)


def attributes_of_a_function() -> Tensor:
    if not hasattr(attributes_of_a_function, "table"):
        attributes_of_a_function.table = torch.ones(8)
    return attributes_of_a_function.table


def _global(model: Any, y: Tensor) -> None:
    global MASK
    MASK = torch.ones(8) if MASK is None else MASK


def _switch(model: Any, y: Tensor) -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
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
    "object": lambda model, y: model.thing.n.add_(1),
    "slots": lambda model, y: model.slots.n.add_(1),
    "tuple": lambda model, y: (model.pair[0].add_(1), model.pair[1]["deep"].append(y)),
    "attributes": _attributes,
    "hooks": _hooks,
    "module dict": lambda model, y: TABLES["n"].add_(1),
    "module tensor": lambda model, y: TOTAL.add_(y.detach().sum(0)),
    "module name": _global,
    "another file": lambda model, y: HELPER.get(),
    "another function of it": lambda model, y: HELPER.keep(y),
    "class dict": lambda model, y: Store.tables.setdefault(8, torch.ones(8)),
    "class name": lambda model, y: setattr(Store, "mask", y),
    "own class": lambda model, y: setattr(Odd, "seen", 1),
    "lru_cache": lambda model, y: cached(8),
    "function attribute": lambda model, y: attributes_of_a_function(),
    "weak dict": lambda model, y: WEAK.setdefault(model, y),
    "iterator": lambda model, y: next(model.iterator),
    "generator": lambda model, y: next(model.generator),
    "torch generator": lambda model, y: torch.rand(3, generator=model.random),
    "numpy array": lambda model, y: model.array.fill(1),
    "global generators": _draw,
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
        self.state = {"n": torch.zeros(())}
        self.thing, self.slots, self.pair = Thing(n=torch.zeros(())), Slotted(), (torch.zeros(()), {"deep": [1]})
        self.calls, self.log = 0, []
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


class Stop(BaseException):
    """Neither Exception nor KeyboardInterrupt: nobody between the model and the caller may catch it."""


def unchanged(call: Callable[[], Any], *roots: Any) -> Any:
    """What `call()` gives back, after the comparison of everything reachable from `roots` and of the process."""
    before, process, threads = photograph(*roots), of_process(), {*threading.enumerate()}
    try:
        return call()
    finally:
        now = of_process()
        assert differences(before, photograph(*roots)) == []
        assert [what for what in process if now[what] != process[what]] == []
        assert {*threading.enumerate()} <= threads  # one that an earlier test has left may end meanwhile


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """What torch and the tools import late is there before the first photograph."""
    count(nn.Linear(4, 4), torch.zeros(1, 4), training=True)
    torch.compile(nn.Linear(4, 4), backend="eager")(torch.zeros(1, 4))
    torch.jit.trace(nn.Linear(4, 4), torch.zeros(1, 4))
    with contextlib.suppress(CountError):
        cross_check(nn.Linear(4, 4), torch.zeros(1, 4))


WAYS = ("shapes", "data", "training", "error", "stop")
IN_ODD_PLACES = [
    pytest.param(trick, way, marks=() if (row + column) % 2 == 0 else pytest.mark.long)
    for row, trick in enumerate(TRICKS)
    for column, way in enumerate(WAYS)
]
"""Every second one each day, the others among the long tests."""
HONEST = ("TorchScript", "encoder with padding", "branch of torch.cond", "quantize_dynamic")
ENTRIES = [(entry, False) for entry in zoo.ZOO] + [(entry, True) for entry in zoo_steps.STEPS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("entry", "training"), ENTRIES, ids=[f"{e.name}{', step' * t}" for e, t in ENTRIES])
def test_the_zoo_is_left_as_it_was(entry: Entry, training: bool) -> None:
    """And while it is at hand: the number is the one derived by hand, and the certificate holds."""
    torch.manual_seed(0)
    model, inputs = entry.make()
    roots = () if entry.name == "TorchScript" else (model, inputs)  # that one notes on itself that it was called
    counted = unchanged(lambda: count(model, *inputs, training=training), *roots)
    assert counted.exact == (entry.name not in HONEST)
    assert counted.macs == entry.macs or not counted.exact
    assert counted.training == training
    assert sum(counted.by_operator.values()) == counted.by_module.macs == counted.macs
    assert counted.params == sum(p.numel() for p in model.parameters())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("trick", "way"), IN_ODD_PLACES)
def test_state_in_odd_places_is_left_as_it_was(trick: str, way: str) -> None:
    stops = {"error": ValueError, "stop": Stop}.get(way)
    refused = trick == "generator"  # the one thing that nobody can put back
    model, x = Odd(trick, way == "data", stops).train(), torch.randn(3, 8)

    def call() -> Any:
        with pytest.raises((CountError, Stop)) if stops or refused else contextlib.nullcontext():
            return count(model, x, training=way == "training")

    counted = unchanged(call, model, x, sys.modules[__name__])
    if not stops and not refused and trick != "attention state":
        assert counted.ground == ("real" if way == "data" else "meta")
        assert counted.macs == (2 if way == "training" else 1) * 3 * 64


def test_memory_that_numpy_writes_without_a_word_is_not_the_users() -> None:
    """In a real run: an array on the memory, a tensor moved to other memory."""

    def by_array(x: Tensor) -> Tensor:
        x.numpy()[...] = 7
        return x @ x if x.sum().item() else x

    def by_place(x: Tensor) -> Tensor:
        y = x @ x if x.sum().item() else x
        x.data = torch.zeros(2, 3)
        return y

    for forward in (by_array, by_place):
        x = torch.eye(4)
        counted = unchanged(lambda forward=forward, x=x: count(forward, x), forward, x)
        assert (counted.macs, counted.ground) == (64, "real")


def test_counts_in_several_threads_leave_the_process_as_it_was() -> None:
    """One at a time: each changes what all threads share."""
    model, x = nn.Sequential(*(nn.Linear(8, 8) for _ in range(20))), torch.ones(3, 8)

    def job(number: int) -> int:
        counted = count(lambda x: model(x) if number % 2 or x.sum().item() < 1e9 else x, x)
        return counted.macs if counted.exact else -1

    before = of_process(), sys.stdout, len(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(job, range(12))) == {20 * 3 * 64}
    assert (of_process(), sys.stdout, len(warnings.filters)) == before


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("needs", [False, True])
def test_a_function_with_a_closure(needs: bool, training: bool) -> None:
    model, total, scale = nn.Linear(8, 8), torch.zeros(8), torch.ones(8, requires_grad=True)
    seen, kept = {"calls": 0, "last": None}, []
    keep = kept.append

    def step(x: Tensor) -> Tensor:
        y = model(x) * scale
        total.add_(y.detach().sum(0))
        seen["calls"] += 1
        seen["last"] = y
        keep(y)
        return x if needs and y.sum().item() > 1e9 else y

    x = torch.randn(2, 8)
    counted = unchanged(lambda: count(step, x, training=training), step, x, kept)
    assert counted.macs == (1 + training) * 128 and counted.params == 72


def test_a_training_step_written_as_a_function() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    descent = torch.optim.AdamW(model.parameters(), 0.1)
    plan = torch.optim.lr_scheduler.StepLR(descent, 1)

    def step(x: Tensor) -> Tensor:
        descent.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        descent.step()
        plan.step()
        return loss.detach()

    x = torch.randn(6, 4)
    step(x)
    counted = unchanged(lambda: count(step, x), step, x)
    assert counted.macs == 6 * (3 * (4 * 8 + 8 * 2) - 4 * 8) and counted.exact


def test_an_optimizer_that_holds_more_than_pickle_keeps() -> None:
    model, x = nn.Linear(4, 2), torch.randn(6, 4)
    descent = torch.optim.LBFGS(model.parameters(), max_iter=1)

    def loss() -> Tensor:
        descent.zero_grad()
        found = model(x).square().mean()
        found.backward()
        return found

    counted = unchanged(lambda: count(lambda: descent.step(loss)), descent, model, x)
    assert counted.exact and counted.by_operator["addmm"] == 6 * 4 * 2 == counted.by_operator["mm"]


def test_a_cache_given_as_an_input_stays_as_it_was() -> None:
    layer, cache = nn.Linear(4, 4), Thing(layers=[Thing(keys=torch.randn(3, 4))], length=3)

    def step(x: Tensor, cache: Any) -> Tensor:
        cache.layers[0].keys, cache.length = torch.cat((cache.layers[0].keys, layer(x))), cache.length + 1
        return x @ cache.layers[0].keys.T

    x = torch.randn(4, 4)
    assert unchanged(lambda: count(step, x, cache=cache), cache, layer, x).macs == 64 + 4 * 4 * 7


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_cross_check_leaves_as_much(error: type[BaseException]) -> None:
    model, x = Odd("attributes", False, error), torch.randn(3, 8)

    def call() -> None:
        with pytest.raises(CountError if error is RuntimeError else error):
            cross_check(model, x)

    unchanged(call, model, x, sys.modules[__name__])
    whole = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).train()
    assert unchanged(lambda: cross_check(whole, x), whole, x).ours.macs == 3 * 64
