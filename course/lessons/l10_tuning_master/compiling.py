"""Two small blocks, as written and through torch.compile: what the first call costs and what every later one does."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import nn


class Block(nn.Module):
    """Two linear layers between many element operations, which a compiler can join: (batch, length, 64) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inside = nn.functional.silu(self.up(self.norm(x))) * torch.sigmoid(x.mean(-1, keepdim=True)) + 0.1
        return x + self.down(inside * torch.tanh(inside) * 1.5 - inside.square() * 0.1)


def job(compiled: bool, seconds: float) -> list[dict[str, Any]]:
    """One row: seconds of the first call, then milliseconds a call with their interval; or why nothing was compiled.

    Run it in a new process: what is compiled once stays. seconds: for timing the later calls.
    """
    from course.flags.switch import first_sentence
    from course.timing import measure

    torch.manual_seed(0)
    model, x = nn.Sequential(Block(), Block()).eval(), torch.randn(4, 128, 64)
    run = torch.compile(model) if compiled else model
    with torch.inference_mode():
        start = time.perf_counter()
        try:
            run(x)
        except Exception as error:  # without a C++ compiler torch.compile cannot work here; its errors have many types
            if not compiled:
                raise
            return [{"refused": first_sentence(error).split(" in torch.")[0]}]
        first_s = time.perf_counter() - start
        found = measure(lambda: run(x), max_time=seconds)
    return [{"first_s": first_s, "call_ms": found.median_ms, "low_ms": found.low_ms, "high_ms": found.high_ms}]
