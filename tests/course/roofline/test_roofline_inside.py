"""Where the time of one run goes, by torch.profiler: real profiles of a CPU; for a GPU, operations stand in for kernels."""

from __future__ import annotations

import statistics
import sys

import pytest
import torch
from torch import nn

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


def test_the_parts_add_up_to_all_there_is(monkeypatch):
    monkeypatch.setattr(inside, "empty_range_us", lambda: 0.0)
    model, x = Net(), torch.randn(2, 3, 16, 16)
    events = profiled(model, lambda: model(x))
    found = inside.parts_us(events, on_cuda=False)
    assert set(found) == {"conv", "act", "head", OUTSIDE} and min(found.values()) > 0
    assert sum(found.values()) == pytest.approx(sum(map(inside.own_us, events)))
    assert not any(map(len, (getattr(torch.nn.modules.module, name) for name in hooks.KEPT)))
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


def test_python_between_the_layers_is_a_row_with_its_part():
    found = place(Between(), torch.randn(2, 8), peaks=GIVEN, max_time=0.5)
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


def test_opening_a_range_is_not_time_outside_the_layers(monkeypatch):
    """What a profile adds for each layer is taken off what ran outside them, down to nothing."""
    layers = nn.Sequential(*(nn.Identity() for _ in range(200)))
    events = profiled(layers, lambda: layers(torch.zeros(1)))
    ranges = sum(event.name.startswith("layer: ") for event in events)

    def outside(cost_us):
        monkeypatch.setattr(inside, "empty_range_us", lambda: cost_us)
        return inside.parts_us(events, on_cuda=False)[OUTSIDE]

    assert ranges >= 200 and outside(0.0) - outside(0.01) == pytest.approx(0.01 * ranges) and outside(1e9) == 0.0


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


def test_a_model_is_placed_by_its_kernels(as_cuda):
    found = place(Net(), torch.randn(2, 3, 16, 16), peaks=GIVEN, max_time=0.3)
    assert [layer.name for layer in found.layers] == ["conv", "act", "head", OUTSIDE]
    assert sum(row["share_of_time"] for row in found.rows()[1:]) == pytest.approx(1)
    busy = statistics.median(map(sum, zip(*(layer.samples_ms for layer in found.layers), strict=True)))
    assert found.idle == pytest.approx(max(0.0, 1 - busy / found.whole.time_ms)) and len(found.whole.samples_ms) >= 2
    assert 0 <= found.idle < 1 and found.whole.overhead_ms == pytest.approx(found.idle * found.whole.time_ms)
    assert all(layer.overhead_ms == 0 and layer.bound != "overhead" for layer in found.layers)
    assert found.layers[0].flops > 0 and found.layers[0].calls == 1 and found.rounds >= 1
    assert "the GPU idles" in str(found)
