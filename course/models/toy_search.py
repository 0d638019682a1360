"""A toy of cuDNN's search, in plain PyTorch on the CPU: four ways to compute a convolution, a cache of plans.

It has the skeleton of ``run_single_conv`` (aten/src/ATen/native/cudnn/Conv_v8.cpp): look the key up; if it is
new, either take the first of a ranked list or time the candidates; keep the plan. Its rule of thumb and its
candidates are ours and say nothing about cuDNN's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor

from course.core import arguments
from course.core.i18n import t

BATCH, CHANNELS, SMALL = 2, 12, 32
SMALLEST, LARGEST = 8, 64
"""Sizes (height = width, pixels) the toy accepts in a schedule."""


def im2col(x: Tensor, weight: Tensor) -> Tensor:
    """Copy every 3x3 patch into a column, then one matrix product."""
    n, _, h, w = x.shape
    return (weight.flatten(1) @ F.unfold(x, 3, padding=1)).view(n, -1, h, w)


def shifted(x: Tensor, weight: Tensor) -> Tensor:
    """Nine 1x1 convolutions of the shifted image, added up."""
    h, w = x.shape[2:]
    padded = F.pad(x, (1, 1, 1, 1))
    parts = [
        torch.einsum("oc,nchw->nohw", weight[:, :, i, j], padded[:, :, i : i + h, j : j + w])
        for i in range(3)
        for j in range(3)
    ]
    return torch.stack(parts).sum(0)


def direct(x: Tensor, weight: Tensor) -> Tensor:
    """What PyTorch itself does for a convolution on this machine."""
    return F.conv2d(x, weight, padding=1)


def channels_last(x: Tensor, weight: Tensor) -> Tensor:
    """The same with the image stored pixel by pixel."""
    return F.conv2d(x.to(memory_format=torch.channels_last), weight, padding=1)


CANDIDATES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "im2col": im2col,
    "shifted": shifted,
    "direct": direct,
    "channels_last": channels_last,
}


def ranked(x: Tensor) -> list[str]:
    """The rule of thumb: candidates from most to least promising, from the shape alone, nothing timed."""
    if x.shape[-1] <= SMALL:
        return ["im2col", "shifted", "direct", "channels_last"]
    return ["direct", "channels_last", "im2col", "shifted"]


@dataclass(frozen=True)
class Choice:
    """How a plan was chosen for a new key: the image's size, the ranked list, what was timed (ms), the plan kept."""

    size: int
    ranked: tuple[str, ...]
    times_ms: dict[str, float]
    plan: str


@dataclass
class ToyConv:
    """A 3x3 convolution that chooses its algorithm per key, as cuDNN's caller does.

    benchmark: time the candidates of a new key (else trust ``ranked``). limit: how many of the ranked list
    are timed. plans: key -> name of the chosen candidate. searches: how many searches were made so far.
    last: how the last new key got its plan.
    """

    benchmark: bool = False
    limit: int = 10
    plans: dict[tuple, str] = field(default_factory=dict)
    searches: int = 0
    last: Choice | None = None

    def __post_init__(self) -> None:
        arguments.whole("limit", self.limit, 1)

    def __call__(self, x: Tensor, weight: Tensor) -> Tensor:
        arguments.of_type("x", x, Tensor)
        arguments.of_type("weight", weight, Tensor)
        key = (tuple(x.shape), x.dtype, tuple(weight.shape))
        plan = self.plans.get(key)
        if plan is None:
            fitting(x, weight)
            times_ms = self._search(x, weight) if self.benchmark else {}
            plan = min(times_ms, key=times_ms.__getitem__) if times_ms else ranked(x)[0]
            self.plans[key] = plan
            self.last = Choice(x.shape[-1], tuple(ranked(x)), times_ms, plan)
        return CANDIDATES[plan](x, weight)

    def _search(self, x: Tensor, weight: Tensor) -> dict[str, float]:
        """One warm-up and one timed call for at most ``limit`` candidates; milliseconds of each."""
        self.searches += 1
        times_ms = {}
        for name in ranked(x)[: self.limit]:
            CANDIDATES[name](x, weight)
            start = perf_counter()
            CANDIDATES[name](x, weight)
            times_ms[name] = (perf_counter() - start) * 1e3
        return times_ms


def fitting(x: Tensor, weight: Tensor) -> None:
    """Raise ValueError, in words, unless a 3x3 convolution of ``x`` with ``weight`` is possible."""
    if x.ndim == weight.ndim == 4 and weight.shape[2:] == (3, 3) and x.shape[1] == weight.shape[1]:
        return
    found = f"{tuple(x.shape)}, {tuple(weight.shape)}"
    raise ValueError(
        t(
            f"the toy convolves an image (N, C, H, W) with a weight (K, C, 3, 3), such as image(24) and kernel(), not {found}",
            f"这个玩具用权重 (K, C, 3, 3) 卷积图像 (N, C, H, W)，例如 image(24) 和 kernel()，现在的形状是 {found}",
        )
    )


def image(size: int) -> Tensor:
    """A batch of random images, (2, 12, size, size); the same tensor each time."""
    arguments.whole("size", size, 1)
    return _image(size)


@lru_cache(maxsize=256)
def _image(size: int) -> Tensor:
    return torch.randn(BATCH, CHANNELS, size, size, generator=torch.Generator().manual_seed(size))


@lru_cache(maxsize=1)
def kernel() -> Tensor:
    """The weight of the toy's layer, (12, 12, 3, 3)."""
    return torch.randn(CHANNELS, CHANNELS, 3, 3, generator=torch.Generator().manual_seed(0))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One CPU thread for a block: small images gain nothing from more, and a busy machine disturbs less."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_schedule(sizes: Iterable[int], benchmark: bool, limit: int = 10) -> ToyConv:
    """One step for each size, on a toy with an empty cache, in one thread; returns the toy to be read.

    Raises ValueError for a size that is not a whole number from 8 to 64.
    """
    arguments.of_type("sizes", sizes, Iterable)
    conv = ToyConv(benchmark, limit)
    with one_thread(), torch.inference_mode():
        for size in sizes:
            arguments.whole("size", size, SMALLEST, LARGEST)
            conv(image(size), kernel())
    return conv
