"""Training steps with multiply-accumulates derived by hand: forward and backward of one batch.

A gradient that is needed costs what the forward costs: f. A layer on data needs the gradient of its weight (2 f in
all), a layer behind something trained that of its input too (3 f), a frozen layer behind something trained that
of its input alone (2 f), a frozen layer in front nothing (f). Each entry writes its number as that sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm
from torch.utils._pytree import tree_map

from benchmarks.zoo import KINDS, PACKED, ZOO, attend
from benchmarks.zoo_parts import Entry, Function, frozen, layer

FORWARD = {entry.name: entry for entry in ZOO}


def on_data(name: str, macs: int) -> Entry:
    """A step of a forward of the zoo on its inputs."""
    return replace(FORWARD[name], name=f"{name} on data", macs=macs, training=True)


def behind(name: str, macs: int) -> Entry:
    """The same behind something trained: its inputs ask for their gradients."""
    return replace(FORWARD[name], macs=macs, inputs=hot(*FORWARD[name].inputs), training=True)


def hot(*inputs: Any) -> tuple[Any, ...]:
    """Copies of the inputs which ask for their gradients, as far as these are no integers."""

    def asking(x: Any) -> Any:
        real = isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex())
        return x.clone().requires_grad_() if real else x

    return tuple(tree_map(asking, inputs))


def step(name: str, macs: int, inputs: Any, kind: Callable[..., nn.Module], *arguments: Any, **options: Any) -> Entry:
    """A step of a module that the zoo has no forward of, on data."""
    return replace(layer(name, macs, inputs, kind, *arguments, **options), training=True)


def hot_step(name: str, macs: int, inputs: Any, *kind: Any, **options: Any) -> Entry:
    """The same behind something trained."""
    entry = step(name, macs, inputs, *kind, **options)
    return replace(entry, inputs=hot(*entry.inputs))


def recurrent(gates: int, steps: int, rows: int, inputs: int, hidden: int, uses: int) -> int:
    """One layer and direction: `uses` of its inputs (2 on data, 3 behind something trained), 3 of its state, less
    the gradient of the first state, which nobody asks for. steps: of all sequences; rows: sequences."""
    return gates * hidden * (uses * steps * inputs + (3 * steps - rows) * hidden)


TWICE = "linear; conv2d; transposed 2d; linear bf16; lstm cell; data decides, short"
"""Forwards whose step on data costs two of them: forward and gradient of the weight."""
THRICE = (
    "linear; conv1d; conv2d; conv2d groups; conv2d depthwise; conv2d reflect; conv3d; transposed 1d; transposed 2d; "
    "transposed groups; unfold and matmul; matmul; complex matmul; einsum; baddbmm; distances; weighted bag; "
    "graph convolution; hand-written gradient; norms, pools, activations; lstm with a state; attention with weights; "
    "sdpa; sdpa causal; sdpa grouped"
)
"""Those whose step behind something trained costs three: the gradient of the input too."""

SAME = [
    *(on_data(name, 2 * FORWARD[name].macs) for name in TWICE.split("; ")),
    *(behind(name, 3 * FORWARD[name].macs) for name in THRICE.split("; ")),
    # each gradient is one product more, in which the output features are summed
    on_data("bilinear", FORWARD["bilinear"].macs + 3 * 5 * 6 * 7),
    behind("bilinear", FORWARD["bilinear"].macs + 3 * 3 * 5 * 6 * 7),
    behind("mv", 2 * 9 * 7),  # the gradient of the matrix is an outer product, in which nothing is summed
    on_data("depthwise separable", 2 * 100 * (2 * 8 * 9 + 3 * 8 * 16)),  # depthwise on data, pointwise behind it
    *(
        behind(
            f"{kind.__name__.lower()} both ways", sum(2 * recurrent(gates, 21, 3, width, 16, 3) for width in (8, 32))
        )
        for kind, gates in KINDS.items()
    ),
    on_data("gru packed", recurrent(3, 11, 3, 8, 16, 2)),
    # gates see 8 inputs (2) and 4 projected units (3, less the first state), the projection 16 x 4 (3)
    on_data("lstm projection", 4 * 16 * (2 * 21 * 8 + (3 * 21 - 3) * 4) + 3 * 21 * 16 * 4),
    on_data("state-space scan", 2 * 5 * (2 * 8 * 4 + 3 * 4 * 8)),  # `into` reads data (2), `out` the state (3)
    # the three projections 2, scores, values and the last projection 3
    on_data("attention", 2 * 3 * 16 * 64 * 64 + 3 * (2 * 16 * 16 * 64 + 16 * 64 * 64)),
    # q, k, v projection on data 2, output projection 3; one token against ten keys (nine of them fixed, all
    # of them in each product): forward, gradients of q, k, v and of the weights
    on_data("decode with a cache", 2 * 16 * 48 + 3 * 16 * 16 + 3 * 2 * 2 * 10 * 8),
    # everything 3, but the three projections read data
    on_data("encoder layer", 2 * (3 * (4 * 7 * 256 + 2 * 49 * 16 + 2 * 7 * 16 * 32) - 3 * 7 * 256)),
    # likewise, and keys and values of the memory of 9 read data too
    on_data("decoder layer", 3 * FORWARD["decoder layer"].macs - (3 * 7 + 2 * 9) * 256),
    # encoder on data 2; decoder and its twin, which share a weight, 3 each
    on_data("tied weights", (2 + 3 + 3) * 4 * 16 * 32),
    on_data("one layer twice", (2 + 3) * 3 * 8 * 8),
    on_data("LoRA", 3 * (16 * 16 + 2 * 16 * 2 + 3 * 2 * 16)),  # base frozen and on data 1; a on data 2; b 3
    # the gate is frozen out by its argmax: forward alone; one expert a row on data
    on_data("mixture of experts", 10 * 8 * 4 + 2 * 10 * 8 * 8),
    # three forwards, less the gradient of the image that nobody asks for (the first convolution)
    *(
        on_data(name, 3 * FORWARD[name].macs - first)
        for name, first in (
            ("VGG16", 224**2 * 64 * 27),
            ("ResNet18", 112**2 * 64 * 147),
            ("ResNet50", 112**2 * 64 * 147),
            ("MobileNetV2", 112**2 * 32 * 27),
            ("ViT-B/16", 196 * 768 * 768),
            ("GPT block", 0),  # a norm with parameters stands in front
        )
    ),
    # the table is trained, so both layers get the gradient of their input; not of their first state
    on_data("LSTM tagger", recurrent(4, 12, 1, 128, 256, 3) + recurrent(4, 12, 1, 256, 256, 3) + 3 * 12 * 256 * 20),
]


def stack(*learns: bool) -> nn.Module:
    """Three linear layers 8-6-4-2 of 48, 24 and 8 MACs a row; which of them are trained."""
    sizes = zip(learns, (8, 6, 4), (6, 4, 2), strict=True)
    first, second, third = (nn.Linear(a, b).requires_grad_(trained) for trained, a, b in sizes)
    return nn.Sequential(first, nn.ReLU(), second, nn.Tanh(), third)


def only_biases() -> nn.Module:
    """Two layers whose weights are not trained."""
    net = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4))
    for name, parameter in net.named_parameters():
        parameter.requires_grad_(name.endswith("bias"))
    return net


def under_no_grad(x: Tensor, first: nn.Module, second: nn.Module) -> Tensor:
    """The first layer records nothing."""
    with torch.no_grad():
        y = first(x)
    return second(y)


ROWS, WORDS, QUERY = (5, 8), torch.tensor([[1, 2, 3]]), torch.randn(1, 4, 6, 8, requires_grad=True)
TWO = {"first": (nn.Linear, 8, 6), "second": (nn.Linear, 6, 4)}
OWN = [
    hot_step("linear frozen", 2 * 8 * 16 * 24, (8, 16), frozen, nn.Linear, 16, 24),
    step("three layers", 5 * (2 * 48 + 3 * 24 + 3 * 8), ROWS, stack, True, True, True),
    step("first frozen", 5 * (48 + 2 * 24 + 3 * 8), ROWS, stack, False, True, True),
    step("middle frozen", 5 * (2 * 48 + 2 * 24 + 3 * 8), ROWS, stack, True, False, True),
    step("last frozen", 5 * (2 * 48 + 3 * 24 + 2 * 8), ROWS, stack, True, True, False),
    step("only the head", 5 * (48 + 24 + 2 * 8), ROWS, stack, False, False, True),
    # the gradient must pass the second weight, no more
    step("only the biases", 5 * (48 + 2 * 24), ROWS, only_biases),
    step("weight norm", 2 * 2 * 6 * 4, (2, 6), lambda: weight_norm(nn.Linear(6, 4))),
    step(
        "batch norm and loss",
        5 * (2 * 8 * 16 + 3 * 16 * 3),
        [ROWS, torch.tensor([0, 1, 2, 0, 1])],
        Function,
        lambda x, truth, a, norm, b: F.cross_entropy(b(norm(a(x)).relu()), truth),
        a=(nn.Linear, 8, 16),
        norm=(nn.BatchNorm1d, 16),
        b=(nn.Linear, 16, 3),
    ),
    hot_step("conv2d frozen", 2 * 36 * 6 * 4 * 9, (1, 4, 8, 8), frozen, nn.Conv2d, 4, 6, 3),
    hot_step("conv2d stride, dilation", 3 * 2 * 36 * 8 * 27, (2, 3, 15, 15), nn.Conv2d, 3, 8, 3, stride=2, dilation=2),
    hot_step("conv of two tensors", 3 * 36 * 4 * 3 * 9, [(1, 3, 8, 8), (4, 3, 3, 3)], Function, F.conv2d),
    *(
        step(f"{kind.__name__.lower()} on data", recurrent(gates, 21, 3, 8, 16, 2), (7, 3, 8), kind, 8, 16)
        for kind, gates in KINDS.items()
    ),
    step("lstm packed", recurrent(4, 11, 3, 8, 16, 2), PACKED, nn.LSTM, 8, 16),
    hot_step("gru cell", 3 * 3 * 3 * 16 * (8 + 16), [(3, 8), (3, 16)], nn.GRUCell, 8, 16),
    hot_step("rnn cell", 3 * 3 * 16 * (8 + 16), [(3, 8), (3, 16)], nn.RNNCell, 8, 16),
    # scores: forward and the gradient of q; values: forward and the gradient of the weights
    step("sdpa, keys and values fixed", 2 * 2 * 4 * 6 * 6 * 8, [QUERY, (1, 4, 6, 8), (1, 4, 6, 8)], Function, attend),
    step("embedding and head", 3 * 3 * 8 * 4, WORDS, lambda: nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 4))),
    step("frozen embedding", 2 * 3 * 8 * 4, WORDS, lambda: nn.Sequential(frozen(nn.Embedding, 20, 8), nn.Linear(8, 4))),
    step(
        "detached", 3 * (8 * 6 + 2 * 6 * 4), (3, 8), Function, lambda x, first, second: second(first(x).detach()), **TWO
    ),
    step("under no_grad", 3 * (8 * 6 + 2 * 6 * 4), (3, 8), Function, under_no_grad, **TWO),
    step(
        "a branch without a gradient",
        3 * (2 * 8 * 6 + 6 * 4),
        (3, 8),
        Function,
        lambda x, first, second: (y := first(x), second(y))[0],
        **TWO,
    ),
    # a trunk and two heads, given back as a dict
    step(
        "two heads",
        3 * (2 * 8 * 6 + 3 * 6 * 4 + 3 * 6 * 2),
        (3, 8),
        Function,
        lambda x, a, b, trunk: {"a": a(y := trunk(x).relu()), "b": b(y)},
        trunk=(nn.Linear, 8, 6),
        a=(nn.Linear, 6, 4),
        b=(nn.Linear, 6, 2),
    ),
]

STEPS: list[Entry] = SAME + OWN
