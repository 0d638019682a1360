"""The probes that find the peaks: products, batched products and convolutions; streams through memory.

Which routine of the libraries is the fastest differs from machine to machine (a convolution may reach twice the
rate of a square matrix product, or less), so the best of many is the roof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from course.i18n import t
from course.roofline.memory import buffer_bytes, cache_bytes, free_bytes, is_out_of_memory, too_little_memory
from course.roofline.words import RooflineError, reason
from course.timing.clock import Clock, calls_for

BLOCK_S = 0.002
"""Shortest block timed as one probe, in seconds."""
SQUARES = {"cpu": (256, 512, 1024, 2048, 4096), "gpu": (1024, 2048, 4096, 8192, 16384)}
"""Edges of the square matrix products, smallest first."""
PRODUCTS = {"cpu": ((256, 4096, 1024), (512, 768, 3072)), "gpu": ((4096, 1024, 4096), (8192, 4096, 1024))}
"""Rows, inner length and columns of the others, as linear layers have them."""
BATCHED = {"cpu": ((64, 128), (16, 256)), "gpu": ((256, 512), (64, 1024))}
"""Batch and edge of the batched products."""
CONVOLUTIONS = {
    "cpu": ((3, 64, 64, 56, 4), (3, 128, 128, 28, 4), (3, 256, 256, 14, 8), (1, 256, 64, 56, 1), (1, 512, 128, 28, 2)),
    "gpu": ((3, 64, 64, 56, 256), (3, 256, 256, 28, 256), (3, 512, 512, 14, 256), (1, 1024, 256, 28, 256)),
}
"""Kernel edge, channels in and out, image edge and batch of the convolutions."""


class Probe(NamedTuple):
    """kind: products | convolutions | traffic. name: what it is. amount: FLOPs or bytes of one call. calls: how many make a block."""

    kind: str
    name: str
    amount: float
    call: Callable[[], Any]
    calls: int


def work(clock: Clock, dtype: torch.dtype, longest_s: float) -> Iterator[Probe]:
    """Returns the probes of arithmetic that this device can run with `dtype`, without those of over `longest_s`
    seconds a call.

    Raises RooflineError where not even the smallest matrix product runs.
    """
    size, first, per_flop = "cpu" if clock.device == "cpu" else "gpu", True, 0.0
    for name, flops, make in _tried(size, dtype, clock.device):
        if per_flop * flops > longest_s:
            continue
        try:
            call = make()
            call()
        except (RuntimeError, TypeError, NotImplementedError) as error:
            if not first:
                continue  # too large, or not there for this type
            if is_out_of_memory(error):
                raise too_little_memory(clock.device) from error
            kind, why = str(dtype).removeprefix("torch."), reason(error)
            raise RooflineError(
                t(
                    f"{clock.device} has no matrix product for {kind} here: {why}. Try dtype=torch.float32.",
                    f"这里的 {clock.device} 不支持 {kind} 的矩阵乘法：{why}。请试试 dtype=torch.float32。",
                )
            ) from error
        calls, first = calls_for(clock, call, BLOCK_S), False
        per_flop = clock.block(call, calls) / calls / flops
        yield Probe("convolutions" if name.startswith("conv") else "products", name, flops, call, calls)


def _tried(size: str, dtype: torch.dtype, device: str) -> Iterator[tuple[str, float, Callable[[], Callable[[], Any]]]]:
    """Name, FLOPs, and how to make the call."""

    drawn = torch.Generator(device).manual_seed(0)  # the user's own random numbers stay as they are

    def random(*shape: int) -> torch.Tensor:
        """Random numbers: equal ones need less power, and a GPU computes with them at a rate that no model reaches."""
        return torch.randn(shape, dtype=dtype, device=device, generator=drawn)

    def product(rows: int, inner: int, columns: int) -> Callable[[], Any]:
        a, b = random(rows, inner), random(inner, columns)
        out = torch.empty((rows, columns), dtype=dtype, device=device)
        return lambda: torch.mm(a, b, out=out)

    def batched(batch: int, edge: int) -> Callable[[], Any]:
        a = random(batch, edge, edge)
        out = torch.empty_like(a)
        return lambda: torch.bmm(a, a, out=out)

    def convolution(kernel: int, come: int, go: int, edge: int, batch: int) -> Callable[[], Any]:
        x, weight = random(batch, come, edge, edge), random(go, come, kernel, kernel)
        if size == "gpu":  # the layout tensor cores work in
            x, weight = (one.to(memory_format=torch.channels_last) for one in (x, weight))
        return lambda: functional.conv2d(x, weight, padding=kernel // 2)

    for shape in (*((edge,) * 3 for edge in SQUARES[size]), *PRODUCTS[size]):
        rows, inner, columns = shape
        yield f"mm {rows}x{inner}x{columns}", 2.0 * rows * inner * columns, lambda shape=shape: product(*shape)
    for batch, edge in BATCHED[size]:
        yield f"bmm {batch} x {edge}x{edge}", 2.0 * batch * edge**3, lambda b=batch, e=edge: batched(b, e)
    for shape in CONVOLUTIONS[size]:
        kernel, come, go, edge, batch = shape
        yield (
            f"conv {kernel}x{kernel}, {come} to {go} channels, {edge}x{edge}, batch {batch}",
            2.0 * batch * come * go * (edge * kernel) ** 2,
            lambda shape=shape: convolution(*shape),
        )


def streams(clock: Clock) -> list[Probe]:
    """Read, copy, triad and in-place update of float32 buffers far larger than the last-level cache.

    Bytes are those the operation needs: each buffer once for reading and once for writing.
    """
    size = buffer_bytes(cache_bytes(clock.device), free_bytes(clock.device), clock.device)
    x, y, z = (torch.ones(size // 4, device=clock.device) for _ in range(3))
    total = torch.empty((), device=clock.device)
    operations: dict[str, tuple[int, Callable[[], Any]]] = {
        "read": (1, lambda: torch.sum(x, 0, out=total)),
        "copy": (2, lambda: y.copy_(x)),
        "triad": (3, lambda: torch.add(x, y, alpha=3.0, out=z)),
        "in place": (2, lambda: x.relu_()),
    }
    return [
        Probe("traffic", name, float(buffers * 4 * x.numel()), call, calls_for(clock, call, BLOCK_S))
        for name, (buffers, call) in operations.items()
    ]
