"""Experiments of lesson 03 that need a GPU."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional

from course import flags
from course.experiment.base import Budget, experiment
from course.experiment.device import device, wait
from course.experiment.reading import Reading
from course.i18n import both
from course.lessons.l03_flops.experiments import LESSON

FORMATS = {"float32": torch.float32, "TF32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
PRECISIONS = ("cuda.matmul.allow_tf32", "cudnn.allow_tf32")
"""The switches of products and of convolutions: float32 is float32 only where both are off."""
BLOCK_S = 0.05  # far longer than a call takes to reach the GPU


def _rate(call: Callable[[], Any], amount: float, seconds: float) -> float:
    """How much of ``amount`` a second: the median of blocks of calls, without the first."""
    end, rates, calls = time.perf_counter() + seconds, [], 1
    call()
    wait()
    while len(rates) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        took = time.perf_counter() - start
        rates.append(calls * amount / took)
        calls = max(calls, math.ceil(calls * BLOCK_S / took))
    return statistics.median(rates[1:])


def _copied(mib: int, seconds: float) -> float:
    """Bytes a second of a copy that reads so many MiB, and writes as many."""
    source = torch.randn(mib * 2**18, device=device())
    target = torch.empty_like(source)
    return _rate(lambda: target.copy_(source), 2.0 * source.nbytes, seconds)


def _probes(edge: int, channels: int, image: int, batch: int, dtype: torch.dtype) -> dict[str, tuple[float, Callable]]:
    """A square product and a 3x3 convolution in the layout of tensor cores: FLOPs, and the call.

    Their values are random: equal ones draw less power, and some GPUs then compute faster than with anybody's data.
    """
    a, b = (torch.randn(edge, edge, device=device(), dtype=dtype) for _ in range(2))
    x = torch.randn(batch, channels, image, image, device=device(), dtype=dtype)
    weight = torch.randn(channels, channels, 3, 3, device=device(), dtype=dtype)
    x, weight = (one.to(memory_format=torch.channels_last) for one in (x, weight))
    return {
        "product": (2.0 * edge**3, lambda: a @ b),
        "convolution": (2.0 * batch * channels**2 * image**2 * 9, lambda: functional.conv2d(x, weight, padding=1)),
    }


@experiment(name="03-peaks-cuda", lesson=LESSON, version=2, needs="cuda", seconds=20, whole=True)
def peaks_cuda(
    budget: Budget, edge: int = 8192, channels: int = 256, image: int = 28, batch: int = 256, mib: int = 512
) -> Iterator[dict]:
    """FLOP/s of a large product and a large convolution in four formats, of random values; bytes/s of a copy."""
    left = 1 + 2 * len(FORMATS)
    memory = _copied(mib, budget.share(2 * left))
    with torch.no_grad():
        for name, dtype in budget.loop(list(FORMATS.items()), desc=both("number formats", "数值格式")):
            with flags.using(dict.fromkeys(PRECISIONS, name == "TF32")):
                for kind, (flops, call) in _probes(edge, channels, image, batch, dtype).items():
                    left -= 1
                    row = {"format": name, "kind": kind, "bytes_per_s": memory, "error": ""}
                    try:
                        rate = _rate(call, flops, budget.share(2 * left))
                    except RuntimeError as error:  # this GPU has no such kernel
                        yield {**row, "error": str(error).split("\n")[0][:200]}
                        continue
                    yield {**row, "flops_per_s": rate, "ridge": rate / memory}


def read_peaks_cuda(rows: list[dict]) -> Reading | None:
    """The highest roof of products against that of float32; less than a fifth more is the same."""
    drawn = [
        {**row, "case": (row["format"], row["kind"]), "tera": row["flops_per_s"] / 1e12}
        for row in rows
        if not row["error"]
    ]
    peaks = {row["format"]: row["flops_per_s"] for row in drawn if row["kind"] == "product"}
    if "float32" not in peaks or len(peaks) < 2:
        return None
    quickest = max(peaks, key=lambda name: peaks[name])
    numbers = {"format": quickest, "grown": peaks[quickest] / peaks["float32"]}
    if peaks[quickest] < 1.2 * min(peaks.values()):
        return Reading("all alike", numbers, drawn)
    return Reading("none faster" if numbers["grown"] < 1.2 else "faster", numbers, drawn)
