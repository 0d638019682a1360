"""Probes of lesson 06: what new processes draw, and cuDNN in new processes.

Everything takes and returns plain JSON data; torch and numpy are enough. Without a GPU the CUDA probes run on
the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from course.experiment.probes import device, seen, wait, within
from course.lessons.l06_cudnn_deterministic.training import fingerprint

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
        "kernels": _kernels(step),
    }


def _kernels(step: Callable[[], Any]) -> str:
    """The kernels of a library that ran, whole names in the order of the alphabet: two texts are equal when the sets are.

    Copies and PyTorch's own element-wise kernels (`at::native`) are left out, unless there are no others.
    """
    names = {row["kernel"] for row in seen(step, 0, 2)}
    of_library = {name for name in names if not re.match(r"(void )?at::native|Mem(cpy|set)", name)}
    return " | ".join(sorted(of_library or names))
