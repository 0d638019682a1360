"""Networks for images, with the layers of their torchvision namesakes (U-Net is a small one), one GPT-2 block, and an LSTM tagger."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# --- VGG16: thirteen 3x3 convolutions and three large linear layers ---


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


# --- ResNet18 and ResNet50: residual blocks of two 3x3 convolutions, or of 1x1, 3x3, 1x1 ---


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


# --- MobileNetV2: inverted residuals, 1x1 up, depthwise 3x3, 1x1 down ---


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


# --- ViT-B/16: an image as 196 patches of 16x16, through twelve transformer blocks ---


class Block(nn.Module):
    """Attention and a two-layer perceptron, each behind a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    """Images (N, 3, image, image) to scores (N, classes)."""

    def __init__(
        self, image: int = 224, patch: int = 16, depth: int = 12, width: int = 768, heads: int = 12, classes: int = 1000
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads, 4 * width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_b_16(classes: int = 1000) -> VisionTransformer:
    """ViT-B/16 for 224x224 images; 86,567,656 parameters with 1000 classes."""
    return VisionTransformer(classes=classes)


# --- A small U-Net: three levels down, three up, features carried across ---


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


# --- sequences: one GPT-2 block, and an LSTM tagger ---


class GPTBlock(nn.Module):
    """Causal self-attention and a perceptron; (N, length, width) to the same shape."""

    def __init__(self, width: int = 768, heads: int = 12) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(n, length, width))
        return x + self.mlp(self.norm2(x))


class Tagger(nn.Module):
    """Token ids (N, length) to scores (N, length, tags), through a two-layer LSTM."""

    def __init__(self, words: int = 10_000, width: int = 128, hidden: int = 256, tags: int = 20) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.recurrent = nn.LSTM(width, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, tags)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.recurrent(self.embedding(tokens))[0])


def gpt_block(width: int = 768, heads: int = 12) -> GPTBlock:
    """One block of GPT-2 small; 7,087,872 parameters. Input (N, length, 768)."""
    return GPTBlock(width, heads)


def lstm(words: int = 10_000, width: int = 128, hidden: int = 256, tags: int = 20) -> Tagger:
    """An LSTM tagger; 2,206,740 parameters. Input: int64 token ids (N, length)."""
    return Tagger(words, width, hidden, tags)
