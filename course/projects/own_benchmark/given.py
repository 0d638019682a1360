"""What the project gives the learner: two of the four ways, their need of memory, the clock, the name of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def direct(x: Tensor, weight: Tensor, stride: int = 1, padding: int = 0) -> Tensor:
    """For each tap of the kernel: shift the image, one product over the channels, add it up."""
    x = F.pad(x, (padding,) * 4)
    r, s = weight.shape[2:]
    h, w = ((size - tap) // stride + 1 for size, tap in zip(x.shape[2:], (r, s), strict=True))
    total = x.new_zeros(x.shape[0], weight.shape[0], h, w)
    for i in range(r):
        for j in range(s):
            seen = x[:, :, i : i + stride * h : stride, j : j + stride * w : stride]
            total = total + torch.einsum("kc,nchw->nkhw", weight[:, :, i, j], seen)
    return total


def pytorch(x: Tensor, weight: Tensor, **setting: int) -> Tensor:
    """What PyTorch itself does: on a CPU oneDNN for most convolutions, on an NVIDIA GPU cuDNN. It alone can do everything."""
    return F.conv2d(x, weight, **setting)


def workspace(name: str, x: Tensor, weight: Tensor, setting: Mapping[str, int]) -> int:
    """Bytes that a way needs beside image, weight and result, from the shapes alone; 0 for ``pytorch``, which is not asked."""
    (n, c, h, w), (k, _, r, s) = x.shape, weight.shape
    stride, padding = setting.get("stride", 1), setting.get("padding", 0)
    high, wide = h + 2 * padding, w + 2 * padding
    rows, columns = (high - r) // stride + 1, (wide - s) // stride + 1
    numbers = {
        "im2col": n * c * r * s * rows * columns,
        "fft": 2 * (n * c + k * c + n * k) * high * (wide // 2 + 1) + n * k * high * wide,
        "direct": n * c * high * wide + n * k * rows * columns,
    }
    return numbers.get(name, 0) * x.element_size()


def clock() -> float:
    """The time now in milliseconds; only differences mean something."""
    return perf_counter() * 1e3


def wait_for(device: str | torch.device) -> Callable[[], Any]:
    """A function that returns when the queue of the device is empty; a CPU has none, so there it returns at once."""
    kind = torch.device(device).type
    return {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}.get(kind, lambda: None)


def machine_now() -> dict[str, Any]:
    """What a plan was found on, and must not outlive: torch, the processor, the GPU. (The number of threads stands in the key.)"""
    from course.core.machine import passport

    here = passport()
    return {"torch": torch.__version__} | {name: here.get(name) for name in ("cpu", "device_name", "cudnn")}
