"""ResNet18 and ResNet50: residual blocks of two 3x3 convolutions, or of 1x1, 3x3, 1x1."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Basic(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    expansion = 1

    def __init__(self, inside: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + shortcut)


class Bottleneck(nn.Module):
    """1x1 down, 3x3, 1x1 up by four, beside a shortcut."""

    expansion = 4

    def __init__(self, inside: int, width: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * 4)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        return self.relu(self.bn3(self.conv3(y)) + shortcut)


class ResNet(nn.Module):
    """Images (N, 3, 224, 224) to scores (N, classes)."""

    def __init__(self, block: type[Basic] | type[Bottleneck], depths: tuple[int, ...], classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        stages: list[nn.Module] = []
        inside = 64
        for at, depth in enumerate(depths):
            width = 64 * 2**at
            stages.append(_stage(block, inside, width, depth, stride=1 if at == 0 else 2))
            inside = width * block.expansion
        self.layers = nn.Sequential(*stages)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inside, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(torch.flatten(self.avgpool(self.layers(self.stem(x))), 1))


def _stage(block: type[Basic] | type[Bottleneck], inside: int, width: int, depth: int, stride: int) -> nn.Module:
    outside = width * block.expansion
    downsample = None
    if stride != 1 or inside != outside:
        downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))
    blocks = [block(inside, width, stride, downsample)]
    blocks += [block(outside, width, 1, None) for _ in range(1, depth)]
    return nn.Sequential(*blocks)


def resnet18(classes: int = 1000) -> ResNet:
    """ResNet18; 11,689,512 parameters with 1000 classes."""
    return ResNet(Basic, (2, 2, 2, 2), classes)


def resnet50(classes: int = 1000) -> ResNet:
    """ResNet50 with the stride in the 3x3 convolution; 25,557,032 parameters with 1000 classes."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes)
