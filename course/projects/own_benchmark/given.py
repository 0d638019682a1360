"""What the project gives the learner: two of the four ways, their need of memory, the clock, this machine's name, a pretended machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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


# --- a pretended machine: planted costs, a queue like a GPU's, a clock that moves only when work is done; nothing is measured ---

LAUNCH_MS = 0.01
"""What a call costs Python itself; its work goes into the queue and is done later."""
MOST = 5000
"""Calls, readings of the clock and waits before the machine says that a loop does not end."""


class Endless(Exception):
    """The code that is tried used the machine so often that one of its loops cannot be meant."""


class Machine:
    """A machine with a queue. ``runs[name]()`` puts one piece of work into it, ``wait()`` returns when it is empty, ``clock()`` is
    the time in ms.

    costs: name -> ms of its first call, second call, ...; the last one goes on for ever. queued_ms: work of others that is in the
    queue at the beginning. slower: every call takes so many times as long as it would one call earlier. counts: name -> how often it
    was called. Raises Endless after MOST steps.
    """

    def __init__(self, costs: Mapping[str, Sequence[float]], queued_ms: float = 0, slower: float = 1) -> None:
        self.now, self.empty_at, self.steps, self.counts = 0.0, queued_ms, 0, Counter()
        self.costs, self.slower = costs, slower
        self.runs: dict[str, Callable[[], None]] = {name: lambda name=name: self._run(name) for name in costs}

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST:
            raise Endless

    def _run(self, name: str) -> None:
        self._step()
        self.counts[name] += 1
        planted = self.costs[name]
        cost = planted[min(self.counts[name], len(planted)) - 1] * self.slower ** self.counts.total()
        self.now += LAUNCH_MS
        self.empty_at = max(self.now, self.empty_at) + cost - LAUNCH_MS

    def wait(self) -> None:
        """Until the queue is empty."""
        self._step()
        self.now = max(self.now, self.empty_at)

    def clock(self) -> float:
        """The time now in ms."""
        self._step()
        return self.now
