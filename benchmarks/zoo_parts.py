"""What the zoo is built of: the entry, and modules that torch has no class for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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


class Padded(nn.Module):
    """Two encoder layers with padded positions, which in evaluation mode would take a fused path."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        return self.encoder(x, src_key_padding_mask=padding)


class SelfAttention(nn.Module):
    """nn.MultiheadAttention on one input."""

    def __init__(self, width: int, heads: int, weights: bool) -> None:
        super().__init__()
        self.attention, self.weights = nn.MultiheadAttention(width, heads, batch_first=True), weights

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=self.weights)[0]


Make = Callable[[], tuple[nn.Module, tuple[Any, ...]]]


def randn(*shape: int) -> Tensor:
    """Any values: only shapes matter."""
    return torch.randn(*shape)


def layer(build: Callable[[], nn.Module], *inputs: Tensor) -> Make:
    """An entry's `make` for a layer."""
    return lambda: (build().eval(), inputs)


def function(run: Callable[..., Any], *inputs: Any, **tensors: Tensor) -> Make:
    """An entry's `make` for a function; `tensors` become its parameters."""
    return lambda: (Function(run, **tensors).eval(), inputs)


def attend(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """Attention of torch."""
    return F.scaled_dot_product_attention(q, k, v, **options)


def spectral() -> nn.Module:
    """A linear layer divided by its largest singular value."""
    return torch.nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4))


def traced() -> tuple[nn.Module, tuple[Any, ...]]:
    """A TorchScript module."""
    x = randn(1, 3, 8, 8)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval()
    return torch.jit.trace(net, x), (x,)


def int8() -> tuple[nn.Module, tuple[Any, ...]]:
    """A product of integer matrices."""
    a, b = torch.randint(-8, 8, (4, 16), dtype=torch.int8), torch.randint(-8, 8, (16, 24), dtype=torch.int8)
    return Function(torch._int_mm).eval(), (a, b)
