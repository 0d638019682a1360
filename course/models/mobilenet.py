"""MobileNetV2: inverted residuals, 1x1 up, depthwise 3x3, 1x1 down."""

from __future__ import annotations

from torch import Tensor, nn

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""(expansion, width, blocks, stride of the first block) of each stage."""


def _conv(inside: int, outside: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outside),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    """Widen, filter each channel alone, narrow; a shortcut where the shapes agree."""

    def __init__(self, inside: int, outside: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inside * expansion
        self.shortcut = stride == 1 and inside == outside
        widen = [_conv(inside, hidden)] if expansion != 1 else []
        self.conv = nn.Sequential(
            *widen,
            _conv(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, outside, 1, bias=False),
            nn.BatchNorm2d(outside),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """Images (N, 3, 224, 224) to scores (N, classes)."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [_conv(3, 32, 3, 2)]
        inside = 32
        for expansion, width, blocks, stride in STAGES:
            for at in range(blocks):
                layers.append(InvertedResidual(inside, width, stride if at == 0 else 1, expansion))
                inside = width
        layers.append(_conv(inside, 1280))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean((2, 3)))


def mobilenet_v2(classes: int = 1000) -> MobileNetV2:
    """MobileNetV2; 3,504,872 parameters with 1000 classes."""
    return MobileNetV2(classes)
