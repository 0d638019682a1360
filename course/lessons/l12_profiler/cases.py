"""Three slow functions and their repairs, and a drawing of a wait.

Each is short enough to be read whole; `show_code` prints one with the line numbers that a trace names.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from course.core import arguments
from course.core.i18n import Text, both, t
from course.figures.block import Block
from course.figures.timeline import timeline_plot
from course.trace import rows_of

MEAN, SPREAD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def show_code(function: Callable[..., Any]) -> None:
    """Print the source of a function with its line numbers."""
    arguments.function("function", function)
    lines, first = inspect.getsourcelines(function)
    print("".join(f"{number:4d}  {line}" for number, line in enumerate(lines, start=first)), end="")


# --- photos: a type that nobody asked for ---------------------------------------------------------------------


def photos_slow(photos: torch.Tensor) -> torch.Tensor:
    """Bytes 0 to 255 into standardised float32 pixels."""
    mean = torch.from_numpy(np.array(MEAN)).view(3, 1, 1)
    spread = torch.from_numpy(np.array(SPREAD)).view(3, 1, 1)
    pixels = photos.float() / 255
    pixels = (pixels - mean) / spread
    return pixels.float()


def photos_mended(photos: torch.Tensor) -> torch.Tensor:
    """The same, in float32 from start to end."""
    mean = torch.tensor(MEAN).view(3, 1, 1)
    spread = torch.tensor(SPREAD).view(3, 1, 1)
    pixels = photos.float() / 255
    return (pixels - mean) / spread


# --- layers: the paper is cut at every call -------------------------------------------------------------------


def layers() -> nn.Sequential:
    """Four convolutions in a row, ready to compute forward."""
    return nn.Sequential(*[nn.Conv2d(16, 16, 3, padding=1) for _ in range(4)]).eval()


def layers_slow(model: nn.Module, image: torch.Tensor) -> torch.Tensor:
    """The model as it comes."""
    return model(image)


# --- scores: one row, one question, one answer ----------------------------------------------------------------


def scores_slow(table: torch.Tensor) -> float:
    """The sum of the largest value of each row."""
    total = 0.0
    for place in range(len(table)):
        total += table[place].max().item()
    return total


def scores_mended(table: torch.Tensor) -> float:
    """The same in two operations and one question."""
    return table.amax(dim=1).sum().item()


@dataclass(frozen=True)
class Case:
    """A slow call and its repair, both without arguments; planted: a piece of the line that causes it."""

    name: str
    title: Text
    slow: Callable[[], Any]
    mended: Callable[[], Any]
    planted: str


def cases() -> list[Case]:
    """The three cases with inputs made for them."""
    photos = torch.randint(0, 256, (8, 3, 192, 192), dtype=torch.uint8)
    model, image = layers(), torch.randn(8, 16, 56, 56)
    last, last_image = (one.to(memory_format=torch.channels_last) for one in (copy.deepcopy(model), image.clone()))
    table = torch.randn(400, 64)
    return [
        Case(
            "photos",
            both("photos in float64", "照片变成了 float64"),
            lambda: photos_slow(photos),
            lambda: photos_mended(photos),
            "pixels = (pixels - mean) / spread",
        ),
        Case(
            "layers",
            both("layers that reorder", "每次都重排的层"),
            lambda: layers_slow(model, image),
            lambda: layers_slow(last, last_image),
            "return model(image)",
        ),
        Case(
            "scores",
            both("scores one by one", "一行一行取分数"),
            lambda: scores_slow(table),
            lambda: scores_mended(table),
            "total += table[place].max().item()",
        ),
    ]


# --- a wait -----------------------------------------------------------------------------------------------------


DRAWN = (
    ("aten::conv2d", "CPU", 20, 60),
    ("aten::cudnn_convolution", "CPU", 26, 56),
    ("aten::relu", "CPU", 70, 90),
    ("aten::item", "CPU", 110, 750),
    ("aten::_local_scalar_dense", "CPU", 114, 748),
    ("cudaStreamSynchronize", "CPU", 130, 744),
    ("volta_scudnn_128x64_stridedB_splitK_small_nn_v1", "CUDA", 60, 670),
    ("void at::native::vectorized_elementwise_kernel", "CUDA", 675, 735),
)
"""name, device, start and end in µs of a step that nobody measured."""


def draw_wait() -> Block:
    """How a wait looks on a GPU machine, as a drawing: the lengths are made up, and its title says so."""
    events = [
        SimpleNamespace(name=name, device_type=device, time_range=SimpleNamespace(start=float(start), end=float(end)))
        for name, device, start, end in DRAWN
    ]
    return timeline_plot(
        rows_of(events),
        t(
            "A drawing, nothing was measured: the CPU's longest bar is a wait for the convolution in the GPU's lane.",
            "示意图，并非实测：CPU 上最长的一条，是在等 GPU 那一行的卷积。",
        ),
    )


# --- the profiler on and off ------------------------------------------------------------------------------------


def profiled(work: Callable[[], Any]) -> Callable[[], Any]:
    """`work` under a profiler of its own, started and stopped at each call; ``.work`` is the function inside."""
    from torch.profiler import ProfilerActivity, profile

    def run() -> None:
        with profile(activities=[ProfilerActivity.CPU], acc_events=True):
            work()

    run.work = work  # type: ignore[attr-defined]
    return run
