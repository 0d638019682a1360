"""A small U-Net: three levels down, three up, features carried across."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _twice(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, 3, padding=1),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    """Images (N, channels, H, W), H and W divisible by 8, to masks (N, classes, H, W)."""

    def __init__(self, channels: int = 3, classes: int = 2, width: int = 16) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList(_twice(a, b) for a, b in zip([channels, *widths[:2]], widths[:3], strict=True))
        self.pool = nn.MaxPool2d(2)
        self.middle = _twice(widths[2], widths[3])
        self.lift = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths[:3]))
        self.up = nn.ModuleList(_twice(2 * w, w) for w in reversed(widths[:3]))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        carried = []
        for stage in self.down:
            x = stage(x)
            carried.append(x)
            x = self.pool(x)
        x = self.middle(x)
        for lift, stage in zip(self.lift, self.up, strict=True):
            x = stage(torch.cat((carried.pop(), lift(x)), 1))
        return self.head(x)


def unet(channels: int = 3, classes: int = 2, width: int = 16) -> UNet:
    """A U-Net of three levels; 482,050 parameters with the defaults."""
    return UNet(channels, classes, width)
