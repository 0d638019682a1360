"""Probes of lesson 06: a list of operations to try, what new processes draw, and cuDNN in new processes.

Everything takes and returns plain JSON data; torch and numpy are enough. Without a GPU the CUDA probes run on
the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from course.experiment.device import device, wait, within
from course.experiment.kernels import joined_set, seen
from course.lessons.l06_cudnn_deterministic.training import fingerprint

# --- what use_deterministic_algorithms says to an operation ---------------------------------------------------


def _operations() -> dict[str, Callable[[], Any]]:
    index, values = torch.tensor([0, 2, 1]), torch.tensor([1.0, 2.0, 3.0])
    ones, where = torch.ones(1, 1, 2), torch.tensor([[[0, 2]]])
    return {
        "put_": lambda: torch.zeros(4).put_(index, values),
        "put_, accumulate": lambda: torch.zeros(4).put_(index, values, accumulate=True),
        "index_put_, accumulate": lambda: torch.zeros(4).index_put_((index,), values, accumulate=True),
        "scatter_add_": lambda: torch.zeros(4).scatter_add_(0, index, values),
        "max_unpool1d": lambda: F.max_unpool1d(ones, where, 2),
        "cumsum": lambda: values.cumsum(0),
        "conv2d": lambda: F.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)),
        "empty": lambda: torch.empty(3),
    }


def reactions() -> list[dict[str, str]]:
    """Each operation on the CPU with the mode off, on, and on with warn_only: runs, warns or raises."""
    rows = []
    for name, call in _operations().items():
        row = {"operation": name}
        for mode in ("default", "error", "warn"):
            torch.set_deterministic_debug_mode(mode)
            row[mode], said = _reaction(call)
            row["said"] = row.get("said") or said
        rows.append(row)
    torch.set_deterministic_debug_mode("default")
    return rows


def _reaction(call: Callable[[], Any]) -> tuple[str, str]:
    """(raises | warns | fills | runs, the first sentence it said)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except RuntimeError as error:
            return "raises", str(error).split(". ")[0]
    said = [str(one.message) for one in caught if "deterministic" in str(one.message)]
    if said:
        return "warns", said[0].split(". ")[0]
    return ("fills" if isinstance(result, Tensor) and bool(result.isnan().all()) else "runs"), ""


# --- which seeds reach what -------------------------------------------------------------------------------------


class Draws(Dataset):
    """Four samples; each draws one number from Python, numpy and torch, as random augmentation does."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, place: int) -> list[float]:
        return [random.random(), float(numpy.random.rand()), torch.rand(()).item()]


SETTINGS = ("nothing", "deterministic", "torch seed", "all seeds")


def draws(settings: list[str]) -> list[dict[str, Any]]:
    """What this process draws under each setting: here, and in a DataLoader with two workers."""
    return [row for setting in settings for row in _drawn(setting)]


def _drawn(setting: str) -> list[dict[str, Any]]:
    torch.use_deterministic_algorithms(setting == "deterministic")
    if setting in ("torch seed", "all seeds"):
        torch.manual_seed(0)
    if setting == "all seeds":
        random.seed(0)
        numpy.random.seed(0)
    here = [random.random(), float(numpy.random.rand()), torch.rand(()).item()]
    numbers = zip(*DataLoader(Draws(), batch_size=None, num_workers=2), strict=True)
    rows = [
        {
            "setting": setting,
            "source": source,
            "here": f"{own:.12f}",
            "workers": " ".join(f"{float(one):.12f}" for one in drawn),
        }
        for source, own, drawn in zip(("random", "numpy", "torch"), here, numbers, strict=True)
    ]
    torch.use_deterministic_algorithms(False)
    return rows


# --- cuDNN in a new process -------------------------------------------------------------------------------------


def conv_setting(
    benchmark: int, deterministic: int, repeats: int, channels: int = 64, size: int = 56, seconds: float = math.inf
) -> dict[str, Any]:
    """One convolution, forward and backward, `repeats` times: times of the first and the later calls, kernels, bits.

    bits: fingerprints of output, input gradient and weight gradient, one a repeat. kernels: the set that ran, whole
    names, as one text. seconds: stops after them, at the earliest after three repeats.
    """
    where = device()
    cudnn = torch.backends.cudnn
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
    image = torch.randn(16, channels, size, size)
    layer, image = layer.to(where), image.to(where).requires_grad_()
    small = torch.nn.Conv2d(4, 4, 3).to(where)(torch.randn(2, 4, 9, 9, device=where))
    small.sum().backward()
    wait()
    cudnn.benchmark, cudnn.deterministic = bool(benchmark), bool(deterministic)
    times, bits = [], []

    def step() -> tuple[Tensor, ...]:
        result = layer(image)
        return result, *torch.autograd.grad(result.square().sum(), (image, layer.weight))

    for _ in within(seconds, range(repeats), least=3):
        start = perf_counter()
        found = step()
        wait()
        times.append((perf_counter() - start) * 1e3)
        bits.append(fingerprint(*found))
    return {
        "first_ms": times[0],
        "later_ms": sorted(times[1:])[len(times[1:]) // 2],
        "bits": bits,
        "kernels": joined_set(seen(step, 0, 2)),
    }


def cuda_operations(device: str, count: int = 200_000, size: int = 56) -> dict[str, Callable[[], Tensor]]:
    """Operations whose bits may change from call to call on a GPU; inputs are fixed, drawn from one seed.

    count: numbers written to one place for 2,000 of them, to a hundred at least. size: edge of the images.
    """
    rng = torch.Generator().manual_seed(0)
    places = max(100, count // 2000)
    index = torch.randint(0, places, (count,), generator=rng).to(device)
    values = torch.randn(count, generator=rng).to(device)
    few = values[:200_000]  # of 20 million numbers the product would fill 6 GiB
    table = torch.zeros(places, device=device)
    image = torch.randn(8, 32, size, size, generator=rng).to(device).requires_grad_()
    weight = torch.randn(32, 32, 3, 3, generator=rng).to(device).requires_grad_()

    def slope(result: Tensor, of: Tensor) -> Tensor:
        return torch.autograd.grad(result.square().sum(), of)[0]

    return {
        "index_put_, accumulate": lambda: table.clone().index_put_((index,), values, accumulate=True),
        "scatter_add_": lambda: table.clone().scatter_add_(0, index, values),
        "index_add_": lambda: table.clone().index_add_(0, index, values),
        "cumsum": lambda: values.cumsum(0),
        "conv2d backward": lambda: slope(F.conv2d(image, weight, padding=1), weight),
        "interpolate backward": lambda: slope(F.interpolate(image, scale_factor=2.0, mode="bilinear"), image),
        "matmul": lambda: few.view(-1, 500) @ few.view(500, -1),
    }
