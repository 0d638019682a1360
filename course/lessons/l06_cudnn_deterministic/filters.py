"""A toy of the two cuDNN switches: ``deterministic`` crosses candidates out, ``benchmark`` times what is left.

Its skeleton is that of aten/src/ATen/native/cudnn/Conv_v8.cpp (``filterEngineConfigs`` before heuristics and
search alike). Candidates and ranking are ours. One candidate adds with atomics, as real split-K kernels may:
with more than one thread its bits can change from call to call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor

from course.core import arguments
from course.models.toy_search import direct, fitting, im2col

PIECES = 9


def _parts(x: Tensor, weight: Tensor) -> Tensor:
    """The convolution as nine partial sums (9, batch, channels, pixels) that still have to be added up."""
    patches = F.unfold(x, 3, padding=1).unflatten(1, (PIECES, -1))
    return torch.einsum("ogk,ngkl->gnol", weight.flatten(1).unflatten(1, (PIECES, -1)), patches)


def split_ordered(x: Tensor, weight: Tensor) -> Tensor:
    """Nine partial sums, added one after the other."""
    return _parts(x, weight).sum(0).view(x.shape[0], -1, *x.shape[2:])


def split_atomic(x: Tensor, weight: Tensor) -> Tensor:
    """Nine partial sums, each thread adding its share whenever it gets there."""
    parts = _parts(x, weight).flatten()
    total = torch.zeros(parts.numel() // PIECES)
    index = torch.arange(total.numel()).repeat(PIECES)
    return total.index_put_((index,), parts, accumulate=True).view(x.shape[0], -1, *x.shape[2:])


CANDIDATES = {"split_atomic": split_atomic, "im2col": im2col, "direct": direct, "split_ordered": split_ordered}
"""In the order of the toy's rule of thumb."""
NONDETERMINISTIC = ("split_atomic",)


@dataclass
class FilterConv:
    """A 3x3 convolution that filters its candidates and then chooses one per key, and keeps it.

    benchmark: time what the filter left (else take the first of it). deterministic: filter out candidates
    with a nondeterministic note. plans: key -> candidate. timed: names of the candidates timed so far.
    """

    benchmark: bool = False
    deterministic: bool = False
    plans: dict[tuple, str] = field(default_factory=dict)
    timed: list[str] = field(default_factory=list)

    def __call__(self, x: Tensor, weight: Tensor) -> Tensor:
        arguments.of_type("x", x, Tensor)
        arguments.of_type("weight", weight, Tensor)
        key = (tuple(x.shape), x.dtype, tuple(weight.shape), self.deterministic)
        if key not in self.plans:
            fitting(x, weight)
            self.plans[key] = self._choose(x, weight)
        return CANDIDATES[self.plans[key]](x, weight)

    def allowed(self) -> list[str]:
        """What the filter leaves, in the order of the rule of thumb."""
        return [name for name in CANDIDATES if not (self.deterministic and name in NONDETERMINISTIC)]

    def _choose(self, x: Tensor, weight: Tensor) -> str:
        if not self.benchmark:
            return self.allowed()[0]
        times = {}
        for name in self.allowed():
            CANDIDATES[name](x, weight)
            start = perf_counter()
            CANDIDATES[name](x, weight)
            times[name] = perf_counter() - start
        self.timed += times
        return min(times, key=times.__getitem__)
