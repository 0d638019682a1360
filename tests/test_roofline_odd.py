"""The roofline of models that are out of the ordinary: objects as inputs and outputs, hooks that do part of the work."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from course.i18n import LANGUAGES, speaking
from course.roofline import Peaks, RooflineError, place
from course.roofline import replay as replaying

GIVEN = Peaks(1e18, 1e18, "float32", "cpu", torch.get_num_threads(), {}, "2026-05-01T00:00:00Z")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(replaying, "LARGEST_SWEEP", 2 << 20)


def placed(model, *inputs, **more):
    return place(model, *inputs, peaks=GIVEN, max_time=0.1, **more)


@dataclasses.dataclass
class Answer:
    loss: torch.Tensor
    rows: torch.Tensor


class Telling(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.net, self.form = nn.Linear(4, 4), form

    def forward(self, x):
        rows = self.net(x)
        return self.form(rows.square().mean(), rows)


def test_a_dataclass_as_output_has_bytes_and_a_backward():
    as_object, as_tuple = (
        placed(Telling(form), torch.randn(2, 4), training=True).whole for form in (Answer, lambda *both: both)
    )
    assert as_object.moved == as_tuple.moved and as_object.shape == as_tuple.shape


class Cache:
    """As a cache of keys and values: grows in each forward."""

    def __init__(self):
        self.kept = [torch.zeros(1, 4)]


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x, cache):
        cache.kept.append(self.net(x))
        return torch.cat(cache.kept)


def test_a_cache_among_the_inputs_stays_as_it_was_and_no_run_sees_a_longer_one():
    cache = Cache()
    found = placed(Growing(), torch.ones(1, 4), cache)
    assert len(cache.kept) == 1 and found.whole.output == "2x4"


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "wrap",
    [
        nn.utils.spectral_norm,
        nn.utils.parametrizations.spectral_norm,
        nn.utils.parametrizations.weight_norm,
        lambda layer: prune.l1_unstructured(layer, "weight", 0.5),
    ],
    ids=["spectral_norm, hook", "spectral_norm", "weight_norm", "prune"],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_layer_whose_weight_is_made_in_each_forward_is_one_layer(wrap, training):
    found = placed(nn.Sequential(wrap(nn.Conv2d(3, 4, 3)), nn.ReLU()), torch.randn(1, 3, 8, 8), training=training)
    assert [layer.name for layer in found.layers] == ["0", "1"] and found.layers[0].flops > 0


class Skipping(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def forward(self, x):
        return self.net(x) if self.training else x * 2


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_forward_without_a_layer_gets_a_sentence(code):
    with speaking(code), pytest.raises(RooflineError, match="Skipping.*model.train"):
        placed(Skipping().eval(), torch.ones(3, 8))
