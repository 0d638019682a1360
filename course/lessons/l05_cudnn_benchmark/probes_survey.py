"""Probes of lesson 05 that go through many layers or whole networks, in a process of its own: torch alone is needed.

On a machine without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import torch

from course.experiment.device import device, wait, within
from course.lessons.l05_cudnn_benchmark.probes import _wake_up


def convolution_times(
    benchmark: int, convolutions: list[dict[str, Any]], seconds: float = math.inf
) -> list[dict[str, Any]]:
    """For each convolution the first call and the kernels of a later one: first_ms, us.

    A convolution has batch, inside, outside, kernel, stride, image, groups, dilation, dtype, channels_last. seconds: stops
    after them, at the earliest after one. A convolution that this machine refuses has ``error`` and no times.
    """
    where, rows = device(), []
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    with torch.no_grad():
        _wake_up(where)
        torch.backends.cudnn.benchmark = bool(benchmark)
        for about in within(seconds, convolutions):
            try:
                call = _convolution(about, where)
                wait()
                start = perf_counter()
                call()
                wait()
                first_ms = (perf_counter() - start) * 1e3
                rows.append({"first_ms": first_ms, "us": kernels_us(call), "error": ""})
            except RuntimeError as error:
                rows.append({"error": f"{type(error).__name__}: {error}".split("\n")[0][:160]})
    return rows


def _convolution(about: dict[str, Any], where: str) -> Callable[[], torch.Tensor]:
    layout = torch.channels_last if about["channels_last"] else torch.contiguous_format
    dtype = getattr(torch, about["dtype"])
    layer = torch.nn.Conv2d(
        about["inside"],
        about["outside"],
        about["kernel"],
        about["stride"],
        padding=about["dilation"] * (about["kernel"] // 2),
        dilation=about["dilation"],
        groups=about["groups"],
        bias=False,
    )
    layer = layer.to(where, dtype, memory_format=layout)
    edge = about["image"]
    x = torch.randn(about["batch"], about["inside"], edge, edge).to(where, dtype, memory_format=layout)
    return lambda: layer(x)


def kernels_us(call: Callable[[], Any], seconds: float = 0.04) -> float:
    """Median time of a call in µs; on a GPU that of its kernels behind a full queue, without the time of launching them."""
    from course.timing import measure

    return measure(call, max_time=seconds, calibrate=None).median_ms * 1e3


def training_steps(
    benchmark: int, network: str, half: int, steps: int, batch: int, size: int, seconds: float = math.inf
) -> dict[str, Any]:
    """First and later training steps of a network of `course.models` (SGD, mean square of the output); half: AMP and channels_last.

    first_ms, step_ms (median of the steps after the third), steps. seconds: stops after them, at the earliest after five steps.
    """
    from course import models

    where = device()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    with torch.no_grad():
        _wake_up(where)
    torch.backends.cudnn.benchmark = bool(benchmark)
    layout = torch.channels_last if half else torch.contiguous_format
    model = getattr(models, network)().to(where, memory_format=layout).train()
    x = torch.randn(batch, 3, size, size).to(where, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    times = []
    wait()
    for _ in within(seconds, range(steps), least=5):
        start = perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(where, torch.float16 if where == "cuda" else torch.bfloat16, enabled=bool(half)):
            loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        wait()
        times.append((perf_counter() - start) * 1e3)
    return {"first_ms": times[0], "step_ms": median(times[3:]), "steps": len(times)}
