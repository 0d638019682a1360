"""Counting is exact, certified, and leaves nothing behind."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from course import models
from course.flops import count


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


# ---- training


def test_backward_work_belongs_to_the_module_whose_forward_it_differentiates() -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.Sequential(nn.Linear(16, 4), nn.ReLU()), nn.Linear(4, 2))
    step = count(model, torch.zeros(3, 8, requires_grad=True), training=True)
    forward = count(model, torch.zeros(3, 8))
    for name in ("0", "1", "1.0", "2"):
        assert step[name].macs == 3 * forward[name].macs


def test_checkpointing_counts_what_is_computed_again() -> None:
    from torch.utils.checkpoint import checkpoint

    pair = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
    x = torch.zeros(2, 8, requires_grad=True)
    again = count(lambda value: checkpoint(pair, value, use_reentrant=False), x, training=True)
    # two forwards, four gradients, and the first layer once more (the second stops early: nothing of it is
    # needed)
    assert again.macs == (2 + 4 + 1) * 2 * 8 * 8
    assert again["sequential_0.0"].macs == 4 * 128 and again["sequential_0.2"].macs == 3 * 128
    assert pair[0].weight.grad is None


# ---- the certificate


def test_an_operator_of_ones_own_is_unknown() -> None:
    @torch.library.custom_op("course_tests::twice", mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x @ x

    twice.register_fake(lambda x: torch.empty_like(x))
    assert count(twice, torch.zeros(4, 4)).unknown == {"course_tests::twice": 1}


def test_a_swallowed_error_does_not_count_the_wrong_path() -> None:
    layer = nn.Linear(8, 8)

    def hides(x: Tensor) -> Tensor:
        try:
            return layer(x) if x.sum().item() > 1e9 else x
        except RuntimeError:
            return layer(layer(layer(x)))

    counted = count(hides, torch.zeros(2, 8))
    assert counted.macs == 0 and counted.ground == "real"


def test_inference_mode_changes_nothing() -> None:
    model, x = models.gpt_block(32, 4), torch.zeros(2, 6, 32)
    with torch.inference_mode():
        inside, lstm = count(model, x), count(nn.LSTM(8, 16), torch.zeros(7, 3, 8))
    assert inside.macs == count(model, x).macs and inside.exact
    assert lstm.macs == 7 * 3 * 4 * 16 * (8 + 16)


# ---- callables, trees, questions


def test_methods_closures_and_keywords() -> None:
    layer = nn.Linear(4, 4)
    assert count(layer.forward, torch.zeros(1, 4)).macs == 16
    assert count(lambda x, model: layer(x) * model, torch.zeros(1, 4), model=2.0).params == 20
    assert count(nn.DataParallel(layer), torch.zeros(1, 4)).macs == 16


def test_module_tree() -> None:
    counted = count(models.vgg16(), torch.zeros(1, 3, 224, 224))
    assert counted["classifier.0"].macs == 25088 * 4096 and counted["classifier.0"].name == "classifier.0"
    assert counted[""] is counted.by_module
    assert counted["features"].macs == 15_346_630_656
    assert [row["module"] for row in counted.rows(1)] == ["", "features", "avgpool", "classifier"]
    with pytest.raises(KeyError, match="no module 'head'"):
        counted["head"]


def test_a_shared_module_counts_each_call() -> None:
    layer = nn.Linear(4, 4)
    counted = count(nn.Sequential(layer, nn.ReLU(), layer), torch.zeros(1, 4))
    assert counted.macs == 32 and counted.params == 20


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fused_torchscript_is_flagged() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    fused = torch.jit.optimize_for_inference(torch.jit.script(net))
    assert not count(fused, torch.zeros(1, 3, 8, 8)).exact


PARAMETERS = {
    "vgg16": 138_357_544,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "mobilenet_v2": 3_504_872,
    "vit_b_16": 86_567_656,
    "gpt_block": 7_087_872,
    "unet": 482_050,
    "lstm": 2_206_740,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_models_have_the_parameters_of_the_published_ones(name: str) -> None:
    with torch.device("meta"):
        model = getattr(models, name)()
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name]
