"""Modules with multiply-accumulates derived by hand: the ground truth of counting. No tool was asked.

Each entry writes its number as the product it comes from. Letters: N batch, T length, E width, H heads.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.zoo_models import MODELS
from benchmarks.zoo_odd import MORE
from benchmarks.zoo_parts import (
    Early,
    Entry,
    Packed,
    Padded,
    SelfAttention,
    Strict,
    Tied,
    attend,
    function,
    int8,
    layer,
    randn,
    spectral,
    traced,
)

CONVOLUTIONS = [
    # out positions x out channels x in channels/groups x kernel
    Entry("conv1d", layer(lambda: nn.Conv1d(4, 6, 5), randn(2, 4, 20)), 2 * 16 * 6 * 4 * 5),
    Entry("conv2d", layer(lambda: nn.Conv2d(16, 32, 3, padding=1), randn(1, 16, 32, 32)), 32 * 32 * 32 * 16 * 9),
    Entry(
        "conv2d stride",
        layer(lambda: nn.Conv2d(3, 8, 3, stride=2, padding=1), randn(2, 3, 32, 32)),
        2 * 16 * 16 * 8 * 3 * 9,
    ),
    Entry(
        "conv2d groups",
        layer(lambda: nn.Conv2d(16, 32, 3, padding=1, groups=4), randn(1, 16, 32, 32)),
        1024 * 32 * 4 * 9,
    ),
    Entry(
        "conv2d depthwise",
        layer(lambda: nn.Conv2d(16, 16, 3, padding=1, groups=16), randn(1, 16, 32, 32)),
        1024 * 16 * 9,
    ),
    Entry(
        "conv2d dilation",
        layer(lambda: nn.Conv2d(16, 32, 3, padding=2, dilation=2), randn(1, 16, 32, 32)),
        1024 * 32 * 16 * 9,
    ),
    Entry("conv2d unbatched", layer(lambda: nn.Conv2d(3, 8, 3), randn(3, 10, 10)), 8 * 8 * 8 * 3 * 9),
    Entry(
        "conv2d same padding", layer(lambda: nn.Conv2d(3, 8, 4, padding="same"), randn(1, 3, 10, 10)), 100 * 8 * 3 * 16
    ),
    Entry(
        "conv2d reflect",
        layer(lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"), randn(1, 3, 10, 10)),
        100 * 8 * 3 * 9,
    ),
    Entry("conv3d", layer(lambda: nn.Conv3d(2, 4, 3), randn(1, 2, 6, 6, 6)), 64 * 4 * 2 * 27),
    Entry(
        "conv channels_last",
        layer(
            lambda: nn.Conv2d(8, 8, 3).to(memory_format=torch.channels_last),
            randn(1, 8, 10, 10).to(memory_format=torch.channels_last),
        ),
        64 * 8 * 8 * 9,
    ),
    # transposed: in positions x in channels x out channels/groups x kernel
    Entry("transposed 1d", layer(lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), randn(1, 4, 10)), 10 * 4 * 6 * 3),
    Entry(
        "transposed 2d",
        layer(lambda: nn.ConvTranspose2d(16, 32, 2, stride=2), randn(1, 16, 32, 32)),
        1024 * 16 * 32 * 4,
    ),
    Entry(
        "transposed groups", layer(lambda: nn.ConvTranspose2d(16, 32, 3, groups=4), randn(1, 16, 8, 8)), 64 * 16 * 8 * 9
    ),
    Entry(
        "conv functional",
        function(lambda x, w: F.conv2d(x, w, padding=1), randn(1, 3, 8, 8), w=randn(4, 3, 3, 3)),
        64 * 4 * 3 * 9,
    ),
    Entry(
        "conv_tbc",
        function(lambda x, w, b: torch.conv_tbc(x, w, b, 1), randn(9, 2, 4), w=randn(3, 4, 6), b=randn(6)),
        9 * 2 * 6 * 3 * 4,
    ),
    Entry(
        "unfold and matmul", function(lambda x, w: w @ F.unfold(x, 3), randn(1, 3, 8, 8), w=randn(4, 27)), 36 * 4 * 27
    ),
]

PRODUCTS = [
    Entry("linear", layer(lambda: nn.Linear(512, 1000), randn(8, 512)), 8 * 512 * 1000),
    Entry("linear 3-D", layer(lambda: nn.Linear(16, 24, bias=False), randn(2, 5, 16)), 2 * 5 * 16 * 24),
    Entry("linear vector", layer(lambda: nn.Linear(16, 24), randn(16)), 16 * 24),
    Entry("bilinear", layer(lambda: nn.Bilinear(5, 6, 7), randn(3, 5), randn(3, 6)), 3 * 5 * 6 * 7),
    Entry("matmul", function(torch.matmul, randn(3, 4, 5), randn(5, 6)), 3 * 4 * 5 * 6),
    Entry("matrix-vector", function(lambda x, w: w @ x, randn(7), w=randn(9, 7)), 9 * 7),
    Entry("dot", function(torch.dot, randn(33), randn(33)), 33),
    Entry(
        "einsum",
        function(lambda a, b: torch.einsum("bij,bkj->bik", a, b), randn(2, 3, 4), randn(2, 5, 4)),
        2 * 3 * 5 * 4,
    ),
    Entry("baddbmm", function(torch.baddbmm, randn(2, 3, 5), randn(2, 3, 4), randn(2, 4, 5)), 2 * 3 * 4 * 5),
    Entry("addbmm", function(torch.addbmm, randn(3, 5), randn(2, 3, 4), randn(2, 4, 5)), 2 * 3 * 4 * 5),
    Entry("addmv", function(torch.addmv, randn(3), randn(3, 4), randn(4)), 3 * 4),
    Entry("int8 matmul", int8, 4 * 16 * 24),
    Entry(
        "complex matmul",
        function(torch.matmul, torch.randn(3, 4, dtype=torch.complex64), torch.randn(4, 5, dtype=torch.complex64)),
        4 * 3 * 4 * 5,
    ),  # 4 real MACs each
    Entry(
        "weighted bag",
        function(
            lambda i, s, w: F.embedding_bag(i, w, mode="sum", per_sample_weights=s),
            torch.arange(12).view(3, 4),
            torch.rand(3, 4),
            w=randn(20, 6),
        ),
        3 * 4 * 6,
    ),
    Entry("tied weights", layer(Tied, randn(4, 32)), 4 * 3 * 16 * 32),
    Entry("spectral norm", layer(spectral, randn(2, 6)), 2 * 6 * 4 + 4 * 6 + 4),  # layer, W v, and the dot with u
]

RECURRENT = [
    # steps x gates x (inputs + hidden) x hidden, each direction
    Entry("lstm", layer(lambda: nn.LSTM(32, 64, batch_first=True), randn(1, 10, 32)), 10 * 4 * 64 * (32 + 64)),
    Entry(
        "lstm 2 layers both ways",
        layer(lambda: nn.LSTM(8, 16, 2, bidirectional=True), randn(7, 3, 8)),
        7 * 3 * 2 * 4 * 16 * ((8 + 16) + (32 + 16)),
    ),
    Entry(
        "lstm projection",
        layer(lambda: nn.LSTM(8, 16, proj_size=4), randn(7, 3, 8)),
        7 * 3 * (4 * 16 * (8 + 4) + 4 * 16),
    ),
    Entry("gru", layer(lambda: nn.GRU(32, 64), randn(10, 2, 32)), 10 * 2 * 3 * 64 * (32 + 64)),
    Entry("gru packed", lambda: (Packed().eval(), (randn(3, 6, 8), torch.tensor([6, 4, 1]))), 11 * 3 * 16 * (8 + 16)),
    Entry("rnn", layer(lambda: nn.RNN(32, 64), randn(10, 2, 32)), 10 * 2 * 64 * (32 + 64)),
    Entry("lstm cell", layer(lambda: nn.LSTMCell(8, 16), randn(3, 8)), 3 * 4 * 16 * (8 + 16)),
    Entry("gru cell", layer(lambda: nn.GRUCell(8, 16), randn(3, 8)), 3 * 3 * 16 * (8 + 16)),
]

ATTENTION = [
    # four projections T E E each, scores and values T T E each
    Entry(
        "attention", layer(lambda: SelfAttention(64, 4, False), randn(1, 16, 64)), 4 * 16 * 64 * 64 + 2 * 16 * 16 * 64
    ),
    Entry(
        "attention with weights",
        layer(lambda: SelfAttention(64, 4, True), randn(1, 16, 64)),
        4 * 16 * 64 * 64 + 2 * 16 * 16 * 64,
    ),
    # q and output projections see 5 queries, k and v see 9 keys
    Entry(
        "cross attention",
        layer(
            lambda: nn.MultiheadAttention(32, 2, batch_first=True), randn(2, 5, 32), randn(2, 9, 32), randn(2, 9, 32)
        ),
        2 * (2 * 5 + 2 * 9) * 32 * 32 + 2 * 2 * 5 * 9 * 32,
    ),
    Entry(
        "sdpa", function(attend, randn(1, 4, 16, 16), randn(1, 4, 16, 16), randn(1, 4, 16, 16)), 2 * 4 * 16 * 16 * 16
    ),
    Entry(
        "sdpa causal",
        function(lambda q, k, v: attend(q, k, v, is_causal=True), *(randn(2, 4, 16, 8) for _ in range(3))),
        2 * 2 * 4 * 16 * 16 * 8,
    ),
    Entry(
        "sdpa grouped",
        function(
            lambda q, k, v: attend(q, k, v, enable_gqa=True), randn(1, 4, 6, 8), randn(1, 2, 6, 8), randn(1, 2, 6, 8)
        ),
        2 * 4 * 6 * 6 * 8,
    ),
    # attention as above with T=7, E=16, and two linear layers 16 <-> 32
    Entry(
        "encoder layer",
        layer(lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), randn(2, 7, 16)),
        2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32),
    ),
    Entry(
        "encoder with padding",
        lambda: (Padded().eval(), (randn(2, 7, 16), torch.arange(7).expand(2, 7) > 5)),
        2 * 2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32),
    ),
    # decoder layer: two attentions (memory of 9), and two linear layers
    Entry(
        "decoder layer",
        layer(lambda: nn.TransformerDecoderLayer(16, 2, 32, batch_first=True), randn(1, 7, 16), randn(1, 9, 16)),
        (4 * 7 * 256 + 2 * 7 * 7 * 16) + ((2 * 7 + 2 * 9) * 256 + 2 * 7 * 9 * 16) + 2 * 7 * 16 * 32,
    ),
]

OTHERS = [
    Entry("batch norm", layer(lambda: nn.BatchNorm2d(16), randn(2, 16, 8, 8)), 0),
    Entry(
        "norms, pools, activations",
        layer(
            lambda: nn.Sequential(
                nn.GroupNorm(2, 4), nn.GELU(), nn.MaxPool2d(2), nn.InstanceNorm2d(4), nn.AvgPool2d(2), nn.Softmax(1)
            ),
            randn(1, 4, 8, 8),
        ),
        0,
    ),
    Entry("embedding", layer(lambda: nn.Embedding(100, 8), torch.zeros(2, 5, dtype=torch.long)), 0),
    Entry("upsample", layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), randn(1, 3, 8, 8)), 0),
    Entry("data decides, short", lambda: (Early().eval(), (torch.ones(2, 8),)), 2 * 8 * 8),
    Entry("data decides, long", lambda: (Early().eval(), (-torch.ones(2, 8),)), 2 * 2 * 8 * 8),
    Entry("names its device", layer(Strict, randn(2, 8)), 2 * 8 * 4),
    Entry("TorchScript", traced, 64 * (4 * 3 * 9 + 2 * 4)),
]


ZOO: list[Entry] = CONVOLUTIONS + PRODUCTS + RECURRENT + ATTENTION + OTHERS + MORE + MODELS
