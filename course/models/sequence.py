"""Models of sequences: one GPT-2 block, and an LSTM tagger."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


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
