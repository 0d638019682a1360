"""Training steps with multiply-accumulates derived by hand: forward and backward of one batch.

A gradient that is needed costs what the forward costs: f. A layer on data needs the gradient of its weight (2 f in
all), a layer behind something trained that of its input too (3 f), a frozen layer behind something trained that
of its input alone (2 f), a frozen layer in front nothing (f). Each entry writes its number as that sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.nn.utils.rnn import pack_sequence

from benchmarks.zoo_parts import Early, Entry, Function, Make, Packed, SelfAttention, Tied, attend, randn
from benchmarks.zoo_parts_odd import Cut, Decoder, Experts, Heads, LowRank, Scan, Square, Twice, WithLoss, Words
from course import models


def step(build: Callable[[], nn.Module], *inputs: Any) -> Make:
    """A module in training mode on these inputs; those that require a gradient stand behind something trained."""
    return lambda: (build().train(), inputs)


def hot(*shape: int) -> Tensor:
    """An input that asks for its gradient."""
    return torch.randn(*shape, requires_grad=True)


def frozen(module: nn.Module) -> nn.Module:
    """The module with all its parameters frozen."""
    return module.requires_grad_(False)


def stack(first: bool, second: bool, third: bool) -> Callable[[], nn.Module]:
    """Three linear layers 8-6-4-2 of 48, 24 and 8 MACs a row; which of them are trained."""

    def build() -> nn.Module:
        layers = [
            nn.Linear(a, b).requires_grad_(learns) for a, b, learns in ((8, 6, first), (6, 4, second), (4, 2, third))
        ]
        return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.Tanh(), layers[2])

    return build


LINEAR = [
    Entry("linear on data", step(lambda: nn.Linear(512, 1000), randn(8, 512)), 2 * 8 * 512 * 1000),
    Entry("linear", step(lambda: nn.Linear(512, 1000), hot(8, 512)), 3 * 8 * 512 * 1000),
    Entry("linear frozen", step(lambda: frozen(nn.Linear(16, 24)), hot(8, 16)), 2 * 8 * 16 * 24),
    Entry("linear bf16", step(lambda: nn.Linear(16, 24).bfloat16(), randn(8, 16).bfloat16()), 2 * 8 * 16 * 24),
    Entry("three layers", step(stack(True, True, True), randn(5, 8)), 5 * (2 * 48 + 3 * 24 + 3 * 8)),
    Entry("first frozen", step(stack(False, True, True), randn(5, 8)), 5 * (48 + 2 * 24 + 3 * 8)),
    Entry("middle frozen", step(stack(True, False, True), randn(5, 8)), 5 * (2 * 48 + 2 * 24 + 3 * 8)),
    Entry("last frozen", step(stack(True, True, False), randn(5, 8)), 5 * (2 * 48 + 3 * 24 + 2 * 8)),
    Entry("only the head", step(stack(False, False, True), randn(5, 8)), 5 * (48 + 24 + 2 * 8)),
    # biases of two layers trained, their weights not: the gradient must pass the second weight, no more
    Entry("only the biases", step(lambda: _only_biases(), randn(5, 8)), 5 * (48 + 2 * 24)),
    Entry(
        "batch norm and loss", step(WithLoss, randn(5, 8), torch.tensor([0, 1, 2, 0, 1])), 5 * (2 * 8 * 16 + 3 * 16 * 3)
    ),
    Entry("weight norm", step(lambda: parametrizations.weight_norm(nn.Linear(6, 4)), randn(2, 6)), 2 * 2 * 6 * 4),
    Entry("bilinear on data", step(lambda: nn.Bilinear(5, 6, 7), randn(3, 5), randn(3, 6)), 2 * 3 * 5 * 6 * 7),
    Entry("bilinear", step(lambda: nn.Bilinear(5, 6, 7), hot(3, 5), hot(3, 6)), 4 * 3 * 5 * 6 * 7),
]


def _only_biases() -> nn.Module:
    net = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4))
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(name.endswith("bias"))
    return net


CONVOLUTIONS = [
    Entry(
        "conv2d on data", step(lambda: nn.Conv2d(16, 32, 3, padding=1), randn(1, 16, 32, 32)), 2 * 1024 * 32 * 16 * 9
    ),
    Entry("conv2d", step(lambda: nn.Conv2d(16, 32, 3, padding=1), hot(1, 16, 32, 32)), 3 * 1024 * 32 * 16 * 9),
    Entry("conv2d frozen", step(lambda: frozen(nn.Conv2d(4, 6, 3)), hot(1, 4, 8, 8)), 2 * 36 * 6 * 4 * 9),
    Entry(
        "conv2d groups",
        step(lambda: nn.Conv2d(16, 32, 3, padding=1, groups=4), hot(1, 16, 32, 32)),
        3 * 1024 * 32 * 4 * 9,
    ),
    Entry(
        "conv2d depthwise",
        step(lambda: nn.Conv2d(16, 16, 3, padding=1, groups=16), hot(1, 16, 32, 32)),
        3 * 1024 * 16 * 9,
    ),
    Entry(
        "conv2d stride, dilation",
        step(lambda: nn.Conv2d(3, 8, 3, stride=2, dilation=2), hot(2, 3, 15, 15)),
        3 * 2 * 36 * 8 * 3 * 9,
    ),
    Entry(
        "conv2d reflect",
        step(lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"), hot(1, 3, 10, 10)),
        3 * 100 * 8 * 3 * 9,
    ),
    Entry("conv1d", step(lambda: nn.Conv1d(4, 6, 5), hot(2, 4, 20)), 3 * 2 * 16 * 6 * 4 * 5),
    Entry("conv3d", step(lambda: nn.Conv3d(2, 4, 3), hot(1, 2, 6, 6, 6)), 3 * 64 * 4 * 2 * 27),
    Entry(
        "transposed on data",
        step(lambda: nn.ConvTranspose2d(16, 32, 2, stride=2), randn(1, 16, 32, 32)),
        2 * 1024 * 16 * 32 * 4,
    ),
    Entry(
        "transposed", step(lambda: nn.ConvTranspose2d(16, 32, 2, stride=2), hot(1, 16, 32, 32)), 3 * 1024 * 16 * 32 * 4
    ),
    Entry(
        "transposed groups",
        step(lambda: nn.ConvTranspose2d(16, 32, 3, groups=4), hot(1, 16, 8, 8)),
        3 * 64 * 16 * 8 * 9,
    ),
    Entry("transposed 1d", step(lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), hot(1, 4, 10)), 3 * 10 * 4 * 6 * 3),
    Entry(
        "conv of two tensors", step(lambda: Function(F.conv2d), hot(1, 3, 8, 8), hot(4, 3, 3, 3)), 3 * 36 * 4 * 3 * 9
    ),
    Entry(
        "unfold and matmul",
        step(lambda: Function(lambda x, w: w @ F.unfold(x, 3), w=randn(4, 27)), hot(1, 3, 8, 8)),
        3 * 36 * 4 * 27,
    ),
    # depthwise on data, pointwise behind it
    Entry(
        "depthwise separable",
        step(
            lambda: nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU6(), nn.Conv2d(8, 16, 1)),
            randn(2, 8, 10, 10),
        ),
        2 * 100 * (2 * 8 * 9 + 3 * 8 * 16),
    ),
]


def recurrent(gates: int, steps: int, rows: int, inputs: int, hidden: int, uses: int) -> int:
    """One layer and direction: `uses` of its inputs (2 on data, 3 behind something trained), 3 of its state, less
    the gradient of the first state, which nobody asks for. steps: of all sequences; rows: sequences."""
    return gates * hidden * (uses * steps * inputs + (3 * steps - rows) * hidden)


RECURRENT = [
    *(
        Entry(
            f"{kind.__name__.lower()} on data",
            step(lambda kind=kind: kind(8, 16), randn(7, 3, 8)),
            recurrent(gates, 21, 3, 8, 16, 2),
        )
        for kind, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1))
    ),
    *(
        Entry(
            f"{kind.__name__.lower()} both ways",
            step(lambda kind=kind: kind(8, 16, 2, bidirectional=True), hot(7, 3, 8)),
            2 * recurrent(gates, 21, 3, 8, 16, 3) + 2 * recurrent(gates, 21, 3, 32, 16, 3),
        )
        for kind, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1))
    ),
    Entry(
        "lstm packed",
        step(lambda: nn.LSTM(8, 16), pack_sequence([randn(6, 8), randn(4, 8), randn(1, 8)])),
        recurrent(4, 11, 3, 8, 16, 2),
    ),
    Entry(
        "gru packed, last state", step(Packed, randn(3, 6, 8), torch.tensor([6, 4, 1])), recurrent(3, 11, 3, 8, 16, 2)
    ),
    # gates see 8 inputs (2) and 4 projected units (3, less the first state), the projection 16 x 4 (3)
    Entry(
        "lstm projection",
        step(lambda: nn.LSTM(8, 16, proj_size=4), randn(7, 3, 8)),
        4 * 16 * (2 * 21 * 8 + (3 * 21 - 3) * 4) + 3 * 21 * 16 * 4,
    ),
    Entry(
        "lstm with a trained state",
        step(lambda: nn.LSTM(8, 16), hot(7, 3, 8), (hot(1, 3, 16), hot(1, 3, 16))),
        3 * 21 * 4 * 16 * (8 + 16),
    ),
    Entry("lstm cell on data", step(lambda: nn.LSTMCell(8, 16), randn(3, 8)), 2 * 3 * 4 * 16 * (8 + 16)),
    Entry("gru cell", step(lambda: nn.GRUCell(8, 16), hot(3, 8), hot(3, 16)), 3 * 3 * 3 * 16 * (8 + 16)),
    Entry("rnn cell", step(lambda: nn.RNNCell(8, 16), hot(3, 8), hot(3, 16)), 3 * 3 * 16 * (8 + 16)),
    # `into` reads data (2), `out` the state (3)
    Entry("state-space scan", step(Scan, randn(2, 5, 8)), 2 * 5 * (2 * 8 * 4 + 3 * 4 * 8)),
]


def qkv(number: int = 4) -> list[Tensor]:
    """Queries, keys and values of 6 tokens that ask for their gradients."""
    return [hot(1, number, 6, 8) for _ in range(3)]


ATTENTION = [
    # on data: the three projections 2, scores, values and the last projection 3
    Entry(
        "attention on data",
        step(lambda: SelfAttention(64, 4, False), randn(1, 16, 64)),
        2 * 3 * 16 * 64 * 64 + 3 * (2 * 16 * 16 * 64 + 16 * 64 * 64),
    ),
    Entry(
        "attention with weights",
        step(lambda: SelfAttention(64, 4, True), hot(1, 16, 64)),
        3 * (4 * 16 * 64 * 64 + 2 * 16 * 16 * 64),
    ),
    Entry("sdpa", step(lambda: Function(attend), *qkv()), 3 * 2 * 4 * 6 * 6 * 8),
    Entry(
        "sdpa causal",
        step(lambda: Function(lambda q, k, v: attend(q, k, v, is_causal=True)), *qkv()),
        3 * 2 * 4 * 6 * 6 * 8,
    ),
    Entry(
        "sdpa grouped",
        step(
            lambda: Function(lambda q, k, v: attend(q, k, v, enable_gqa=True)),
            hot(1, 4, 6, 8),
            hot(1, 2, 6, 8),
            hot(1, 2, 6, 8),
        ),
        3 * 2 * 4 * 6 * 6 * 8,
    ),
    # scores: forward and the gradient of q; values: forward and the gradient of the weights
    Entry(
        "sdpa, keys and values fixed",
        step(lambda: Function(attend), hot(1, 4, 6, 8), randn(1, 4, 6, 8), randn(1, 4, 6, 8)),
        2 * 2 * 4 * 6 * 6 * 8,
    ),
    # q, k, v projection on data 2, output projection 3; one token against ten keys (nine of them fixed, all
    # of them in each product): forward, gradients of q, k, v and of the weights
    Entry("decode with a cache", step(Decoder, randn(1, 1, 16)), 2 * 16 * 48 + 3 * 16 * 16 + 3 * 2 * 2 * 10 * 8),
    # encoder layer: everything 3, but the three projections read data
    Entry(
        "encoder layer",
        step(lambda: nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True), randn(2, 7, 16)),
        2 * (3 * (4 * 7 * 256 + 2 * 49 * 16 + 2 * 7 * 16 * 32) - 3 * 7 * 256),
    ),
    # decoder layer: likewise, and keys and values of the memory of 9 read data too
    Entry(
        "decoder layer",
        step(lambda: nn.TransformerDecoderLayer(16, 2, 32, 0.0, batch_first=True), randn(1, 7, 16), randn(1, 9, 16)),
        3 * ((4 * 7 * 256 + 2 * 49 * 16) + ((2 * 7 + 2 * 9) * 256 + 2 * 7 * 9 * 16) + 2 * 7 * 16 * 32)
        - (3 * 7 + 2 * 9) * 256,
    ),
]

OPERATORS = [
    Entry("matmul", step(lambda: Function(torch.matmul), hot(3, 4), hot(4, 5)), 3 * 3 * 4 * 5),
    Entry(
        "einsum",
        step(lambda: Function(lambda a, b: torch.einsum("bij,bkj->bik", a, b)), hot(2, 3, 4), hot(2, 5, 4)),
        3 * 2 * 3 * 5 * 4,
    ),
    Entry(
        "baddbmm", step(lambda: Function(torch.baddbmm), hot(2, 3, 5), hot(2, 3, 4), hot(2, 4, 5)), 3 * 2 * 3 * 4 * 5
    ),
    # the gradient of the matrix is an outer product, in which nothing is summed
    Entry("matrix-vector", step(lambda: Function(torch.mv), hot(9, 7), hot(7)), 2 * 9 * 7),
    Entry("distances", step(lambda: Function(torch.cdist), hot(5, 4), hot(6, 4)), 3 * 5 * 6 * 4),
    Entry(
        "complex matmul",
        step(
            lambda: Function(torch.matmul),
            torch.randn(3, 4, dtype=torch.complex64, requires_grad=True),
            torch.randn(4, 5, dtype=torch.complex64, requires_grad=True),
        ),
        3 * 4 * 3 * 4 * 5,
    ),
    Entry(
        "hand-written gradient",
        step(lambda: Function(lambda x, w: Square.apply(x, w), w=randn(4, 5)), hot(3, 4)),
        3 * 3 * 4 * 5,
    ),
    Entry(
        "weighted bag",
        step(
            lambda: Function(lambda i, s, w: F.embedding_bag(i, w, mode="sum", per_sample_weights=s), w=randn(20, 6)),
            torch.arange(12).view(3, 4),
            hot(3, 4),
        ),
        3 * 3 * 4 * 6,
    ),
    Entry(
        "graph convolution",
        step(
            lambda: Function(lambda x, s, d, w: torch.zeros(5, 3).index_add(0, d, (x @ w)[s]), w=randn(4, 3)),
            hot(5, 4),
            torch.tensor([0, 3]),
            torch.tensor([1, 1]),
        ),
        3 * 5 * 4 * 3,
    ),
    Entry(
        "norms and pools",
        step(lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.GELU(), nn.MaxPool2d(2)), hot(1, 4, 8, 8)),
        0,
    ),
]

SHARING = [
    Entry("embedding and head", step(lambda: Words(False), torch.tensor([[1, 2, 3]])), 3 * 3 * 8 * 4),
    Entry("frozen embedding", step(lambda: Words(True), torch.tensor([[1, 2, 3]])), 2 * 3 * 8 * 4),
    # encoder on data 2; decoder and its twin, which share a weight, 3 each
    Entry("tied weights", step(Tied, randn(4, 32)), (2 + 3 + 3) * 4 * 16 * 32),
    Entry("one layer twice", step(Twice, randn(3, 8)), (2 + 3) * 3 * 8 * 8),
    # base frozen and on data 1; a on data 2; b 3
    Entry("LoRA", step(LowRank, randn(3, 16)), 3 * (16 * 16 + 2 * 16 * 2 + 3 * 2 * 16)),
    Entry("detached", step(lambda: Cut("detach"), randn(3, 8)), 3 * (8 * 6 + 2 * 6 * 4)),
    Entry("under no_grad", step(lambda: Cut("no_grad"), randn(3, 8)), 3 * (8 * 6 + 2 * 6 * 4)),
    Entry("a branch without a gradient", step(lambda: Cut("unused"), randn(3, 8)), 3 * (2 * 8 * 6 + 6 * 4)),
    Entry("two heads", step(Heads, randn(3, 8)), 3 * (2 * 8 * 6 + 3 * 6 * 4 + 3 * 6 * 2)),
    # the gate is frozen out by its argmax: forward alone; one expert a row on data
    Entry("mixture of experts", step(Experts, randn(10, 8)), 10 * 8 * 4 + 2 * 10 * 8 * 8),
    Entry("data decides", step(Early, torch.ones(2, 8)), 2 * 2 * 8 * 8),
]

MODELS = [
    # three forwards, less the gradient of the image that nobody asks for (the first convolution)
    Entry("VGG16", step(models.vgg16, randn(1, 3, 224, 224)), 3 * 15_470_264_320 - 224**2 * 64 * 27),
    Entry("ResNet18", step(models.resnet18, randn(1, 3, 224, 224)), 3 * 1_814_073_344 - 112**2 * 64 * 147),
    Entry("ResNet50", step(models.resnet50, randn(1, 3, 224, 224)), 3 * 4_089_184_256 - 112**2 * 64 * 147),
    Entry("MobileNetV2", step(models.mobilenet_v2, randn(2, 3, 224, 224)), 2 * (3 * 300_774_272 - 112**2 * 32 * 27)),
    Entry("ViT-B/16", step(models.vit_b_16, randn(1, 3, 224, 224)), 3 * 17_563_828_224 - 196 * 768 * 768),
    # a norm with parameters stands in front: everything 3
    Entry("GPT block", step(models.gpt_block, randn(1, 128, 768)), 3 * (12 * 128 * 768**2 + 2 * 128 * 128 * 768)),
    # the table is trained, so both layers get the gradient of their input; not of their first state
    Entry(
        "LSTM tagger",
        step(models.lstm, torch.zeros(2, 16, dtype=torch.long)),
        recurrent(4, 32, 2, 128, 256, 3) + recurrent(4, 32, 2, 256, 256, 3) + 3 * 32 * 256 * 20,
    ),
]

STEPS: list[Entry] = LINEAR + CONVOLUTIONS + RECURRENT + ATTENTION + OPERATORS + SHARING + MODELS
