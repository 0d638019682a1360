"""CUDA graphs as a way to run a function: many small kernels, one launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.i18n import t
from course.timing.clock import available
from course.timing.guard import TimingError


def as_cuda_graph(f: Callable[[], Any]) -> Callable[[], Any]:
    """`f` captured once in a CUDA graph: calling the result replays its kernels without launching each.

    `f` must use the same tensors every time and never wait for the GPU. Raises TimingError without CUDA.
    """
    import torch

    if not available("cuda"):
        raise TimingError(t("A CUDA graph needs a CUDA device.", "CUDA graph 需要 CUDA 设备。"))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            f()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f()
    return graph.replay
