"""Stand-ins pass for the tensors they stand for, and what cannot be seen is never called exact."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace as Thing
from typing import Any

import markupsafe._speedups as compiled  # code in C that is neither Python's nor torch's
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.zoo import ZOO
from benchmarks.zoo_parts import Entry, Square
from benchmarks.zoo_steps import STEPS
from course.flops import CountError, count
from course.flops.copies import Real
from course.flops.counting import attempt

X = torch.eye(4)
HONEST = ("TorchScript", "padding", "branch of torch.cond", "quantize_dynamic")
SMALL = [
    (entry, training)
    for zoo, training in ((ZOO, False), (STEPS, True))
    for entry in zoo
    if entry.macs < 300_000 and not any(name in entry.name for name in HONEST)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("entry", "training"), SMALL[::4], ids=[f"{e.name}{', step' * t}" for e, t in SMALL[::4]])
def test_a_real_run_gives_the_same_number(entry: Entry, training: bool) -> None:
    """The fused kernels of this machine count as their mathematics does."""
    torch.manual_seed(0)
    model, inputs = entry.make()
    counted = attempt(model, inputs, {}, training, Real())
    assert (counted.macs, counted.ground) == (entry.macs, "real")


# ---- questions


def _without(take: Callable[[Tensor], Any]) -> Callable[[Tensor], Tensor]:
    """A forward that does without its work when the data cannot be had, and says nothing."""

    def forward(x: Tensor) -> Tensor:
        try:
            take(x)
        except Exception:
            return x
        return x @ x

    return forward


ASKS: dict[str, Callable[[Tensor], Tensor]] = {
    "device": lambda x: x @ x if x.device.type == "cpu" else x,
    "device of a result": lambda x: x @ x if (x + 1).device == torch.device("cpu") else x,
    "is_cpu": lambda x: x @ x if x.is_cpu else x,
    "is_cuda": lambda x: x if x.is_cuda else x @ x,
    "is_meta": lambda x: x if x.is_meta else x @ x,
    "one of its own": lambda x: x @ x if torch.ones(2).device == x.device else x,
    "type of a tensor": lambda x: x @ x if x.type() == "torch.FloatTensor" and isinstance(x, torch.FloatTensor) else x,
    "type": lambda x: x @ x if type(x) is torch.Tensor else x,
    "attributes": lambda x: x if vars(x) or "fake_mode" in dir(x) else x @ x,
    "type by another name": lambda x, its=type: x @ x if its(x) is torch.Tensor else x,
    "text": lambda x: x @ x if "Fake" not in f"{x.sum()}" else x,
    "class": lambda x: x @ x if x.__class__ is torch.Tensor else x,
    "autocast by its device": lambda x: torch.autocast(x.device.type)(lambda: x @ x)(),
    **{
        f"{name}, swallowed": _without(lambda x, name=name: getattr(x, name)())
        for name in ("tolist", "item", "numpy", "__array__", "data_ptr", "__repr__")
    },
}


@pytest.mark.parametrize("name", ASKS)
def test_asking_a_stand_in_changes_nothing(name: str) -> None:
    x = X[:1, :1] if "item" in name else X
    assert count(ASKS[name], x).macs == len(x) ** 3


def test_a_parameter_keeps_its_attributes_and_a_tensor_its_class() -> None:
    class Half(nn.Parameter):
        def half(self) -> Tensor:
            return self / 2

    class Image(Tensor):
        pass

    layer = nn.Linear(4, 4)
    layer.weight.scale = 2.0
    layer.bias = Half(torch.zeros(4))

    def forward(x: Tensor) -> Tensor:
        return F.linear(x, layer.weight * layer.weight.scale) + layer.bias.half()

    assert count(forward, X).macs == 64
    assert count(layer.forward, X).macs == 64 and type(layer.bias) is Half
    assert count(lambda x: x @ x if isinstance(x, Image) else x, X.as_subclass(Image)).macs == 64


class Tied(nn.Module):
    """Writes 2 to a pair and runs its layer as often as the twin of the pair says, which looks at the same memory."""

    def __init__(self, pair: Any, twin: Any) -> None:
        super().__init__()
        self.layer, self.pair, self.twin = nn.Linear(4, 4), pair, twin

    def forward(self, x: Tensor) -> Tensor:
        self.pair[1] += 2
        for _ in range(int(self.twin[1])):
            x = self.layer(x)
        return x


def _pairs() -> dict[str, tuple[Any, Any]]:
    array, whole, back = np.zeros(2, np.int64), torch.zeros(4, dtype=torch.long), torch.zeros(2, dtype=torch.long)
    rows, shared = np.zeros((2, 2), np.int64), torch.zeros(4, dtype=torch.long).share_memory_()
    return {
        "a tensor on an array": (array, torch.from_numpy(array)),
        "an array on a tensor": (back, back.numpy()),
        "an array on an array": (rows[0], rows.reshape(-1)),
        "a tensor on a tensor": (whole, whole[:3]),
        "between processes": (shared, shared[:3]),
    }


@pytest.mark.parametrize("name", _pairs())
def test_values_on_one_memory_stay_on_one(name: str) -> None:
    """Or, where NumPy has a part in it, the count is not called exact."""
    pair, twin = _pairs()[name]
    counted = count(Tied(pair, twin), X)
    assert (counted.macs == 2 * 64 or not counted.exact) and not pair.any() and not twin.any()


# ---- what is out of sight


THREADS: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "executor": lambda f: ThreadPoolExecutor(1).submit(f).result(),
    "pool": lambda f: ThreadPool(1).map(lambda _: f(), [0])[0],
    "thread": lambda f: (thread := threading.Thread(target=f), thread.start(), thread.join()),
}


@pytest.mark.parametrize("name", THREADS)
def test_work_in_another_thread_is_named(name: str) -> None:
    layer = nn.Linear(4, 4)
    counted = count(lambda x: (THREADS[name](lambda: layer(x)), layer(x))[1], X)
    assert counted.macs >= 64 and counted.unknown["work in another thread"]


class Worker(nn.Module):
    """Works through a queue, with a thread that runs all the time."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.asked, self.told = nn.Linear(4, 4), queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while True:
            self.told.put(self.layer(self.asked.get()))

    def forward(self, x: Tensor) -> Tensor:
        self.asked.put(x)
        return self.told.get()


def test_a_thread_of_the_users_own_is_not_waited_for() -> None:
    model = Worker()
    with pytest.raises(CountError, match="uses a Queue"):
        count(model, X)
    assert model.thread.is_alive() and model(X).shape == (4, 4)


def test_a_hook_that_keeps_outputs_keeps_none_of_a_count() -> None:
    kept: list[Tensor] = []
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda module, inputs, output: kept.append(output))
    with torch.autograd.graph.saved_tensors_hooks(lambda x: (kept.append(x), x)[1], lambda x: x):
        assert count(layer, X).exact and count(layer, X, training=True).exact
    assert kept == []


def test_compiled_code_of_others_is_named() -> None:
    """It may do anything with a tensor; and it gets the tensors themselves, not their stand-ins."""
    counted = count(lambda x: (compiled, x @ x)[1], X)
    assert set(counted.unknown) == {"markupsafe._speedups (compiled code)"}


def test_an_object_that_cannot_be_copied_is_refused_if_it_is_the_users() -> None:
    class Raw:
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise TypeError("cannot pickle")

        def __call__(self, x: Tensor) -> Tensor:
            return x @ x

    raw = Raw()
    with pytest.raises(CountError, match="uses a Raw"):
        count(lambda x: raw(x), X)
    Raw.__module__ = "made_by_a_compiler"
    assert count(lambda x: raw(x), X).macs == 64


def test_a_hook_on_a_gradient_is_named() -> None:
    layer = nn.Linear(4, 4)
    layer.weight.register_hook(lambda grad: grad @ grad)
    assert count(layer, X).exact and not count(layer, X, training=True).exact


# ---- outputs, helpers, transforms


@dataclass(slots=True)
class Slots:
    """An output without `__dict__`."""

    y: Any


OUTPUTS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "slots": lambda a, b: Slots([a, b]),
    "lists in objects": lambda a, b: Thing(parts=[a, {"b": b}]),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_tensor_of_an_output_has_a_gradient(name: str) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    assert count(lambda x: OUTPUTS[name](first(x), second(x)), X, training=True).macs == 4 * 64


class Trainer:
    """A model inside an object, as libraries for training keep it."""

    def __init__(self) -> None:
        self.model, self.extra = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), [torch.randn(4, requires_grad=True)]

    def __call__(self, x: Tensor) -> Tensor:
        return self.predict(x)

    def predict(self, x: Tensor) -> Tensor:
        self.last = x
        return self.model(x) * self.extra[0]


KEPT = Trainer()


def _through_a_helper(x: Tensor) -> list[Tensor]:
    return [KEPT.model(each) * KEPT.extra[0] for each in (x,)]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("call", [KEPT, KEPT.predict, _through_a_helper, lambda x: KEPT(x)])
def test_a_model_behind_a_function(call: Callable[[Tensor], Any], training: bool) -> None:
    counted = count(call, X, training=training)
    assert counted.macs == (1 + training) * 64 and counted.params == 28 and not hasattr(KEPT, "last")


def test_forward_mode_derivatives_are_counted_exactly() -> None:
    layer, x = nn.Linear(8, 8), torch.randn(2, 8)
    counted = count(lambda x: torch.func.jvp(layer, (x,), (torch.ones_like(x),)), x)
    assert counted.exact  # torch multiplies by the zero tangent of the weight too
    assert counted.macs == 3 * 2 * 8 * 8


class _ByNumPy(Square):
    """A product whose gradient is computed in NumPy."""

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, w = ctx.saved_tensors
        return torch.from_numpy(grad.detach().numpy() @ w.detach().numpy().T), x.T @ grad


def _step(x: Tensor, w: Tensor) -> Tensor:
    loss = _ByNumPy.apply(x, w).sum()
    loss.backward()
    return loss.detach()


@pytest.mark.parametrize(("forward", "training"), [(_ByNumPy.apply, True), (_step, False)])
def test_data_that_leave_torch_in_a_gradient_are_named(forward: Callable[..., Any], training: bool) -> None:
    x, w = (torch.ones(4, 4, requires_grad=True) for _ in "xw")
    run = torch.autograd._engine_run_backward
    counted = count(forward, x, w, training=training)
    assert counted.macs == 128 and any("NumPy" in name for name in counted.unknown)
    assert torch.autograd._engine_run_backward is run and w.grad is None
