"""Small computations that repeat themselves to the last bit, or do not: the material of lesson 06.

Everything runs on a CPU in milliseconds. A fingerprint stands for all the bits of a result, so two results
are compared by their fingerprints.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from course.core import arguments

ENTRIES = 10
MOST_THREADS, MOST_SAMPLES, MOST_PIECES = 8, 400_000, 16


def fingerprint(*tensors: Tensor) -> str:
    """Eight hexadecimal digits made from every bit of the tensors: another bit, another fingerprint."""
    digest = hashlib.sha256()
    for tensor in tensors:
        arguments.of_type("tensor", tensor, Tensor)
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:8]


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """``count`` CPU threads for a block, the old number afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def table_training(seed: int = 0, samples: int = 200_000, steps: int = 3) -> Tensor:
    """Learn a table of 10 numbers by gradient descent; returns it, shape (10,).

    Every random number comes from the seed. Each sample looks its entry up by indexing, so the backward pass
    adds some 20,000 gradients into each entry.
    """
    torch.manual_seed(seed)
    table = torch.randn(ENTRIES, requires_grad=True)
    index, target = torch.randint(0, ENTRIES, (samples,)), torch.randn(samples)
    for _ in range(steps):
        loss = (table[index] - target).square().mean()
        (gradient,) = torch.autograd.grad(loss, table)
        table = (table - 0.5 * gradient).detach().requires_grad_()
    return table.detach()


def small_training(seed: int = 0, threads: int = 1, samples: int = 256, pieces: int = 1) -> Tensor:
    """Five steps of linear regression; returns weights and losses, shape (13,). Repeats for equal arguments.

    threads: CPU threads, 1 to 8. samples: 64 to 400,000. pieces: the batch is worked through in that many
    pieces, 1 to 16, whose gradients are added up; the mathematics is the same. Raises ValueError out of range.
    """
    arguments.whole("seed", seed)
    arguments.whole("threads", threads, 1, MOST_THREADS)
    arguments.whole("pieces", pieces, 1, MOST_PIECES)
    arguments.whole("samples", samples, 64, MOST_SAMPLES)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return _regression(torch.Generator().manual_seed(seed), samples, pieces)
    finally:
        torch.set_num_threads(before)


def _regression(rng: torch.Generator, samples: int, pieces: int) -> Tensor:
    inputs = torch.randn(8, samples, generator=rng)
    targets = inputs.sum(0).tanh() + 0.1 * torch.randn(samples, generator=rng)
    weights, losses = torch.randn(8, generator=rng), []
    for _ in range(5):
        total, slope = torch.zeros(()), torch.zeros(8)
        for x, y in zip(inputs.chunk(pieces, 1), targets.chunk(pieces), strict=True):
            rest = weights @ x - y
            total = total + rest.square().sum()
            slope = slope + torch.stack([(row * rest).sum() for row in x])
        losses.append(total / samples)
        weights = weights - 0.2 * slope / samples
    return torch.cat([weights, torch.stack(losses)])


# --- one unit in the last place -----------------------------------------------------------------------------


def nudge(values: Tensor) -> None:
    """Replace every value by the next larger float: the smallest change there is."""
    with torch.no_grad():
        values.copy_(torch.nextafter(values, torch.full_like(values, math.inf)))


def duel_losses(nudged: bool, steps: int) -> list[float]:
    """Generator losses of a tiny GAN (points on a circle) with momentum; `nudged` moves two biases by 1 ulp."""
    torch.manual_seed(0)
    forger = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    judge = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    if nudged:
        nudge(forger[2].bias)
    moves = [torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.7) for net in (forger, judge)]
    doubt, ones, zeros = nn.functional.binary_cross_entropy_with_logits, torch.ones(32, 1), torch.zeros(32, 1)
    losses = []
    for _ in range(steps):
        noise, angle = torch.randn(32, 4), torch.rand(32) * 2 * math.pi
        real = torch.stack([angle.cos(), angle.sin()], 1)
        _step(moves[1], doubt(judge(real), ones) + doubt(judge(forger(noise).detach()), zeros))
        losses.append(_step(moves[0], doubt(judge(forger(noise)), ones)))
    return losses


def fit_losses(nudged: bool, steps: int) -> list[float]:
    """Losses of a straight-line fit by the same optimiser; `nudged` moves its bias by 1 ulp."""
    torch.manual_seed(0)
    line = nn.Linear(4, 1)
    if nudged:
        nudge(line.bias)
    inputs = torch.randn(64, 4)
    targets = inputs.sum(1, keepdim=True) + 0.1 * torch.randn(64, 1)
    move = torch.optim.SGD(line.parameters(), lr=0.02, momentum=0.9)
    return [_step(move, (line(inputs) - targets).square().mean()) for _ in range(steps)]


def _step(move: torch.optim.Optimizer, loss: Tensor) -> float:
    move.zero_grad()
    loss.backward()
    move.step()
    return loss.item()
