"""More of the zoo: every recurrent layer, every way to attention, every operator, and models from forums.

Each number is written as the product it comes from, derived by hand. Letters as in zoo.py: N batch, T length,
E width, H hidden units.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, prune
from torch.nn.utils.rnn import pack_sequence

from benchmarks.zoo_parts import Entry, attend, function, layer, randn
from benchmarks.zoo_parts_odd import Decoder, Experts, Gathering, Loop, LowRank, Scan, Separable, Square, Twice


def packed() -> nn.utils.rnn.PackedSequence:
    """Three sequences of 6, 4 and 1 steps of 8 numbers: 11 steps."""
    return pack_sequence([randn(6, 8), randn(4, 8), randn(1, 8)])


def both_ways(steps: int, gates: int, directions: int) -> int:
    """Two layers, 8 inputs, 16 units: gates x 16 x (inputs + 16) a step, layer and direction."""
    return steps * directions * gates * 16 * ((8 + 16) + (16 * directions + 16))


RECURRENT = [
    *(
        Entry(
            f"{kind.__name__.lower()} {'both ways' if d == 2 else '2 layers'}{' packed' if sequences else ''}",
            lambda kind=kind, d=d, sequences=sequences: (
                kind(8, 16, 2, bidirectional=d == 2).eval(),
                (packed() if sequences else randn(7, 3, 8),),
            ),
            both_ways(11 if sequences else 21, gates, d),
        )
        for kind, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1))
        for d in (1, 2)
        for sequences in (False, True)
        if (kind, d, sequences) != (nn.LSTM, 2, False)
    ),
    Entry("rnn cell", layer(lambda: nn.RNNCell(8, 16), randn(3, 8)), 3 * 16 * (8 + 16)),
    Entry(
        "rnn relu, no bias",
        layer(lambda: nn.RNN(8, 16, nonlinearity="relu", bias=False), randn(7, 3, 8)),
        21 * 16 * (8 + 16),
    ),
    Entry(
        "lstm with a state",
        layer(lambda: nn.LSTM(8, 16), randn(7, 3, 8), (randn(1, 3, 16), randn(1, 3, 16))),
        21 * 4 * 16 * (8 + 16),
    ),
    Entry("lstm bf16", layer(lambda: nn.LSTM(8, 16).bfloat16(), randn(7, 3, 8).bfloat16()), 21 * 4 * 16 * 24),
    Entry("gru unbatched", layer(lambda: nn.GRU(8, 16), randn(7, 8)), 7 * 3 * 16 * 24),
    # projection: gates see 8 inputs and 4 projected units; 16 x 4 more to project; the second layer sees 2 x 4
    Entry(
        "lstm projection both ways",
        layer(lambda: nn.LSTM(8, 16, 2, proj_size=4, bidirectional=True), randn(7, 3, 8)),
        21 * 2 * ((4 * 16 * (8 + 4) + 16 * 4) + (4 * 16 * (8 + 4) + 16 * 4)),
    ),
]


def mha(weights: bool, training: bool, **options: object) -> Entry:
    """Self-attention of T=7, E=16 for a batch of 3, by one of its paths."""

    class Self(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            return self.attention(x, x, x, need_weights=weights, **options)[0]

    name = f"attention, weights {weights}, {'train' if training else 'eval'}{', mask' if options else ''}"
    return Entry(name, lambda: (Self().train(training), (randn(3, 7, 16),)), 3 * (4 * 7 * 16 * 16 + 2 * 7 * 7 * 16))


def heads(length: int, width: int = 8, number: int = 4) -> Tensor:
    """Queries, keys or values of one sequence."""
    return randn(1, number, length, width)


ATTENTION = [
    *(mha(weights, training) for weights in (False, True) for training in (False, True)),
    mha(False, False, attn_mask=torch.ones(7, 7, dtype=torch.bool).triu(1)),
    mha(True, True, attn_mask=torch.zeros(7, 7)),
    # keys of 10, values of 12 numbers, 9 of them, projected to 16
    Entry(
        "attention, own sizes",
        layer(
            lambda: nn.MultiheadAttention(16, 2, kdim=10, vdim=12, batch_first=True),
            randn(3, 7, 16),
            randn(3, 9, 10),
            randn(3, 9, 12),
        ),
        3 * (2 * 7 * 16 * 16 + 9 * 10 * 16 + 9 * 12 * 16 + 2 * 7 * 9 * 16),
    ),
    # two keys more than there are tokens: one learnt, one zero
    Entry(
        "attention, added keys",
        layer(
            lambda: nn.MultiheadAttention(16, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True),
            *[randn(3, 7, 16)] * 3,
        ),
        3 * (4 * 7 * 16 * 16 + 2 * 7 * 9 * 16),
    ),
    Entry(
        "sdpa mask",
        function(
            lambda q, k, v, mask: attend(q, k, v, attn_mask=mask),
            heads(6),
            heads(9),
            heads(9),
            torch.ones(6, 9, dtype=torch.bool),
        ),
        2 * 4 * 6 * 9 * 8,
    ),
    Entry("sdpa bf16", function(attend, *(heads(6).bfloat16() for _ in range(3))), 2 * 4 * 6 * 6 * 8),
    Entry(
        "sdpa dropout",
        function(lambda q, k, v: attend(q, k, v, dropout_p=0.5), *(heads(6) for _ in range(3))),
        2 * 4 * 6 * 6 * 8,
    ),
    Entry("sdpa, wide values", function(attend, heads(6), heads(6), heads(6, 5)), 4 * 6 * 6 * (8 + 5)),
    Entry(
        "sdpa, one key and value",
        function(lambda q, k, v: attend(q, k, v, enable_gqa=True), heads(6), heads(6, 8, 1), heads(6, 8, 1)),
        2 * 4 * 6 * 6 * 8,
    ),
    Entry(
        "attention by hand",
        function(
            lambda q, k, v: (torch.baddbmm(torch.zeros(1), q, k.mT, beta=0)).softmax(-1) @ v,
            randn(4, 6, 8),
            randn(4, 6, 8),
            randn(4, 6, 8),
        ),
        2 * 4 * 6 * 6 * 8,
    ),
    # keys and values first: no T x T at all
    Entry(
        "linear attention",
        function(lambda q, k, v: F.elu(q) @ (F.elu(k).mT @ v), *(randn(2, 16, 8) for _ in "qkv")),
        2 * 2 * 16 * 8 * 8,
    ),
    # one token of 16 through 16 x 48 and 16 x 16; ten keys and values, two heads of 8
    Entry("decode with a cache", lambda: (Decoder().eval(), (randn(1, 1, 16),)), 16 * 48 + 16 * 16 + 2 * 2 * 10 * 8),
]

OPERATORS = [
    Entry("mv", function(torch.mv, randn(9, 7), randn(7)), 9 * 7),
    Entry("vector times matrix", function(lambda x, w: x @ w, randn(7), w=randn(7, 9)), 9 * 7),
    Entry("outer product", function(torch.outer, randn(5), randn(6)), 0),  # nothing is summed
    Entry(
        "addmm in place",
        function(lambda c, a, b: c.clone().addmm_(a, b), randn(3, 5), randn(3, 4), randn(4, 5)),
        3 * 4 * 5,
    ),
    Entry(
        "mm into out", function(lambda a, b: torch.mm(a, b, out=torch.empty(3, 5)), randn(3, 4), randn(4, 5)), 3 * 4 * 5
    ),
    Entry("broadcast matmul", function(torch.matmul, randn(2, 1, 3, 4), randn(5, 4, 6)), 2 * 5 * 3 * 4 * 6),
    Entry(
        "einsum of three",
        function(lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c), randn(2, 3), randn(3, 4), randn(4, 5)),
        2 * 3 * 4 + 2 * 4 * 5,
    ),  # from left to right
    Entry(
        "multi_dot",
        function(lambda a, b, c: torch.linalg.multi_dot([a, b, c]), randn(2, 3), randn(3, 4), randn(4, 5)),
        2 * 3 * 4 + 2 * 4 * 5,
    ),  # the cheaper order: 64 against 90
    Entry("matrix power", function(lambda a: torch.linalg.matrix_power(a, 3), randn(4, 4)), 2 * 4 * 4 * 4),
    Entry("inner", function(torch.inner, randn(3, 4), randn(5, 4)), 3 * 5 * 4),
    Entry("covariance", function(torch.cov, randn(3, 10)), 3 * 3 * 10),
    Entry("distances", function(torch.cdist, randn(2, 5, 4), randn(2, 6, 4)), 2 * 5 * 6 * 4),
    Entry("distances, many", function(torch.cdist, randn(30, 4), randn(30, 4)), 30 * 30 * 4),  # by a product
    Entry("pairs of rows", function(torch.pdist, randn(5, 4)), 5 * 4 // 2 * 4),
    Entry(
        "integers",
        function(torch.mm, torch.ones(3, 4, dtype=torch.long), torch.ones(4, 5, dtype=torch.long)),
        3 * 4 * 5,
    ),
    Entry("linear bf16", layer(lambda: nn.Linear(8, 4).bfloat16(), randn(3, 8).bfloat16()), 3 * 8 * 4),
    Entry("linear float16", layer(lambda: nn.Linear(8, 4).half(), randn(3, 8).half()), 3 * 8 * 4),
    Entry(
        "int8 weights",
        function(
            torch._weight_int8pack_mm, randn(3, 8).bfloat16(), torch.ones(4, 8, dtype=torch.int8), randn(4).bfloat16()
        ),
        3 * 8 * 4,
    ),
    Entry("vmap", function(torch.vmap(lambda a, b: a @ b), randn(3, 4, 5), randn(3, 5, 6)), 3 * 4 * 5 * 6),
    Entry(
        "gradient of a function",
        function(lambda x, w: torch.func.grad(lambda z: (z @ w).sum())(x), randn(3, 4), w=randn(4, 5)),
        2 * 3 * 4 * 5,
    ),  # forward, gradient of x
    Entry(
        "branch of torch.cond",
        function(lambda x: torch.cond(x.sum() > 0, lambda z: z @ z, lambda z: z @ z @ z, (x,)), torch.ones(4, 4)),
        4 * 4 * 4,
    ),
    # two pruned, weight-normed, reparametrised layers: the product is dense all the same
    Entry(
        "pruned",
        lambda: (prune.l1_unstructured(nn.Linear(6, 4), "weight", amount=0.5).eval(), (randn(2, 6),)),
        2 * 6 * 4,
    ),
    Entry(
        "weight norm",
        lambda: (parametrizations.weight_norm(nn.Conv2d(3, 4, 3)).eval(), (randn(1, 3, 8, 8),)),
        36 * 4 * 27,
    ),
    Entry("hand-written gradient", function(lambda x, w: Square.apply(x, w), randn(3, 4), w=randn(4, 5)), 3 * 4 * 5),
    Entry("torch.compile", lambda: (torch.compile(nn.Linear(8, 4)).eval(), (randn(2, 8),)), 2 * 8 * 4),
    Entry("quantize_dynamic", lambda: (_dynamic(), (randn(3, 5, 8),)), 15 * (8 * 4 + 4 * 8 * (4 + 8))),
]


def _dynamic() -> nn.Module:
    """A linear layer and an LSTM with int8 weights."""
    from torch.ao.quantization import quantize_dynamic

    return quantize_dynamic(nn.Sequential(nn.Linear(8, 4), nn.LSTM(4, 8)), {nn.Linear, nn.LSTM})


def _convolutions_as_functions() -> list[Entry]:
    return [
        # one kernel a sample, written as one grouped convolution: positions x out x in x 9 each
        Entry(
            "dynamic convolution",
            function(
                lambda x, w: F.conv2d(x.reshape(1, -1, 6, 6), w.reshape(-1, 3, 3, 3), groups=2),
                randn(2, 3, 6, 6),
                randn(2, 4, 3, 3, 3),
            ),
            2 * 16 * 4 * 27,
        ),
        Entry(
            "fold of unfold",
            function(lambda x, w: F.fold(w @ F.unfold(x, 3, padding=1), (6, 6), 1), randn(1, 3, 6, 6), w=randn(5, 27)),
            36 * 5 * 27,
        ),
        Entry(
            "causal conv1d",
            function(lambda x, w: F.conv1d(F.pad(x, (2, 0)), w), randn(1, 3, 8), w=randn(4, 3, 3)),
            8 * 4 * 9,
        ),
        Entry(
            "patches by reshape",
            function(
                lambda x, w: x.reshape(2, 2, 4, 2, 4, 3).permute(0, 1, 3, 2, 4, 5).flatten(3) @ w,
                randn(2, 8, 8, 3),
                w=randn(48, 10),
            ),
            2 * 4 * 48 * 10,
        ),
        Entry(
            "mixing of tokens",
            function(lambda x, w: torch.einsum("nte,ts->nse", x, w), randn(2, 5, 8), w=randn(5, 7)),
            2 * 8 * 5 * 7,
        ),
        # torch splits a complex convolution into three real ones (Gauss's trick)
        Entry(
            "complex conv1d",
            function(
                F.conv1d, torch.randn(1, 2, 8, dtype=torch.complex64), torch.randn(3, 2, 3, dtype=torch.complex64)
            ),
            3 * 6 * 3 * 2 * 3,
        ),
        Entry(
            "graph convolution",
            function(
                lambda x, s, d, w: torch.zeros(5, 3).index_add(0, d, (x @ w)[s]),
                randn(5, 4),
                torch.randint(5, (7,)),
                torch.randint(5, (7,)),
                w=randn(4, 3),
            ),
            5 * 4 * 3,
        ),
        Entry("cumulative sum", function(lambda x: torch.cumsum(x * x, 1), randn(2, 5, 8)), 0),
        Entry(
            "contrastive scores",
            function(lambda a, b: F.normalize(a) @ F.normalize(b).T, randn(5, 4), randn(6, 4)),
            5 * 6 * 4,
        ),
        Entry(
            "affine grid",
            function(lambda t: F.affine_grid(t, (1, 3, 4, 5), align_corners=False), randn(1, 2, 3)),
            4 * 5 * 2 * 3,
        ),  # every point (x, y, 1) meets a 2 x 3 matrix
    ]


FORUMS = [
    *_convolutions_as_functions(),
    Entry("depthwise separable", layer(Separable, randn(2, 8, 10, 10)), 2 * 100 * (8 * 9 + 8 * 16)),
    # offsets: 36 positions x 2 x 4 x 9; sampling is interpolation; 36 rows of 4 -> 6
    Entry("deformable sampling", layer(Gathering, randn(1, 4, 6, 6)), 36 * 2 * 4 * 9 + 36 * 4 * 6),
    Entry("state-space scan", layer(Scan, randn(2, 5, 8)), 2 * 5 * (8 * 4 + 4 * 8)),
    Entry("mixture of experts", layer(Experts, randn(10, 8)), 10 * 8 * 4 + 10 * 8 * 8),  # one expert a row
    Entry("LoRA", layer(LowRank, randn(3, 16)), 3 * (16 * 16 + 16 * 2 + 2 * 16)),
    Entry("one layer twice", layer(Twice, randn(3, 8)), 2 * 3 * 8 * 8),
    # 8 is halved three times before nothing is above 1
    Entry("data decides how often", lambda: (Loop().eval(), (torch.full((2, 4), 8.0),)), 3 * 2 * 4 * 4),
    Entry("sums of several", layer(lambda: nn.AdaptiveAvgPool2d(1), randn(1, 4, 8, 8)), 0),
]

MORE: list[Entry] = RECURRENT + ATTENTION + OPERATORS + FORUMS
