"""The models have the parameters of the published ones and give outputs of the right shape."""

from __future__ import annotations

import pytest
import torch

from course import models

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
def test_parameter_counts(name: str) -> None:
    with torch.device("meta"):
        model = getattr(models, name)()
    assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name]


def test_outputs() -> None:
    with torch.no_grad():
        image = torch.zeros(1, 3, 224, 224)
        assert models.resnet18(10).eval()(image).shape == (1, 10)
        assert models.mobilenet_v2(10).eval()(image).shape == (1, 10)
        assert models.gpt_block(64, 4)(torch.zeros(2, 5, 64)).shape == (2, 5, 64)
        assert models.unet()(torch.zeros(1, 3, 32, 40)).shape == (1, 2, 32, 40)
        assert models.lstm()(torch.zeros(2, 7, dtype=torch.long)).shape == (2, 7, 20)


@pytest.mark.parametrize("name", ["vgg16", "resnet50", "vit_b_16"])
def test_large_models_on_shapes_alone(name: str) -> None:
    with torch.device("meta"):
        assert getattr(models, name)()(torch.zeros(2, 3, 224, 224)).shape == (2, 1000)
