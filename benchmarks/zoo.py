"""Modules with multiply-accumulates derived by hand: the ground truth of counting. No tool was asked.

Each entry writes its number as the product it comes from. Letters: N batch, T length, E width, H heads.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.nn.utils.rnn import pack_sequence

from benchmarks.zoo_parts import (
    Decoder,
    Early,
    Entry,
    Experts,
    SelfAttention,
    Square,
    Tied,
    deformable,
    dynamic,
    frozen,
    function,
    halving,
    layer,
    packed,
    scan,
    strict,
    traced,
)
from course import models

COMPLEX, BF16, HALF = (partial(torch.randn, dtype=kind) for kind in (torch.complex64, torch.bfloat16, torch.half))
IMAGE = (1, 3, 224, 224)
attend = F.scaled_dot_product_attention
grouped = partial(attend, enable_gqa=True)

CONVOLUTIONS = [
    # out positions x out channels x in channels/groups x kernel
    layer("conv1d", 2 * 16 * 6 * 4 * 5, (2, 4, 20), nn.Conv1d, 4, 6, 5),
    layer("conv2d", 32 * 32 * 32 * 16 * 9, (1, 16, 32, 32), nn.Conv2d, 16, 32, 3, padding=1),
    layer("conv2d stride", 2 * 16 * 16 * 8 * 3 * 9, (2, 3, 32, 32), nn.Conv2d, 3, 8, 3, stride=2, padding=1),
    layer("conv2d groups", 1024 * 32 * 4 * 9, (1, 16, 32, 32), nn.Conv2d, 16, 32, 3, padding=1, groups=4),
    layer("conv2d depthwise", 1024 * 16 * 9, (1, 16, 32, 32), nn.Conv2d, 16, 16, 3, padding=1, groups=16),
    layer("conv2d dilation", 1024 * 32 * 16 * 9, (1, 16, 32, 32), nn.Conv2d, 16, 32, 3, padding=2, dilation=2),
    layer("conv2d unbatched", 8 * 8 * 8 * 3 * 9, (3, 10, 10), nn.Conv2d, 3, 8, 3),
    layer("conv2d same padding", 100 * 8 * 3 * 16, (1, 3, 10, 10), nn.Conv2d, 3, 8, 4, padding="same"),
    layer("conv2d reflect", 100 * 8 * 3 * 9, (1, 3, 10, 10), nn.Conv2d, 3, 8, 3, padding=1, padding_mode="reflect"),
    layer("conv3d", 64 * 4 * 2 * 27, (1, 2, 6, 6, 6), nn.Conv3d, 2, 4, 3),
    layer(
        "conv channels_last",
        64 * 8 * 8 * 9,
        torch.randn(1, 8, 10, 10).to(memory_format=torch.channels_last),
        lambda: nn.Conv2d(8, 8, 3).to(memory_format=torch.channels_last),
    ),
    # transposed: in positions x in channels x out channels/groups x kernel
    layer("transposed 1d", 10 * 4 * 6 * 3, (1, 4, 10), nn.ConvTranspose1d, 4, 6, 3, stride=2),
    layer("transposed 2d", 1024 * 16 * 32 * 4, (1, 16, 32, 32), nn.ConvTranspose2d, 16, 32, 2, stride=2),
    layer("transposed groups", 64 * 16 * 8 * 9, (1, 16, 8, 8), nn.ConvTranspose2d, 16, 32, 3, groups=4),
    function("conv functional", 64 * 4 * 27, (1, 3, 8, 8), lambda x, w: F.conv2d(x, w, padding=1), w=(4, 3, 3, 3)),
    function("conv_tbc", 9 * 2 * 6 * 3 * 4, (9, 2, 4), lambda x, w, b: torch.conv_tbc(x, w, b, 1), w=(3, 4, 6), b=(6,)),
    function("unfold and matmul", 36 * 4 * 27, (1, 3, 8, 8), lambda x, w: w @ F.unfold(x, 3), w=(4, 27)),
    # one kernel a sample, written as one grouped convolution: positions x out x in x 9 each
    function(
        "dynamic convolution",
        2 * 16 * 4 * 27,
        [(2, 3, 6, 6), (2, 4, 3, 3, 3)],
        lambda x, w: F.conv2d(x.reshape(1, -1, 6, 6), w.reshape(-1, 3, 3, 3), groups=2),
    ),
    function(
        "fold of unfold",
        36 * 5 * 27,
        (1, 3, 6, 6),
        lambda x, w: F.fold(w @ F.unfold(x, 3, padding=1), (6, 6), 1),
        w=(5, 27),
    ),
    function("causal conv1d", 8 * 4 * 9, (1, 3, 8), lambda x, w: F.conv1d(F.pad(x, (2, 0)), w), w=(4, 3, 3)),
    # torch splits a complex convolution into three real ones (Gauss's trick)
    function("complex conv1d", 3 * 6 * 3 * 2 * 3, [COMPLEX(1, 2, 8), COMPLEX(3, 2, 3)], F.conv1d),
    function(
        "depthwise separable",
        2 * 100 * (8 * 9 + 8 * 16),
        (2, 8, 10, 10),
        lambda x, depth, point: point(F.relu6(depth(x))),
        depth=(partial(nn.Conv2d, padding=1, groups=8), 8, 8, 3),
        point=(nn.Conv2d, 8, 16, 1),
    ),
    # offsets: 36 positions x 2 x 4 x 9; sampling is interpolation; 36 rows of 4 -> 6
    function(
        "deformable sampling",
        36 * 2 * 4 * 9 + 36 * 4 * 6,
        (1, 4, 6, 6),
        deformable,
        offsets=(partial(nn.Conv2d, padding=1), 4, 2, 3),
        mix=(nn.Linear, 4, 6),
    ),
]

PRODUCTS = [
    layer("linear", 8 * 512 * 1000, (8, 512), nn.Linear, 512, 1000),
    layer("linear 3-D", 2 * 5 * 16 * 24, (2, 5, 16), nn.Linear, 16, 24, bias=False),
    layer("linear vector", 16 * 24, (16,), nn.Linear, 16, 24),
    layer("linear bf16", 3 * 8 * 4, BF16(3, 8), nn.Linear, 8, 4, dtype=torch.bfloat16),
    layer("linear float16", 3 * 8 * 4, HALF(3, 8), nn.Linear, 8, 4, dtype=torch.half),
    # for each output feature the products of one input with the weight, then with the other
    layer("bilinear", 3 * 7 * (5 * 6 + 6), [(3, 5), (3, 6)], nn.Bilinear, 5, 6, 7),
    function("matmul", 3 * 4 * 5 * 6, [(3, 4, 5), (5, 6)], torch.matmul),
    function("broadcast matmul", 2 * 5 * 3 * 4 * 6, [(2, 1, 3, 4), (5, 4, 6)], torch.matmul),
    function("complex matmul", 4 * 3 * 4 * 5, [COMPLEX(3, 4), COMPLEX(4, 5)], torch.matmul),  # 4 real MACs each
    function("matrix-vector", 9 * 7, (7,), lambda x, w: w @ x, w=(9, 7)),
    function("mv", 9 * 7, [(9, 7), (7,)], torch.mv),
    function("vector times matrix", 9 * 7, (7,), lambda x, w: x @ w, w=(7, 9)),
    function("dot", 33, [(33,), (33,)], torch.dot),
    function("inner", 3 * 5 * 4, [(3, 4), (5, 4)], torch.inner),
    function("outer product", 0, [(5,), (6,)], torch.outer),  # nothing is summed
    function("einsum", 2 * 3 * 5 * 4, [(2, 3, 4), (2, 5, 4)], partial(torch.einsum, "bij,bkj->bik")),
    # from left to right
    function("einsum of three", 2 * 3 * 4 + 2 * 4 * 5, [(2, 3), (3, 4), (4, 5)], partial(torch.einsum, "ij,jk,kl->il")),
    # the cheaper order: 64 against 90
    function("multi_dot", 2 * 3 * 4 + 2 * 4 * 5, [(2, 3), (3, 4), (4, 5)], lambda *abc: torch.linalg.multi_dot(abc)),
    function("matrix power", 2 * 4 * 4 * 4, (4, 4), lambda a: torch.linalg.matrix_power(a, 3)),
    function("baddbmm", 2 * 3 * 4 * 5, [(2, 3, 5), (2, 3, 4), (2, 4, 5)], torch.baddbmm),
    function("addbmm", 2 * 3 * 4 * 5, [(3, 5), (2, 3, 4), (2, 4, 5)], torch.addbmm),
    function("addmv", 3 * 4, [(3,), (3, 4), (4,)], torch.addmv),
    function("addmm in place", 3 * 4 * 5, [(3, 5), (3, 4), (4, 5)], lambda c, a, b: c.clone().addmm_(a, b)),
    function("mm into out", 3 * 4 * 5, [(3, 4), (4, 5)], lambda a, b: torch.mm(a, b, out=torch.empty(3, 5))),
    function("covariance", 3 * 3 * 10, (3, 10), torch.cov),
    function("distances", 2 * 5 * 6 * 4, [(2, 5, 4), (2, 6, 4)], torch.cdist),
    function("distances, many", 30 * 30 * 4, [(30, 4), (30, 4)], torch.cdist),  # by a product
    function("pairs of rows", 5 * 4 // 2 * 4, (5, 4), torch.pdist),
    function("contrastive scores", 5 * 6 * 4, [(5, 4), (6, 4)], lambda a, b: F.normalize(a) @ F.normalize(b).T),
    function("vmap", 3 * 4 * 5 * 6, [(3, 4, 5), (3, 5, 6)], torch.vmap(lambda a, b: a @ b)),
    function("integers", 3 * 4 * 5, [torch.ones(3, 4, dtype=torch.long), torch.ones(4, 5, dtype=torch.long)], torch.mm),
    function(
        "int8 matmul",
        4 * 16 * 24,
        [torch.randint(-8, 8, s, dtype=torch.int8) for s in ((4, 16), (16, 24))],
        torch._int_mm,
    ),
    function(
        "int8 weights", 3 * 8 * 4, [BF16(3, 8), torch.ones(4, 8, dtype=torch.int8), BF16(4)], torch._weight_int8pack_mm
    ),
    layer("quantize_dynamic", 15 * (8 * 4 + 4 * 8 * (4 + 8)), (3, 5, 8), dynamic),
    function(
        "weighted bag",
        3 * 4 * 6,
        [torch.arange(12).view(3, 4), torch.rand(3, 4)],
        lambda i, s, w: F.embedding_bag(i, w, mode="sum", per_sample_weights=s),
        w=(20, 6),
    ),
    layer("tied weights", 4 * 3 * 16 * 32, (4, 32), Tied),
    function("one layer twice", 2 * 3 * 8 * 8, (3, 8), lambda x, a: a(F.relu(a(x))), a=(nn.Linear, 8, 8)),
    function(
        "LoRA",
        3 * (16 * 16 + 16 * 2 + 2 * 16),
        (3, 16),
        lambda x, base, a, b: base(x) + x @ a @ b,
        base=(frozen, nn.Linear, 16, 16),
        a=(16, 2),
        b=(2, 16),
    ),
    # layer, W v, and the dot with u
    layer("spectral norm", 2 * 6 * 4 + 4 * 6 + 4, (2, 6), lambda: parametrizations.spectral_norm(nn.Linear(6, 4))),
    # pruned and weight-normed layers: the product is dense all the same
    layer("pruned", 2 * 6 * 4, (2, 6), lambda: prune.l1_unstructured(nn.Linear(6, 4), "weight", amount=0.5)),
    layer("weight norm", 36 * 4 * 27, (1, 3, 8, 8), lambda: parametrizations.weight_norm(nn.Conv2d(3, 4, 3))),
    function("hand-written gradient", 3 * 4 * 5, (3, 4), lambda x, w: Square.apply(x, w), w=(4, 5)),
    # forward, gradient of x
    function(
        "gradient of a function",
        2 * 3 * 4 * 5,
        (3, 4),
        lambda x, w: torch.func.grad(lambda z: (z @ w).sum())(x),
        w=(4, 5),
    ),
    layer("torch.compile", 2 * 8 * 4, (2, 8), lambda: torch.compile(nn.Linear(8, 4))),
    layer("TorchScript", 64 * (4 * 3 * 9 + 2 * 4), (1, 3, 8, 8), traced),
]

# steps x gates x (inputs + hidden) x hidden, each direction; three sequences of 6, 4 and 1 steps: 11 steps
KINDS = {nn.LSTM: 4, nn.GRU: 3, nn.RNN: 1}
PACKED = pack_sequence([torch.randn(steps, 8) for steps in (6, 4, 1)])
RECURRENT = [
    layer("lstm", 10 * 4 * 64 * (32 + 64), (1, 10, 32), nn.LSTM, 32, 64, batch_first=True),
    layer("gru", 10 * 2 * 3 * 64 * (32 + 64), (10, 2, 32), nn.GRU, 32, 64),
    layer("rnn", 10 * 2 * 64 * (32 + 64), (10, 2, 32), nn.RNN, 32, 64),
    *(
        layer(
            f"{kind.__name__.lower()} {'both ways' if ways == 2 else '2 layers'}{how}",
            steps * ways * gates * 16 * ((8 + 16) + (16 * ways + 16)),
            inputs,
            partial(kind, 8, 16, 2, bidirectional=ways == 2),
        )
        for kind, gates in KINDS.items()
        for ways in (1, 2)
        for how, inputs, steps in (("", (7, 3, 8), 21), (" packed", PACKED, 11))
    ),
    function(
        "gru packed",
        11 * 3 * 16 * (8 + 16),
        [(3, 6, 8), torch.tensor([6, 4, 1])],
        packed,
        gru=(partial(nn.GRU, batch_first=True), 8, 16),
    ),
    layer("gru unbatched", 7 * 3 * 16 * (8 + 16), (7, 8), nn.GRU, 8, 16),
    layer("rnn relu, no bias", 21 * 16 * (8 + 16), (7, 3, 8), nn.RNN, 8, 16, nonlinearity="relu", bias=False),
    layer("lstm with a state", 21 * 4 * 16 * (8 + 16), [(7, 3, 8), ((1, 3, 16), (1, 3, 16))], nn.LSTM, 8, 16),
    layer("lstm bf16", 21 * 4 * 16 * (8 + 16), BF16(7, 3, 8), nn.LSTM, 8, 16, dtype=torch.bfloat16),
    # projection: gates see 8 inputs and 4 projected units; 16 x 4 more to project; the second layer sees 2 x 4
    layer("lstm projection", 21 * (4 * 16 * (8 + 4) + 4 * 16), (7, 3, 8), nn.LSTM, 8, 16, proj_size=4),
    layer(
        "lstm projection both ways",
        21 * 2 * 2 * (4 * 16 * (8 + 4) + 16 * 4),
        (7, 3, 8),
        partial(nn.LSTM, 8, 16, 2, proj_size=4, bidirectional=True),
    ),
    layer("lstm cell", 3 * 4 * 16 * (8 + 16), (3, 8), nn.LSTMCell, 8, 16),
    layer("gru cell", 3 * 3 * 16 * (8 + 16), (3, 8), nn.GRUCell, 8, 16),
    layer("rnn cell", 3 * 16 * (8 + 16), (3, 8), nn.RNNCell, 8, 16),
    function(
        "state-space scan",
        2 * 5 * (8 * 4 + 4 * 8),
        (2, 5, 8),
        scan,
        decay=(4,),
        into=(nn.Linear, 8, 4),
        out=(nn.Linear, 4, 8),
    ),
]

# four projections T E E each, scores and values T T E each; here T=7, E=16 for a batch of 3
SELF = 3 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16)
QKV = [(1, 4, 6, 8)] * 3
multihead = partial(nn.MultiheadAttention, batch_first=True)
encoder = partial(nn.TransformerEncoderLayer, 16, 2, 32, 0.0, batch_first=True)
ATTENTION = [
    layer("attention", 4 * 16 * 64 * 64 + 2 * 16 * 16 * 64, (1, 16, 64), SelfAttention, 64, 4, False),
    layer("attention with weights", 4 * 16 * 64 * 64 + 2 * 16 * 16 * 64, (1, 16, 64), SelfAttention, 64, 4, True),
    *(
        replace(layer(f"attention {name}", SELF, (3, 7, 16), SelfAttention, 16, 2, weights, **mask), training=training)
        for name, weights, training, mask in (
            ("in eval mode", False, False, {}),
            ("in training mode", False, True, {}),
            ("with weights in eval mode", True, False, {}),
            ("with weights in training mode", True, True, {}),
            ("with a mask in eval mode", False, False, {"attn_mask": torch.ones(7, 7, dtype=torch.bool).triu(1)}),
            ("with weights and a mask in training mode", True, True, {"attn_mask": torch.zeros(7, 7)}),
        )
    ),
    # q and output projections see 5 queries, k and v see 9 keys
    layer(
        "cross attention",
        2 * (2 * 5 + 2 * 9) * 32 * 32 + 2 * 2 * 5 * 9 * 32,
        [(2, 5, 32), (2, 9, 32), (2, 9, 32)],
        partial(multihead, 32, 2),
    ),
    # keys of 10, values of 12 numbers, 9 of them, projected to 16
    layer(
        "attention, own sizes",
        3 * (2 * 7 * 16 * 16 + 9 * 10 * 16 + 9 * 12 * 16 + 2 * 7 * 9 * 16),
        [(3, 7, 16), (3, 9, 10), (3, 9, 12)],
        partial(multihead, 16, 2, kdim=10, vdim=12),
    ),
    # two keys more than there are tokens: one learnt, one zero
    layer(
        "attention, added keys",
        3 * (4 * 7 * 16 * 16 + 2 * 7 * 9 * 16),
        [torch.randn(3, 7, 16)] * 3,
        partial(multihead, 16, 2, add_bias_kv=True, add_zero_attn=True),
    ),
    function("sdpa", 2 * 4 * 16 * 16 * 16, [(1, 4, 16, 16)] * 3, attend),
    function("sdpa causal", 2 * 2 * 4 * 16 * 16 * 8, [(2, 4, 16, 8)] * 3, partial(attend, is_causal=True)),
    function("sdpa grouped", 2 * 4 * 6 * 6 * 8, [(1, 4, 6, 8), *[(1, 2, 6, 8)] * 2], grouped),
    function("sdpa, one key and value", 2 * 4 * 6 * 6 * 8, [(1, 4, 6, 8), *[(1, 1, 6, 8)] * 2], grouped),
    function("sdpa mask", 2 * 4 * 6 * 9 * 8, [(1, 4, 6, 8), *[(1, 4, 9, 8)] * 2, torch.ones(6, 9).bool()], attend),
    function("sdpa bf16", 2 * 4 * 6 * 6 * 8, [BF16(1, 4, 6, 8) for _ in "qkv"], attend),
    function("sdpa dropout", 2 * 4 * 6 * 6 * 8, QKV, partial(attend, dropout_p=0.5)),
    function("sdpa, wide values", 4 * 6 * 6 * (8 + 5), [*QKV[:2], (1, 4, 6, 5)], attend),
    function(
        "attention by hand",
        2 * 4 * 6 * 6 * 8,
        [(4, 6, 8)] * 3,
        lambda q, k, v: torch.baddbmm(torch.zeros(1), q, k.mT, beta=0).softmax(-1) @ v,
    ),
    # keys and values first: no T x T at all
    function("linear attention", 2 * 2 * 16 * 8 * 8, [(2, 16, 8)] * 3, lambda q, k, v: F.elu(q) @ (F.elu(k).mT @ v)),
    # one token of 16 through 16 x 48 and 16 x 16; ten keys and values, two heads of 8
    layer("decode with a cache", 16 * 48 + 16 * 16 + 2 * 2 * 10 * 8, (1, 1, 16), Decoder),
    # attention as above with T=7, E=16, and two linear layers 16 <-> 32
    layer("encoder layer", 2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32), (2, 7, 16), encoder),
    # in evaluation mode padded positions would take a fused path
    function(
        "encoder with padding",
        2 * 2 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16 + 2 * 7 * 16 * 32),
        [(2, 7, 16), torch.arange(7).expand(2, 7) > 5],
        lambda x, padding, encoder: encoder(x, src_key_padding_mask=padding),
        encoder=(lambda: nn.TransformerEncoder(encoder(), 2),),
    ),
    # decoder layer: two attentions (memory of 9), and two linear layers
    layer(
        "decoder layer",
        (4 * 7 * 256 + 2 * 7 * 7 * 16) + ((2 * 7 + 2 * 9) * 256 + 2 * 7 * 9 * 16) + 2 * 7 * 16 * 32,
        [(1, 7, 16), (1, 9, 16)],
        partial(nn.TransformerDecoderLayer, 16, 2, 32, 0.0, batch_first=True),
    ),
    function("mixing of tokens", 2 * 8 * 5 * 7, (2, 5, 8), lambda x, w: torch.einsum("nte,ts->nse", x, w), w=(5, 7)),
    function(
        "patches by reshape",
        2 * 4 * 48 * 10,
        (2, 8, 8, 3),
        lambda x, w: x.reshape(2, 2, 4, 2, 4, 3).permute(0, 1, 3, 2, 4, 5).flatten(3) @ w,
        w=(48, 10),
    ),
]

OTHERS = [
    layer("batch norm", 0, (2, 16, 8, 8), nn.BatchNorm2d, 16),
    layer(
        "norms, pools, activations",
        0,
        (1, 4, 8, 8),
        lambda: nn.Sequential(
            nn.GroupNorm(2, 4), nn.GELU(), nn.MaxPool2d(2), nn.InstanceNorm2d(4), nn.AvgPool2d(2), nn.Softmax(1)
        ),
    ),
    layer("embedding", 0, torch.zeros(2, 5, dtype=torch.long), nn.Embedding, 100, 8),
    layer("upsample", 0, (1, 3, 8, 8), nn.Upsample, scale_factor=2, mode="bilinear"),
    layer("sums of several", 0, (1, 4, 8, 8), nn.AdaptiveAvgPool2d, 1),
    function("cumulative sum", 0, (2, 5, 8), lambda x: torch.cumsum(x * x, 1)),
    # every point (x, y, 1) meets a 2 x 3 matrix
    function("affine grid", 4 * 5 * 6, (1, 2, 3), partial(F.affine_grid, size=(1, 3, 4, 5), align_corners=False)),
    function(
        "graph convolution",
        5 * 4 * 3,
        [(5, 4), torch.randint(5, (7,)), torch.randint(5, (7,))],
        lambda x, s, d, w: torch.zeros(5, 3).index_add(0, d, (x @ w)[s]),
        w=(4, 3),
    ),
    layer("mixture of experts", 10 * 8 * 4 + 10 * 8 * 8, (10, 8), Experts),  # one expert a row
    layer("data decides, short", 2 * 8 * 8, torch.ones(2, 8), Early),
    layer("data decides, long", 2 * 2 * 8 * 8, -torch.ones(2, 8), Early),
    # 8 is halved three times before nothing is above 1
    function("data decides how often", 3 * 2 * 4 * 4, torch.full((2, 4), 8.0), halving, layer=(nn.Linear, 4, 4)),
    function(
        "branch of torch.cond",
        4 * 4 * 4,
        torch.ones(4, 4),
        lambda x: torch.cond(x.sum() > 0, lambda z: z @ z, lambda z: z @ z @ z, (x,)),
    ),
    function("names its device", 2 * 8 * 4, (2, 8), strict, layer=(nn.Linear, 8, 4)),
]


def vgg() -> int:
    """Positions x out x in x 9 of 13 convolutions, and three linear layers."""
    stages = ((224, (3, 64, 64)), (112, (64, 128, 128)), (56, (128, 256, 256, 256)), (28, (256, 512, 512, 512)))
    stages += ((14, (512, 512, 512, 512)),)
    return 9 * sum(side**2 * a * b for side, widths in stages for a, b in pairwise(widths)) + 4096 * (
        25088 + 4096 + 1000
    )


def mobilenet() -> int:
    """Stem, then blocks: 1x1 up (if it widens), depthwise 3x3 (9 a channel), 1x1 down; then 1x1 to 1280, and the head."""
    total, side, inside = 112**2 * 3 * 32 * 9, 112, 32
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, width, blocks, stride in stages:
        for at in range(blocks):
            hidden, after = inside * expansion, side // (stride if at == 0 else 1)
            total += (side**2 * inside * hidden if expansion > 1 else 0) + after**2 * hidden * (9 + width)
            side, inside = after, width
    return total + side**2 * inside * 1280 + 1280 * 1000


def unet(side: int) -> int:
    """Convolutions and transposed convolutions, level by level (widths 16, 32, 64, 128)."""
    s0, s1, s2, s3 = (side // 2**k for k in range(4))
    down = s0**2 * 9 * (3 * 16 + 16 * 16) + s1**2 * 9 * (16 * 32 + 32 * 32) + s2**2 * 9 * (32 * 64 + 64 * 64)
    middle = s3**2 * 9 * (64 * 128 + 128 * 128)
    lift = s3**2 * 128 * 64 * 4 + s2**2 * 64 * 32 * 4 + s1**2 * 32 * 16 * 4
    up = s2**2 * 9 * (128 * 64 + 64 * 64) + s1**2 * 9 * (64 * 32 + 32 * 32) + s0**2 * 9 * (32 * 16 + 16 * 16)
    return down + middle + lift + up + s0**2 * 16 * 2


E2 = 768**2
MODELS = [
    layer("VGG16", vgg(), IMAGE, models.vgg16),
    # ResNet18: stem; then 4 convolutions of width w at each stage, the first of stages 2-4 from w/2, and a 1x1 shortcut
    layer(
        "ResNet18",
        112**2 * 64 * 3 * 49
        + 56**2 * 9 * 4 * 64 * 64
        + sum(s**2 * (9 * (w // 2 * w + 3 * w * w) + w // 2 * w) for s, w in ((28, 128), (14, 256), (7, 512)))
        + 512 * 1000,
        IMAGE,
        models.resnet18,
    ),
    # ResNet50, stage (out side s, width w, blocks b): first block reads c channels at side `before` before its stride
    layer(
        "ResNet50",
        112**2 * 64 * 3 * 49
        + sum(
            before**2 * c * w + s**2 * (9 * w * w + 4 * w * w + c * 4 * w) + (b - 1) * s**2 * 17 * w * w
            for s, before, c, w, b in (
                (56, 56, 64, 64, 3),
                (28, 56, 256, 128, 4),
                (14, 28, 512, 256, 6),
                (7, 14, 1024, 512, 3),
            )
        )
        + 2048 * 1000,
        IMAGE,
        models.resnet50,
    ),
    layer("MobileNetV2", mobilenet(), IMAGE, models.mobilenet_v2),
    # ViT-B/16: patches 196 x 768 x 768; 12 blocks of 4 T E E + 2 T T E + 8 T E E with T=197, E=768; head
    layer("ViT-B/16", 196 * E2 + 12 * (12 * 197 * E2 + 2 * 197**2 * 768) + 768 * 1000, IMAGE, models.vit_b_16),
    # GPT block: T=32, E=768: qkv 3, projection 1, perceptron 8; attention dense
    layer("GPT block", 12 * 32 * E2 + 2 * 32 * 32 * 768, (1, 32, 768), models.gpt_block),
    layer("U-Net", unet(64), (1, 3, 64, 64), models.unet),
    # LSTM tagger: two layers, 128 -> 256 -> 256, and a head 256 -> 20, 12 steps
    layer(
        "LSTM tagger",
        12 * (4 * 256 * (128 + 256) + 4 * 256 * (256 + 256) + 256 * 20),
        torch.zeros(1, 12, dtype=torch.long),
        models.lstm,
    ),
]

ZOO: list[Entry] = CONVOLUTIONS + PRODUCTS + RECURRENT + ATTENTION + OTHERS + MODELS
