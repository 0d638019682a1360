"""What the zoo is built of: its entry, functions that write one, and modules that torch has no class for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Entry:
    """macs: of one forward, or of a training step. training: whether the module is in training mode."""

    name: str
    macs: int
    build: Callable[[], nn.Module]
    inputs: tuple[Any, ...]
    training: bool = False

    def make(self) -> tuple[nn.Module, tuple[Any, ...]]:
        """A new module and its inputs."""
        return self.build().train(self.training), self.inputs


def layer(name: str, macs: int, inputs: Any, kind: Callable[..., nn.Module], *arguments: Any, **options: Any) -> Entry:
    """The entry of kind(*arguments, **options). inputs: the shape of one, the input itself, or a list of these."""
    several = inputs if isinstance(inputs, list) else [inputs]
    return Entry(name, macs, partial(kind, *arguments, **options), tuple(map(value, several)))


def function(name: str, macs: int, inputs: Any, run: Callable[..., Any], **parts: Any) -> Entry:
    """The entry of `Function(run, **parts)`."""
    return layer(name, macs, inputs, Function, run, **parts)


def value(given: Any) -> Any:
    """Random numbers for a shape, also within a tuple; anything else as it is."""
    if type(given) is not tuple:
        return given
    return torch.randn(given) if all(isinstance(size, int) for size in given) else tuple(map(value, given))


class Function(nn.Module):
    """A function as a module, with the parameters (their shapes) and the modules (their class and its arguments) that
    it takes by name."""

    def __init__(self, run: Callable[..., Any], **parts: tuple[Any, ...]) -> None:
        super().__init__()
        self.run, self.names = run, tuple(parts)
        for name, (first, *rest) in parts.items():
            setattr(self, name, first(*rest) if callable(first) else nn.Parameter(torch.randn(first, *rest)))

    def forward(self, *inputs: Any) -> Any:
        return self.run(*inputs, **{name: getattr(self, name) for name in self.names})


def frozen(kind: Callable[..., nn.Module], *arguments: Any, **options: Any) -> nn.Module:
    """A module none of whose parameters is trained."""
    return kind(*arguments, **options).requires_grad_(False)


class Early(nn.Module):
    """Stops after the first layer if the input is positive on average: the control flow reads data."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        return y if x.mean() > 0 else self.second(y)


class Tied(nn.Module):
    """An encoder, a decoder, and the decoder's twin, which shares its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(32, 16, bias=False), nn.Linear(16, 32, bias=False)
        self.again = nn.Linear(16, 32, bias=False)
        self.again.weight = self.decoder.weight

    def forward(self, x: Tensor) -> Tensor:
        y = self.encoder(x)
        return self.decoder(y) + self.again(y)


class SelfAttention(nn.Module):
    """nn.MultiheadAttention on one input."""

    def __init__(self, width: int, heads: int, weights: bool, **options: Any) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.options = {"need_weights": weights, **options}

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, **self.options)[0]


class Decoder(nn.Module):
    """One step of generation: a new token attends to cached keys and values, which are buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("keys", torch.randn(1, 2, 9, 8))
        self.register_buffer("values", torch.randn(1, 2, 9, 8))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).view(1, 1, 3, 2, 8).permute(2, 0, 3, 1, 4)
        keys, values = torch.cat((self.keys, k), 2), torch.cat((self.values, v), 2)
        return self.out(F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(1, 1, 16))


class Square(torch.autograd.Function):
    """A product with a gradient written by hand."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, w = ctx.saved_tensors
        return grad @ w.T, x.T @ grad


def strict(x: Tensor, layer: nn.Module) -> Tensor:
    """Insists on the device of its input and names the device of a mask."""
    if x.device.type == "meta":
        raise RuntimeError("no data")
    return layer(x) * torch.ones(4, device="cpu")


def packed(x: Tensor, lengths: Tensor, gru: nn.Module) -> Tensor:
    """The last state of a GRU over sequences of unequal length."""
    return gru(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True))[1]


def halving(x: Tensor, layer: nn.Module) -> Tensor:
    """Halves its input until it is small: how often the layer runs depends on the data."""
    while x.abs().max() > 1:
        x = x / 2 + 0 * layer(x)
    return x


def deformable(x: Tensor, offsets: nn.Module, mix: nn.Module) -> Tensor:
    """Like a deformable convolution: samples at predicted places, then one product."""
    moved = F.grid_sample(x, offsets(x).permute(0, 2, 3, 1).tanh(), align_corners=False)
    return mix(moved.flatten(2).transpose(1, 2))


def scan(x: Tensor, decay: Tensor, into: nn.Module, out: nn.Module) -> Tensor:
    """A state-space model, step by step: a diagonal state, products in and out."""
    state, seen = x.new_zeros(x.shape[0], 4), []
    for at in range(x.shape[1]):
        state = state * decay.sigmoid() + into(x[:, at])
        seen.append(out(state))
    return torch.stack(seen, 1)


class Experts(nn.Module):
    """A mixture of experts: every row goes to one of four."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        chosen, out = self.gate(x).argmax(-1), torch.zeros_like(x)
        for at, expert in enumerate(self.experts):
            rows = (chosen == at).nonzero()[:, 0]
            out = out.index_add(0, rows, expert(x.index_select(0, rows)))
        return out


def traced() -> nn.Module:
    """A TorchScript module."""
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval()
    return torch.jit.trace(net, torch.randn(1, 3, 8, 8))


def dynamic() -> nn.Module:
    """A linear layer and an LSTM with int8 weights."""
    from torch.ao.quantization import quantize_dynamic

    return quantize_dynamic(nn.Sequential(nn.Linear(8, 4), nn.LSTM(4, 8)), {nn.Linear, nn.LSTM})
