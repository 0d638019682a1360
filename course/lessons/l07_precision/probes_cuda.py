"""Probe of lesson 07 for a GPU: how fast is TF32? It runs in a process of its own.

torch alone is needed. Without a GPU it runs on the CPU, which tests its form and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch

from course.experiment.device import device, within
from course.experiment.rows import race_row


def allow(on: bool) -> None:
    """TF32 for cuDNN and cuBLAS through the old switches: the same words for every version of torch."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = on


def speed(sizes: list[int], seconds: float) -> list[dict]:
    """time(TF32 allowed) / time(forbidden), by size; the switch is turned inside each call. seconds: for all together."""
    from course.timing import compare

    rows, where = [], device()
    end, left = perf_counter() + seconds, 2 * len(sizes)
    with torch.no_grad():
        for size in within(seconds, sizes):
            torch.manual_seed(0)
            a, b = torch.randn(size, size, device=where), torch.randn(size, size, device=where)
            x, w = torch.randn(16, 64, size // 16, size // 16, device=where), torch.randn(64, 64, 3, 3, device=where)
            calls = {
                "matmul": lambda a=a, b=b: a @ b,
                "conv": lambda x=x, w=w: torch.nn.functional.conv2d(x, w, padding=1),
            }
            for name, call in calls.items():
                race = compare(
                    {"ieee": _under(call, False), "tf32": _under(call, True)},
                    baseline="ieee",
                    device=where,
                    max_time=max(0.1, min(6.0, (end - perf_counter()) / left)),
                )
                left -= 1
                rows.append(
                    {
                        "operation": name,
                        "size": size,
                        **race_row(race),
                        "ieee_ms": race.medians_ms["ieee"],
                        "tf32_ms": race.medians_ms["tf32"],
                    }
                )
    return rows


def _under(call: Callable[[], torch.Tensor], on: bool) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        allow(on)
        return call()

    return run
