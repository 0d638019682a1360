"""Probes of lesson 02 that need a process of their own: what a first call pays for, nothing having been called before.

torch alone is needed. Without a GPU they run on the CPU, which tests their form and nothing else.
"""

from __future__ import annotations

from time import perf_counter

import torch

from course.experiment.device import device, wait


def first_calls(calls: int) -> list[dict]:
    """Milliseconds of fenced calls: one that brings up the context, then ``calls`` of each step, in order."""
    where = device()

    def timed(run) -> float:  # type: ignore[no-untyped-def]
        start = perf_counter()
        run()
        wait()
        return (perf_counter() - start) * 1e3

    with torch.inference_mode():
        rows = [{"shape": "CUDA context", "call": 1, "call_ms": timed(lambda: torch.zeros(1, device=where))}]
        x, image, larger = (torch.randn(*shape).to(where) for shape in ((512, 512), (8, 32, 56, 56), (8, 32, 64, 64)))
        weight = torch.randn(32, 32, 3, 3).to(where)
        wait()
        steps = {
            "first product": lambda: x @ x,
            "first convolution": lambda: torch.nn.functional.conv2d(image, weight),
            "same convolution, new shape": lambda: torch.nn.functional.conv2d(larger, weight),
        }
        for name, run in steps.items():
            rows += [{"shape": name, "call": call, "call_ms": timed(run)} for call in range(1, calls + 1)]
    return rows
