"""What `benchmarks.processes` times in new processes: two equal functions, one with a fifth more work."""

from __future__ import annotations

import itertools

import torch

torch.set_num_threads(1)
A, OUT = torch.full((16, 16), 0.5), torch.empty(16, 16)


def one() -> None:
    """200 small products."""
    for _ in itertools.repeat(None, 200):
        torch.mm(A, A, out=OUT)


def other() -> None:
    """200 small products, in a function of its own."""
    for _ in itertools.repeat(None, 200):
        torch.mm(A, A, out=OUT)


def longer() -> None:
    """240 small products."""
    for _ in itertools.repeat(None, 240):
        torch.mm(A, A, out=OUT)
