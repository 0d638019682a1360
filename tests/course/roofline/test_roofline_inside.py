"""Where the time of one run goes, by torch.profiler: real profiles of a CPU; for a GPU, operations stand in for kernels."""

from __future__ import annotations

import statistics
import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course.core.profiled import events_of
from course.roofline import Peaks, hooks, inside, place
from course.roofline.layer import OUTSIDE
from course.roofline.place import _Run
from course.roofline.replay import Unit

GIVEN = Peaks(1e18, 1e18, "float32", "cuda", torch.get_num_threads(), {}, "2026-05-01T00:00:00Z")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act, self.head = nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.act(self.conv(x)).mean((2, 3)))


def profiled(model, call):
    return inside.profiled(call, [Unit(name, module) for name, module in model.named_children()], on_cuda=False)


@pytest.mark.parametrize("training", [False, True])
def test_the_parts_add_up_to_all_there_is(training, monkeypatch):
    monkeypatch.setattr(inside, "empty_range_us", lambda: 0.0)
    model, x = Net().train(training), torch.randn(2, 3, 16, 16)
    events = profiled(model, lambda: model(x).square().mean().backward() if training else model(x))
    found = inside.parts_us(events, on_cuda=False)
    assert set(found) == {"conv", "act", "head", OUTSIDE} and min(found.values()) > 0
    assert sum(found.values()) == pytest.approx(sum(map(inside.own_us, events)))
    assert not any(map(len, (getattr(torch.nn.modules.module, f"_global{name}") for name in hooks.OWN)))
    assert not any(module._forward_pre_hooks_with_kwargs for module in model.modules())


class Between(nn.Module):
    """A layer, then the same operator in the forward itself, then Python."""

    def __init__(self):
        super().__init__()
        self.one, self.rows = nn.Linear(8, 8), nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        x = nn.functional.linear(self.one(x), self.rows)
        sum(range(300_000))
        return x


def test_a_backward_operation_belongs_to_where_its_forward_ran(monkeypatch):
    model, x = Between(), torch.randn(2, 8)
    events = profiled(model, lambda: model(x).sum().backward())
    nodes = [
        event for event in events if "evaluate_function" in event.name and "mmBackward0" in event.name.replace("M", "m")
    ]
    assert len(nodes) == 2 and all(inside._range(node) is None for node in nodes)
    monkeypatch.setattr(inside, "own_us", lambda event: 1.0 if event in nodes else 0.0)
    monkeypatch.setattr(inside, "empty_range_us", lambda: 0.0)
    parts = inside.parts_us(events, on_cuda=False)
    assert {name: us for name, us in parts.items() if us} == {"one": 1.0, OUTSIDE: 1.0}


@pytest.mark.parametrize("training", [False, True])
def test_python_between_the_layers_is_a_row_with_its_part(training):
    found = place(Between(), torch.randn(2, 8), peaks=GIVEN, max_time=0.5, training=training)
    one, rest = found.rows()[1:]
    assert (one["layer"], rest["layer"]) == ("one", OUTSIDE) and rest["share_of_time"] > 0.8
    assert one["share_of_time"] + rest["share_of_time"] == pytest.approx(1)
    assert rest["flops"] >= one["flops"] > 0  # of the function that the forward calls


def test_on_a_device_without_a_profile_the_rest_of_the_whole_is_outside(monkeypatch):
    monkeypatch.setattr(sys.modules["course.roofline.place"], "FOR_PROFILES", {})
    found = place(Between(), torch.randn(2, 8), peaks=GIVEN, max_time=0.3)
    one, rest = found.layers
    assert (
        rest.name == OUTSIDE
        and rest.time_ms == pytest.approx(found.whole.time_ms - one.time_ms)
        and rest.time_ms > one.time_ms
    )


def test_what_runs_again_in_a_backward_belongs_to_its_layer():
    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.Linear(256, 256)

        def forward(self, x):
            return checkpoint(self.part, x, use_reentrant=False)

    model = Again()
    events = profiled(model, lambda: model(torch.randn(64, 256)).sum().backward())
    assert sum(event.name == "layer: part" for event in events) == 2
    again = [event for event in events if event.name == "aten::linear" and inside._node(event) is not None]
    assert again and all(inside._range(event) == "part" for event in again)


def test_opening_a_range_is_not_time_outside_the_layers(monkeypatch):
    """What a profile adds for each layer is taken off what ran outside them, down to nothing."""
    layers = nn.Sequential(*(nn.Identity() for _ in range(200)))
    events = profiled(layers, lambda: layers(torch.zeros(1)))
    ranges = sum(event.name.startswith("layer: ") for event in events)

    def outside(cost_us):
        monkeypatch.setattr(inside, "empty_range_us", lambda: cost_us)
        return inside.parts_us(events, on_cuda=False)[OUTSIDE]

    assert ranges >= 200 and outside(0.0) - outside(0.01) == pytest.approx(0.01 * ranges) and outside(1e9) == 0.0


def test_kernels_are_summed_and_changes_of_layout_are_told_by_their_names():
    event = SimpleNamespace(kernels=[SimpleNamespace(duration=3.0), SimpleNamespace(duration=4.5)])
    assert inside.kernels_us(event) == 7.5
    assert inside.kernels_us(SimpleNamespace(kernels=event.kernels, is_user_annotation=True)) == 0.0

    def kernel(name, us):
        span = SimpleNamespace(start=0.0, end=us, elapsed_us=lambda: us)
        return SimpleNamespace(name=name, device_type="DeviceType.CUDA", time_range=span)

    ran = [kernel("void cudnn::ops::nchwToNhwcKernel<float>", 20.0), kernel("sm90_xmma_fprop", 60.0)]
    assert inside.conversions_share(ran) == 0.25 and inside.conversions_share([]) == 0.0


@pytest.fixture
def as_cuda(monkeypatch):
    """`place` takes its way for a GPU, over a real profile of the CPU."""
    monkeypatch.setattr(inside, "events_of", lambda work, on_cuda: events_of(work, on_cuda=False))
    monkeypatch.setattr(inside, "kernels_us", lambda event: 0.0 if event.is_user_annotation else inside.own_us(event))
    real = _Run.measure

    def measure(self):
        self.kind, self.floor = "cuda", []
        real(self)

    monkeypatch.setattr(_Run, "measure", measure)


@pytest.mark.parametrize("training", [False, True])
def test_a_model_is_placed_by_its_kernels(as_cuda, training):
    model, x = Net().train(training), torch.randn(2, 3, 16, 16)
    found = place(model, x, peaks=GIVEN, max_time=0.3, training=training)
    assert [layer.name for layer in found.layers] == ["conv", "act", "head", OUTSIDE]
    assert sum(row["share_of_time"] for row in found.rows()[1:]) == pytest.approx(1)
    busy = statistics.median(map(sum, zip(*(layer.samples_ms for layer in found.layers), strict=True)))
    assert found.idle == pytest.approx(max(0.0, 1 - busy / found.whole.time_ms)) and len(found.whole.samples_ms) >= 2
    assert 0 <= found.idle < 1 and found.whole.overhead_ms == pytest.approx(found.idle * found.whole.time_ms)
    assert all(layer.overhead_ms == 0 and layer.bound != "overhead" for layer in found.layers)
    assert found.layers[0].flops > 0 and found.layers[0].calls == 1 and found.rounds >= 1
    assert "the GPU idles" in str(found)
    assert all(p.grad is None for p in model.parameters())
