"""Stand-ins pass for real tensors: a forward that asks them takes the way it takes on real data."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.flops import count
from course.flops.disguise import NotHere
from course.flops.grounds import MetaGround

X = torch.randn(4, 4)


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
    "autocast by its device": lambda x: torch.autocast(x.device.type)(lambda: x @ x)(),
    **{f"{name}, swallowed": _without(lambda x, name=name: getattr(x, name)())
       for name in ("tolist", "item", "numpy", "__array__", "data_ptr", "__repr__")},
}


@pytest.mark.parametrize("name", ASKS)
def test_asking_a_stand_in_changes_nothing(name: str) -> None:
    x = X[:1, :1] if "item" in name else X
    assert count(ASKS[name], x).macs == len(x) ** 3


def test_a_choice_by_device_needs_no_data() -> None:
    counted = count(lambda x, ids: x @ x[ids.to(x.device).long()] if ids.all() else x, X, torch.ones(4, dtype=torch.int))
    assert (counted.macs, counted.ground) == (64, "meta")
    assert count(lambda x: x @ x if x.is_meta else x, X.to("meta")).macs == 64  # that one tells the truth


def test_models_elsewhere_keep_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with a GPU; tensors on several devices go to the ground that knows each."""
    monkeypatch.setattr(MetaGround, "_where", lambda self: torch.device("cuda:1"))
    counted = count(lambda x: x @ x if x.is_cuda and not x.is_cpu and x.device.index == 1 else x, X)
    assert (counted.macs, counted.ground) == (64, "meta")
    monkeypatch.undo()
    ground = MetaGround()
    ground._devices = {torch.device("cpu"), torch.device("cuda:0")}
    with pytest.raises(NotHere):
        ground._where()
    assert ground.refused


def test_a_tensor_prints_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert count(lambda x: (print(x.sum()), x @ x)[1], torch.ones(2, 2)).macs == 8
    assert capsys.readouterr().out == "tensor(4.)\n"


def test_a_parameter_keeps_its_attributes_and_its_class() -> None:
    class Half(nn.Parameter):
        def half(self) -> Tensor:
            return self / 2

    layer = nn.Linear(4, 4)
    layer.weight.scale = 2.0
    layer.bias = Half(torch.zeros(4))

    def forward(x: Tensor) -> Tensor:
        return F.linear(x, layer.weight * layer.weight.scale) + layer.bias.half()

    assert count(forward, X).macs == 64
    assert count(layer.forward, X).macs == 64 and type(layer.bias) is Half


def test_a_class_of_tensors_keeps_its_way() -> None:
    class Image(Tensor):
        pass

    assert count(lambda x: x @ x if isinstance(x, Image) else x, X.as_subclass(Image)).macs == 64


@pytest.mark.parametrize("hand_over", [
    lambda f: ThreadPoolExecutor(1).submit(f).result(), lambda f: ThreadPool(1).map(lambda _: f(), [0])[0],
    lambda f: (thread := threading.Thread(target=f), thread.start(), thread.join()),
])
def test_work_in_another_thread_is_named(hand_over: Callable[[Callable[[], Any]], Any]) -> None:
    before = threading.Thread.start, ThreadPoolExecutor.submit
    counted = count(lambda x: (hand_over(lambda: x @ x), x @ x)[1], X)
    assert counted.unknown["work in another thread"] and not counted.exact
    assert (threading.Thread.start, ThreadPoolExecutor.submit) == before


def test_a_hook_on_a_gradient_is_named() -> None:
    layer = nn.Linear(4, 4)
    layer.weight.register_hook(lambda grad: grad @ grad)
    assert count(layer, X).exact
    assert count(layer, X, training=True).unknown == {"hook on the gradient of a parameter": 1}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_attention_of_jagged_rows_is_named() -> None:
    rows = torch.nested.nested_tensor([torch.randn(2, 8), torch.randn(4, 8)], layout=torch.jagged)

    def attend(rows: Tensor) -> Tensor:
        heads = rows.unflatten(-1, [2, 4]).transpose(1, 2)
        return F.scaled_dot_product_attention(heads, heads, heads)

    assert count(attend, rows).unknown


# ---- what a training step finds in an output, and what it leaves


@dataclass(slots=True)
class Slots:
    """An output without `__dict__`."""

    y: Any


class Thing:
    """An object with attributes."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


OUTPUTS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "slots": lambda a, b: Slots([a, b]), "lists in objects": lambda a, b: Thing(parts=[a, {"b": b}]),
    "objects in objects": lambda a, b: Thing(inner=Thing(a=a), b=b), "in a dict of sets": lambda a, b: {"s": Slots((a, Thing(b=b)))},
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_tensor_of_an_output_has_a_gradient(name: str) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    assert count(lambda x: OUTPUTS[name](first(x), second(x)), X, training=True).macs == 4 * 64


class Trainer:
    """A model inside an object, as libraries for training keep it."""

    def __init__(self) -> None:
        self.model, self.extra = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), [torch.randn(4, requires_grad=True)]
        self.seen, self.log = 0, Thing(values=[1, {"deep": []}])

    def __call__(self, x: Tensor) -> Tensor:
        return self.predict(x)

    def predict(self, x: Tensor) -> Tensor:
        self.seen += 1
        self.log.values[1]["deep"].append(x)
        self.log.last = x
        return self.model(x) * self.extra[0]


KEPT = Trainer()


def _helper(x: Tensor) -> Tensor:
    return KEPT.model(x) * KEPT.extra[0]


def _through_a_helper(x: Tensor) -> list[Tensor]:
    return [_helper(each) for each in (x,)]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("call", [KEPT, KEPT.predict, _helper, _through_a_helper, lambda x: KEPT(x)])
def test_nothing_is_left_in_a_model_behind_a_function(call: Callable[[Tensor], Any], training: bool) -> None:
    def picture() -> list[Any]:
        state = {name: value.clone() for name, value in KEPT.model.state_dict(keep_vars=True).items()}
        return [str(state), [p.grad for p in (*KEPT.model.parameters(), *KEPT.extra)], KEPT.seen, str(KEPT.log.values),
                sorted(vars(KEPT.log))]

    before = picture()
    counted = count(call, X, training=training)
    assert picture() == before
    assert counted.macs == (2 if training else 1) * 64 and counted.params == 28


class Cache:
    """Keys seen so far, as in text generation."""

    def __init__(self) -> None:
        self.layers, self.length = [Thing(keys=torch.randn(3, 4))], 3

    def grow(self, keys: Tensor) -> Tensor:
        self.layers[0].keys, self.length = torch.cat((self.layers[0].keys, keys)), self.length + 1
        return self.layers[0].keys


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("needs_data", [False, True])
def test_a_cache_given_as_an_input_stays_as_it_was(by_name: bool, needs_data: bool) -> None:
    layer, cache = nn.Linear(4, 4), Cache()
    keys = cache.layers[0].keys
    before, copied = keys.clone(), copy.deepcopy(cache)

    def step(x: Tensor, cache: Cache) -> Tensor:
        return x @ cache.grow(layer(x)).T if not needs_data or x.sum().item() < 1e9 else x

    counted = count(step, X, cache=cache) if by_name else count(step, X, cache)
    assert counted.macs == 64 + 4 * 4 * 7
    assert cache.layers[0].keys is keys and torch.equal(keys, before) and cache.length == 3
    step(X, copied)
    assert copied.length == 4
