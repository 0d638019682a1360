"""VGG16: thirteen 3x3 convolutions and three large linear layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

CHANNELS = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool")


class VGG(nn.Module):
    """Images (N, 3, 224, 224) to scores (N, classes)."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inside = 3
        for width in CHANNELS:
            if isinstance(width, str):
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(inside, width, 3, padding=1), nn.ReLU(inplace=True)]
                inside = width
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(7)
        self.classifier = nn.Sequential(
            nn.Linear(512 * 49, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(4096, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def vgg16(classes: int = 1000) -> VGG:
    """VGG16; 138,357,544 parameters with 1000 classes."""
    return VGG(classes)
