"""Modules as people build them on forums and in papers, for the zoo: nothing here has a class in torch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Separable(nn.Module):
    """A depthwise and a pointwise convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.point = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 16, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.point(F.relu6(self.depth(x)))


class Gathering(nn.Module):
    """Like a deformable convolution: samples at predicted places, then one product."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets, self.mix = nn.Conv2d(4, 2, 3, padding=1), nn.Linear(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        moved = F.grid_sample(x, self.offsets(x).permute(0, 2, 3, 1).tanh(), align_corners=False)
        return self.mix(moved.flatten(2).transpose(1, 2))


class Scan(nn.Module):
    """A state-space model, step by step: a diagonal state, products in and out."""

    def __init__(self) -> None:
        super().__init__()
        self.decay, self.into, self.out = nn.Parameter(torch.zeros(4)), nn.Linear(8, 4), nn.Linear(4, 8)

    def forward(self, x: Tensor) -> Tensor:
        state, seen = x.new_zeros(x.shape[0], 4), []
        for at in range(x.shape[1]):
            state = state * self.decay.sigmoid() + self.into(x[:, at])
            seen.append(self.out(state))
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


class LowRank(nn.Module):
    """LoRA: a frozen layer and a trained product of two thin matrices beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Linear(16, 16).requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(16, 2)), nn.Parameter(torch.zeros(2, 16))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.a @ self.b


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


class Twice(nn.Module):
    """One layer used twice in a row."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(F.relu(self.layer(x)))


class Cut(nn.Module):
    """Two layers, and what stands between them: `detach`, `no_grad`, or a second one nobody asks for."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.first, self.second, self.how = nn.Linear(8, 6), nn.Linear(6, 4), how

    def forward(self, x: Tensor) -> Tensor:
        if self.how == "detach":
            return self.second(self.first(x).detach())
        if self.how == "no_grad":
            with torch.no_grad():
                y = self.first(x)
            return self.second(y)
        y = self.first(x)
        self.second(y)
        return y


class Heads(nn.Module):
    """A trunk and two heads, given back as a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 4), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        y = self.trunk(x).relu()
        return {"a": self.a(y), "b": self.b(y)}


class Words(nn.Module):
    """A table of vectors and a linear layer."""

    def __init__(self, frozen: bool) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 4)
        self.table.requires_grad_(not frozen)

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.table(words))


class Loop(nn.Module):
    """Halves its input until it is small: how often the layer runs depends on the data."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        while x.abs().max() > 1:
            x = x / 2 + 0 * self.layer(x)
        return x


class WithLoss(nn.Module):
    """A classifier that gives back its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x: Tensor, truth: Tensor) -> Tensor:
        return F.cross_entropy(self.net(x), truth)
