"""The roofline on a GPU: each layer's kernels inside the whole. Real profiles of a CPU stand in, operations in place of kernels."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from course.i18n import LANGUAGES, speaking
from course.profiled import events_of
from course.roofline import Peaks, kernels, place
from course.roofline.advice import for_whole

KERNELS_US = kernels.kernels_us  # the real one
GIVEN = Peaks(1e18, 1e18, "float32", "cuda", torch.get_num_threads(), {}, "2026-05-01T00:00:00Z")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act, self.head = nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.act(self.conv(x)).mean((2, 3)))


def own_us(event):
    return event.self_cpu_time_total


def profiled(model, call):
    with kernels.ranges(model.named_children()):
        return events_of(call, on_cuda=False)


@pytest.fixture(autouse=True)
def operations_for_kernels(monkeypatch):
    monkeypatch.setattr(kernels, "kernels_us", own_us)


@pytest.mark.parametrize("training", [False, True])
def test_the_parts_add_up_to_all_operations(training):
    model, x = Net().train(training), torch.randn(2, 3, 16, 16)
    events = profiled(model, lambda: model(x).square().mean().backward() if training else model(x))
    found = kernels.of_layers(events)
    assert set(found) == {"conv", "act", "head", kernels.OUTSIDE}
    assert sum(found.values()) == pytest.approx(sum(own_us(e) for e in events if not e.is_user_annotation))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_backward_operation_belongs_to_the_layer_of_its_forward(monkeypatch):
    model, x = Net(), torch.randn(2, 3, 16, 16)
    events = profiled(model, lambda: model(x).square().mean().backward())
    backward = [event for event in events if event.name == "aten::convolution_backward"]
    assert backward and kernels._range(backward[0]) is None
    monkeypatch.setattr(kernels, "kernels_us", lambda event: 1.0 if event in backward else 0.0)
    assert kernels.of_layers(events) == {"conv": len(backward)}


def test_kernels_are_summed_and_changes_of_layout_are_told_by_their_names():
    event = SimpleNamespace(kernels=[SimpleNamespace(duration=3.0), SimpleNamespace(duration=4.5)])
    assert KERNELS_US(event) == 7.5

    def kernel(name, us):
        span = SimpleNamespace(start=0.0, end=us)
        return SimpleNamespace(name=name, device_type="DeviceType.CUDA", time_range=span)

    ran = [kernel("void cudnn::ops::nchwToNhwcKernel<float>", 20.0), kernel("sm90_xmma_fprop", 60.0)]
    assert kernels.conversions_share(ran) == 0.25 and kernels.conversions_share([]) == 0.0


@pytest.fixture
def as_cuda(monkeypatch):
    """`place` takes its way for a GPU, over a real profile of the CPU."""
    module = sys.modules["course.roofline.place"]
    monkeypatch.setattr(kernels, "events_of", lambda work, on_cuda: events_of(work, on_cuda=False))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    real = module._Run.__init__

    def init(self, *arguments):
        real(self, *arguments)
        self.on_cuda, self.tiny = True, []

    monkeypatch.setattr(module._Run, "__init__", init)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("training", [False, True])
def test_a_model_is_placed_by_its_kernels(as_cuda, training, code):
    model, x = Net().train(training), torch.randn(2, 3, 16, 16)
    with speaking(code):
        found = place(model, x, peaks=GIVEN, max_time=0.3, training=training)
        text = str(found)
    assert [layer.name for layer in found.layers] == ["conv", "act", "head", kernels.OUTSIDE]
    assert sum(row["share_of_time"] for row in found.rows()[1:]) == pytest.approx(1, abs=0.2)
    assert 0 <= found.idle < 1 and found.whole.overhead_ms == pytest.approx(found.idle * found.whole.time_ms)
    assert all(layer.overhead_ms == 0 and layer.bound != "overhead" for layer in found.layers)
    assert found.layers[0].flops > 0 and found.layers[0].calls == 1 and found.rounds >= 2
    assert ("the GPU idles" if code == "en" else "GPU 闲着") in text
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_to_try_first_follows_from_what_was_measured(code):
    with speaking(code):
        said = [for_whole(0.4, 0.3, "float32"), for_whole(0.06, 0.3, "float32"), for_whole(0.06, 0.0, "float32")]
    for sentence, word in zip(said, ("reduce-overhead", "channels_last", "torch.autocast"), strict=True):
        assert word in sentence
    assert for_whole(0.06, 0.0, "bfloat16") == ""
