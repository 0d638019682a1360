"""What a test of lesson 16 runs in a new process: an einsum compiled with the search on, and the switch moved afterwards."""

from __future__ import annotations

from typing import Any

import torch
from torch._dynamo.utils import counters
from torch.backends import opt_einsum
from torch.profiler import ProfilerActivity, profile


def order_after_compiling() -> list[dict[str, int]]:
    """An einsum compiled by aot_eager with the search on; then the switch goes off.

    again: further compilations; searched: whether the compiled code and the plain call then still multiply the vector first.
    """
    a, b, v = torch.ones(20, 20), torch.ones(20, 20), torch.ones(20)

    def product(a: torch.Tensor, b: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ij,jk,k->i", a, b, v)

    opt_einsum.enabled = True
    compiled = torch.compile(product, backend="aot_eager")
    compiled(a, b, v)
    before = counters["stats"]["unique_graphs"]
    opt_einsum.enabled = False
    compiled(a, b, v)

    def largest(call: Any) -> int:
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, acc_events=True) as recording:
            call(a, b, v)
        products = [event for event in recording.events() if event.name in ("aten::mm", "aten::bmm", "aten::mv")]
        return max(one.input_shapes[0][-2] * one.input_shapes[1][-1] for one in products)

    again = counters["stats"]["unique_graphs"] - before
    return [{"again": again, "compiled": int(largest(compiled) < 400), "plain": int(largest(product) < 400)}]
