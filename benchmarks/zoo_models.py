"""Whole models with multiply-accumulates derived by hand."""

from __future__ import annotations

import torch

from benchmarks.zoo_parts import Entry, layer, randn
from course import models


def _unet_macs(side: int) -> int:
    """The formulas of convolution and transposed convolution, level by level (widths 16, 32, 64, 128)."""
    s0, s1, s2, s3 = (side // 2**k for k in range(4))
    down = s0**2 * 9 * (3 * 16 + 16 * 16) + s1**2 * 9 * (16 * 32 + 32 * 32) + s2**2 * 9 * (32 * 64 + 64 * 64)
    middle = s3**2 * 9 * (64 * 128 + 128 * 128)
    lift = s3**2 * 128 * 64 * 4 + s2**2 * 64 * 32 * 4 + s1**2 * 32 * 16 * 4
    up = s2**2 * 9 * (128 * 64 + 64 * 64) + s1**2 * 9 * (64 * 32 + 32 * 32) + s0**2 * 9 * (32 * 16 + 16 * 16)
    return down + middle + lift + up + s0**2 * 16 * 2


def _mobilenet_macs() -> int:
    """Stem, then blocks: 1x1 up (if it widens), depthwise 3x3 (9 a channel), 1x1 down; then 1x1 to 1280,
    and the head.
    """
    total, side, inside = 112**2 * 3 * 32 * 9, 112, 32
    for expansion, width, blocks, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for at in range(blocks):
            hidden, after = inside * expansion, side // (stride if at == 0 else 1)
            total += (side**2 * inside * hidden if expansion > 1 else 0) + after**2 * hidden * (9 + width)
            side, inside = after, width
    return total + side**2 * inside * 1280 + 1280 * 1000


MODELS = [
    # VGG16: sum over its 13 convolutions of positions x out x in x 9, and 25088x4096 + 4096x4096 + 4096x1000
    Entry(
        "VGG16",
        layer(models.vgg16, randn(1, 3, 224, 224)),
        9
        * (
            224**2 * (3 * 64 + 64 * 64)
            + 112**2 * (64 * 128 + 128**2)
            + 56**2 * (128 * 256 + 2 * 256**2)
            + 28**2 * (256 * 512 + 2 * 512**2)
            + 14**2 * 3 * 512**2
        )
        + 25088 * 4096
        + 4096 * 4096
        + 4096 * 1000,
    ),
    # ResNet18: stem; then 4 convolutions of width w at each stage, the first of stages 2-4 from w/2, and a
    # 1x1 shortcut
    Entry(
        "ResNet18",
        layer(models.resnet18, randn(1, 3, 224, 224)),
        112**2 * 64 * 3 * 49
        + 56**2 * 9 * 4 * 64 * 64
        + sum(s**2 * (9 * (w // 2 * w + 3 * w * w) + w // 2 * w) for s, w in ((28, 128), (14, 256), (7, 512)))
        + 512 * 1000,
    ),
    # ResNet50, stage (out side s, width w, blocks b): first block reads c channels at side 2s (56 at stage
    # 1) before its stride
    Entry(
        "ResNet50",
        layer(models.resnet50, randn(1, 3, 224, 224)),
        112**2 * 64 * 3 * 49
        + sum(
            before**2 * c * w
            + s**2 * (9 * w * w + 4 * w * w + c * 4 * w)
            + (b - 1) * s**2 * (4 * w * w + 9 * w * w + 4 * w * w)
            for s, before, c, w, b in (
                (56, 56, 64, 64, 3),
                (28, 56, 256, 128, 4),
                (14, 28, 512, 256, 6),
                (7, 14, 1024, 512, 3),
            )
        )
        + 2048 * 1000,
    ),
    Entry("MobileNetV2", layer(models.mobilenet_v2, randn(1, 3, 224, 224)), _mobilenet_macs()),
    # ViT-B/16: patches 196 x 768 x 768; 12 blocks of 4 T E E + 2 T T E + 8 T E E with T=197, E=768; head
    Entry(
        "ViT-B/16",
        layer(models.vit_b_16, randn(1, 3, 224, 224)),
        196 * 768 * 768 + 12 * (12 * 197 * 768**2 + 2 * 197 * 197 * 768) + 768 * 1000,
    ),
    # GPT block: T=32, E=768: qkv 3, projection 1, perceptron 8; attention dense
    Entry("GPT block", layer(models.gpt_block, randn(1, 32, 768)), 32 * 768**2 * 12 + 2 * 32 * 32 * 768),
    Entry("U-Net", layer(models.unet, randn(1, 3, 64, 64)), _unet_macs(64)),
    # LSTM tagger: two layers, 128 -> 256 -> 256, and a head 256 -> 20, 12 steps
    Entry(
        "LSTM tagger",
        layer(models.lstm, torch.zeros(1, 12, dtype=torch.long)),
        12 * (4 * 256 * (128 + 256) + 4 * 256 * (256 + 256) + 256 * 20),
    ),
]
