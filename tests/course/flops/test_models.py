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
