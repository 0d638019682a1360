"""Modules with multiply-accumulates derived by hand: the ground truth of counting. No tool was asked.

Each entry writes its number as the product it comes from. Letters: N batch, T length, E width, H heads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course import models


@dataclass(frozen=True)
class Entry:
    """name; make() -> (module in evaluation mode, inputs); macs of one forward."""

    name: str
    make: Callable[[], tuple[nn.Module, tuple[Any, ...]]]
    macs: int


class Function(nn.Module):
    """A function as a module, with the parameters it uses."""

    def __init__(self, function: Callable[..., Any], **tensors: Tensor) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_parameter(name, nn.Parameter(tensor))

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs, **dict(self.named_parameters()))


class Tied(nn.Module):
    """An encoder and a decoder that share one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(32, 16, bias=False), nn.Linear(16, 32, bias=False)
        self.decoder.weight = nn.Parameter(torch.zeros(32, 16))
        self.again = nn.Linear(16, 32, bias=False)
        self.again.weight = self.decoder.weight

    def forward(self, x: Tensor) -> Tensor:
        y = self.encoder(x)
        return self.decoder(y) + self.again(y)


class Early(nn.Module):
    """Stops after the first layer if the input is positive on average: the control flow reads data."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        return y if x.mean() > 0 else self.second(y)


class Strict(nn.Module):
    """Insists on the device of its input and names the device of a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type == "meta":
            raise RuntimeError("no data")
        return self.layer(x) * torch.ones(4, device="cpu")


class Packed(nn.Module):
    """A GRU over sequences of unequal length."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(8, 16, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return self.gru(packed)[1]


class SelfAttention(nn.Module):
    """nn.MultiheadAttention on one input."""

    def __init__(self, width: int, heads: int, weights: bool) -> None:
        super().__init__()
        self.attention, self.weights = nn.MultiheadAttention(width, heads, batch_first=True), weights

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=self.weights)[0]


def _r(*shape: int) -> Tensor:
    return torch.randn(*shape)


def _layer(layer: Callable[[], nn.Module], *inputs: Tensor) -> Callable[[], tuple[nn.Module, tuple[Any, ...]]]:
    return lambda: (layer().eval(), inputs)


def _function(function: Callable[..., Any], *inputs: Any, **tensors: Tensor) -> Callable[[], tuple[nn.Module, tuple[Any, ...]]]:
    return lambda: (Function(function, **tensors).eval(), inputs)


def _attend(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, **options)


def _spectral() -> nn.Module:
    return torch.nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4))


def _traced() -> tuple[nn.Module, tuple[Any, ...]]:
    x = _r(1, 3, 8, 8)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval()
    return torch.jit.trace(net, x), (x,)


def _int8() -> tuple[nn.Module, tuple[Any, ...]]:
    a, b = torch.randint(-8, 8, (4, 16), dtype=torch.int8), torch.randint(-8, 8, (16, 24), dtype=torch.int8)
    return Function(torch._int_mm).eval(), (a, b)


CONVOLUTIONS = [
    # out positions x out channels x in channels/groups x kernel
    Entry("conv1d", _layer(lambda: nn.Conv1d(4, 6, 5), _r(2, 4, 20)), 2 * 16 * 6 * 4 * 5),
    Entry("conv2d", _layer(lambda: nn.Conv2d(16, 32, 3, padding=1), _r(1, 16, 32, 32)), 32 * 32 * 32 * 16 * 9),
    Entry("conv2d stride", _layer(lambda: nn.Conv2d(3, 8, 3, stride=2, padding=1), _r(2, 3, 32, 32)), 2 * 16 * 16 * 8 * 3 * 9),
    Entry("conv2d groups", _layer(lambda: nn.Conv2d(16, 32, 3, padding=1, groups=4), _r(1, 16, 32, 32)), 1024 * 32 * 4 * 9),
    Entry("conv2d depthwise", _layer(lambda: nn.Conv2d(16, 16, 3, padding=1, groups=16), _r(1, 16, 32, 32)), 1024 * 16 * 9),
    Entry("conv2d dilation", _layer(lambda: nn.Conv2d(16, 32, 3, padding=2, dilation=2), _r(1, 16, 32, 32)), 1024 * 32 * 16 * 9),
    Entry("conv2d unbatched", _layer(lambda: nn.Conv2d(3, 8, 3), _r(3, 10, 10)), 8 * 8 * 8 * 3 * 9),
    Entry("conv2d same padding", _layer(lambda: nn.Conv2d(3, 8, 4, padding="same"), _r(1, 3, 10, 10)), 100 * 8 * 3 * 16),
    Entry("conv2d reflect", _layer(lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"), _r(1, 3, 10, 10)), 100 * 8 * 3 * 9),
    Entry("conv3d", _layer(lambda: nn.Conv3d(2, 4, 3), _r(1, 2, 6, 6, 6)), 64 * 4 * 2 * 27),
    Entry("conv channels_last", _layer(lambda: nn.Conv2d(8, 8, 3).to(memory_format=torch.channels_last),
                                       _r(1, 8, 10, 10).to(memory_format=torch.channels_last)), 64 * 8 * 8 * 9),
    # transposed: in positions x in channels x out channels/groups x kernel
    Entry("transposed 1d", _layer(lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), _r(1, 4, 10)), 10 * 4 * 6 * 3),
    Entry("transposed 2d", _layer(lambda: nn.ConvTranspose2d(16, 32, 2, stride=2), _r(1, 16, 32, 32)), 1024 * 16 * 32 * 4),
    Entry("transposed groups", _layer(lambda: nn.ConvTranspose2d(16, 32, 3, groups=4), _r(1, 16, 8, 8)), 64 * 16 * 8 * 9),
    Entry("conv functional", _function(lambda x, w: F.conv2d(x, w, padding=1), _r(1, 3, 8, 8), w=_r(4, 3, 3, 3)), 64 * 4 * 3 * 9),
    Entry("conv_tbc", _function(lambda x, w, b: torch.conv_tbc(x, w, b, 1), _r(9, 2, 4), w=_r(3, 4, 6), b=_r(6)), 9 * 2 * 6 * 3 * 4),
    Entry("unfold and matmul", _function(lambda x, w: w @ F.unfold(x, 3), _r(1, 3, 8, 8), w=_r(4, 27)), 36 * 4 * 27),
]

PRODUCTS = [
    Entry("linear", _layer(lambda: nn.Linear(512, 1000), _r(8, 512)), 8 * 512 * 1000),
    Entry("linear 3-D", _layer(lambda: nn.Linear(16, 24, bias=False), _r(2, 5, 16)), 2 * 5 * 16 * 24),
    Entry("linear vector", _layer(lambda: nn.Linear(16, 24), _r(16)), 16 * 24),
    Entry("bilinear", _layer(lambda: nn.Bilinear(5, 6, 7), _r(3, 5), _r(3, 6)), 3 * 5 * 6 * 7),
    Entry("matmul", _function(torch.matmul, _r(3, 4, 5), _r(5, 6)), 3 * 4 * 5 * 6),
    Entry("matrix-vector", _function(lambda x, w: w @ x, _r(7), w=_r(9, 7)), 9 * 7),
    Entry("dot", _function(torch.dot, _r(33), _r(33)), 33),
    Entry("einsum", _function(lambda a, b: torch.einsum("bij,bkj->bik", a, b), _r(2, 3, 4), _r(2, 5, 4)), 2 * 3 * 5 * 4),
    Entry("baddbmm", _function(torch.baddbmm, _r(2, 3, 5), _r(2, 3, 4), _r(2, 4, 5)), 2 * 3 * 4 * 5),
    Entry("addbmm", _function(torch.addbmm, _r(3, 5), _r(2, 3, 4), _r(2, 4, 5)), 2 * 3 * 4 * 5),
    Entry("addmv", _function(torch.addmv, _r(3), _r(3, 4), _r(4)), 3 * 4),
    Entry("int8 matmul", _int8, 4 * 16 * 24),
    Entry("complex matmul", _function(torch.matmul, torch.randn(3, 4, dtype=torch.complex64),
                                      torch.randn(4, 5, dtype=torch.complex64)), 4 * 3 * 4 * 5),  # 4 real MACs each
    Entry("weighted bag", _function(lambda i, s, w: F.embedding_bag(i, w, mode="sum", per_sample_weights=s),
                                    torch.arange(12).view(3, 4), torch.rand(3, 4), w=_r(20, 6)), 3 * 4 * 6),
    Entry("tied weights", _layer(Tied, _r(4, 32)), 4 * 3 * 16 * 32),
    Entry("spectral norm", _layer(_spectral, _r(2, 6)), 2 * 6 * 4 + 4 * 6 + 4),  # layer, W v, and the dot with u
]

RECURRENT = [
    # steps x gates x (inputs + hidden) x hidden, each direction
    Entry("lstm", _layer(lambda: nn.LSTM(32, 64, batch_first=True), _r(1, 10, 32)), 10 * 4 * 64 * (32 + 64)),
    Entry("lstm 2 layers both ways", _layer(lambda: nn.LSTM(8, 16, 2, bidirectional=True), _r(7, 3, 8)),
          7 * 3 * 2 * 4 * 16 * ((8 + 16) + (32 + 16))),
    Entry("lstm projection", _layer(lambda: nn.LSTM(8, 16, proj_size=4), _r(7, 3, 8)), 7 * 3 * (4 * 16 * (8 + 4) + 4 * 16)),
    Entry("gru", _layer(lambda: nn.GRU(32, 64), _r(10, 2, 32)), 10 * 2 * 3 * 64 * (32 + 64)),
    Entry("gru packed", lambda: (Packed().eval(), (_r(3, 6, 8), torch.tensor([6, 4, 1]))), 11 * 3 * 16 * (8 + 16)),
    Entry("rnn", _layer(lambda: nn.RNN(32, 64), _r(10, 2, 32)), 10 * 2 * 64 * (32 + 64)),
    Entry("lstm cell", _layer(lambda: nn.LSTMCell(8, 16), _r(3, 8)), 3 * 4 * 16 * (8 + 16)),
    Entry("gru cell", _layer(lambda: nn.GRUCell(8, 16), _r(3, 8)), 3 * 3 * 16 * (8 + 16)),
]

ATTENTION = [
    # four projections T E E each, scores and values T T E each
    Entry("attention", _layer(lambda: SelfAttention(64, 4, False), _r(1, 16, 64)), 4 * 16 * 64 * 64 + 2 * 16 * 16 * 64),
    Entry("attention with weights", _layer(lambda: SelfAttention(64, 4, True), _r(1, 16, 64)), 4 * 16 * 64 * 64 + 2 * 16 * 16 * 64),
    # q and output projections see 5 queries, k and v see 9 keys
    Entry("cross attention", _layer(lambda: nn.MultiheadAttention(32, 2, batch_first=True), _r(2, 5, 32), _r(2, 9, 32), _r(2, 9, 32)),
          2 * (2 * 5 + 2 * 9) * 32 * 32 + 2 * 2 * 5 * 9 * 32),
    Entry("sdpa", _function(_attend, _r(1, 4, 16, 16), _r(1, 4, 16, 16), _r(1, 4, 16, 16)), 2 * 4 * 16 * 16 * 16),
    Entry("sdpa causal", _function(lambda q, k, v: _attend(q, k, v, is_causal=True), *(_r(2, 4, 16, 8) for _ in range(3))),
          2 * 2 * 4 * 16 * 16 * 8),
    Entry("sdpa grouped", _function(lambda q, k, v: _attend(q, k, v, enable_gqa=True), _r(1, 4, 6, 8), _r(1, 2, 6, 8), _r(1, 2, 6, 8)),
          2 * 4 * 6 * 6 * 8),
    # attention as above with T=7, E=16, and two linear layers 16 <-> 32
    Entry("encoder layer", _layer(lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), _r(2, 7, 16)),
          2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32)),
    Entry("encoder with padding", _function(
        lambda x, mask, layer=nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval(): layer(
            x, src_key_padding_mask=mask), _r(2, 7, 16), torch.arange(7).expand(2, 7) > 5),
        2 * 2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32)),
    # decoder layer: two attentions (memory of 9), and two linear layers
    Entry("decoder layer", _layer(lambda: nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), _r(1, 7, 16), _r(1, 9, 16)),
          (4 * 7 * 256 + 2 * 7 * 7 * 16) + ((2 * 7 + 2 * 9) * 256 + 2 * 7 * 9 * 16) + 2 * 7 * 16 * 32),
]

OTHERS = [
    Entry("batch norm", _layer(lambda: nn.BatchNorm2d(16), _r(2, 16, 8, 8)), 0),
    Entry("norms, pools, activations", _layer(lambda: nn.Sequential(
        nn.GroupNorm(2, 4), nn.GELU(), nn.MaxPool2d(2), nn.InstanceNorm2d(4), nn.AvgPool2d(2), nn.Softmax(1)), _r(1, 4, 8, 8)), 0),
    Entry("embedding", _layer(lambda: nn.Embedding(100, 8), torch.zeros(2, 5, dtype=torch.long)), 0),
    Entry("upsample", _layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), _r(1, 3, 8, 8)), 0),
    Entry("data decides, short", lambda: (Early().eval(), (torch.ones(2, 8),)), 2 * 8 * 8),
    Entry("data decides, long", lambda: (Early().eval(), (-torch.ones(2, 8),)), 2 * 2 * 8 * 8),
    Entry("names its device", _layer(Strict, _r(2, 8)), 2 * 8 * 4),
    Entry("TorchScript", _traced, 64 * (4 * 3 * 9 + 2 * 4)),
]


def _unet_macs(side: int) -> int:
    """The formulas of convolution and transposed convolution, level by level (widths 16, 32, 64, 128)."""
    s0, s1, s2, s3 = (side // 2**k for k in range(4))
    down = s0**2 * 9 * (3 * 16 + 16 * 16) + s1**2 * 9 * (16 * 32 + 32 * 32) + s2**2 * 9 * (32 * 64 + 64 * 64)
    middle = s3**2 * 9 * (64 * 128 + 128 * 128)
    lift = s3**2 * 128 * 64 * 4 + s2**2 * 64 * 32 * 4 + s1**2 * 32 * 16 * 4
    up = s2**2 * 9 * (128 * 64 + 64 * 64) + s1**2 * 9 * (64 * 32 + 32 * 32) + s0**2 * 9 * (32 * 16 + 16 * 16)
    return down + middle + lift + up + s0**2 * 16 * 2


def _mobilenet_macs() -> int:
    """Stem, then blocks: 1x1 up (if it widens), depthwise 3x3 (9 a channel), 1x1 down; then 1x1 to 1280, and the head."""
    total, side, inside = 112**2 * 3 * 32 * 9, 112, 32
    for expansion, width, blocks, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)
    ):
        for at in range(blocks):
            hidden, after = inside * expansion, side // (stride if at == 0 else 1)
            total += (side**2 * inside * hidden if expansion > 1 else 0) + after**2 * hidden * (9 + width)
            side, inside = after, width
    return total + side**2 * inside * 1280 + 1280 * 1000


MODELS = [
    # VGG16: sum over its 13 convolutions of positions x out x in x 9, and 25088x4096 + 4096x4096 + 4096x1000
    Entry("VGG16", _layer(models.vgg16, _r(1, 3, 224, 224)), 9 * (
        224**2 * (3 * 64 + 64 * 64) + 112**2 * (64 * 128 + 128**2) + 56**2 * (128 * 256 + 2 * 256**2)
        + 28**2 * (256 * 512 + 2 * 512**2) + 14**2 * 3 * 512**2) + 25088 * 4096 + 4096 * 4096 + 4096 * 1000),
    # ResNet18: stem; then 4 convolutions of width w at each stage, the first of stages 2-4 from w/2, and a 1x1 shortcut
    Entry("ResNet18", _layer(models.resnet18, _r(1, 3, 224, 224)), 112**2 * 64 * 3 * 49 + 56**2 * 9 * 4 * 64 * 64 + sum(
        s**2 * (9 * (w // 2 * w + 3 * w * w) + w // 2 * w) for s, w in ((28, 128), (14, 256), (7, 512))) + 512 * 1000),
    # ResNet50, stage (out side s, width w, blocks b): first block reads c channels at side 2s (56 at stage 1) before its stride
    Entry("ResNet50", _layer(models.resnet50, _r(1, 3, 224, 224)), 112**2 * 64 * 3 * 49 + sum(
        before**2 * c * w + s**2 * (9 * w * w + 4 * w * w + c * 4 * w) + (b - 1) * s**2 * (4 * w * w + 9 * w * w + 4 * w * w)
        for s, before, c, w, b in ((56, 56, 64, 64, 3), (28, 56, 256, 128, 4), (14, 28, 512, 256, 6), (7, 14, 1024, 512, 3))
    ) + 2048 * 1000),
    Entry("MobileNetV2", _layer(models.mobilenet_v2, _r(1, 3, 224, 224)), _mobilenet_macs()),
    # ViT-B/16: patches 196 x 768 x 768; 12 blocks of 4 T E E + 2 T T E + 8 T E E with T=197, E=768; head
    Entry("ViT-B/16", _layer(models.vit_b_16, _r(1, 3, 224, 224)),
          196 * 768 * 768 + 12 * (12 * 197 * 768**2 + 2 * 197 * 197 * 768) + 768 * 1000),
    # GPT block: T=32, E=768: qkv 3, projection 1, perceptron 8; attention dense
    Entry("GPT block", _layer(models.gpt_block, _r(1, 32, 768)), 32 * 768**2 * 12 + 2 * 32 * 32 * 768),
    Entry("U-Net", _layer(models.unet, _r(1, 3, 64, 64)), _unet_macs(64)),
    # LSTM tagger: two layers, 128 -> 256 -> 256, and a head 256 -> 20, 12 steps
    Entry("LSTM tagger", _layer(models.lstm, torch.zeros(1, 12, dtype=torch.long)),
          12 * (4 * 256 * (128 + 256) + 4 * 256 * (256 + 256) + 256 * 20)),
]

ZOO: list[Entry] = CONVOLUTIONS + PRODUCTS + RECURRENT + ATTENTION + OTHERS + MODELS
