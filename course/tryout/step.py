"""The user's step as something to try settings on: made from a model, and, a copy of it, run under settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from course.flags import using
from course.timing.validation import require_callable
from course.tryout.settings import Setting

Step = Callable[[], Any]
BLOCK_S, SHORT_S = 0.01, 0.05
"""Shortest block of calls that is timed; and up to which length of a call cold caches would show in it."""


def step_of(work: Any, inputs: Sequence[Any]) -> Step:
    """The step to try: `work`, called with these inputs. Raises TimingError for what cannot be called."""
    require_callable(getattr(work, "__name__", "step"), work)
    if not inputs:
        return work
    only = inputs[0] if len(inputs) == 1 else inputs
    if isinstance(only, dict):
        return partial(work, **only)
    return partial(work, *(only if isinstance(only, (tuple, list)) else inputs))


AROUND: dict[str, Callable[[str], Any]] = {
    "bfloat16": lambda device: torch.autocast(device, torch.bfloat16),
    "float16": lambda device: torch.autocast(device, torch.float16),
    "inference_mode": lambda device: torch.inference_mode(),
}
"""Way of a setting -> what stands around each call."""
MOVES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 and x.is_floating_point() else x,
    "float64": lambda x: x.double() if x.is_floating_point() else x,
}  # fmt: skip
"""Way of a setting -> what becomes of each tensor of the step."""


@contextlib.contextmanager
def under(
    step: Step, settings: Iterable[Setting], tensors: Sequence[torch.Tensor], device: str
) -> Iterator[Callable[[], Any]]:
    """Gives what to call for the step under these settings, in the block. tensors: of the step; those that a setting moves to another
    layout or type stay so, because the step is a copy.
    """
    settings = list(settings)
    run: Callable[[], Any] = step
    with using({name: value for one in settings for name, value in one.flags.items()}):
        for way in (one.way for one in settings):
            if way == "compile":
                run = torch.compile(run, mode="reduce-overhead" if device == "cuda" else None)
            elif way in AROUND:
                run = AROUND[way](device)(run)
            elif way in MOVES:
                _move(MOVES[way], tensors)
        yield run


def _move(move: Callable[[torch.Tensor], torch.Tensor], tensors: Sequence[torch.Tensor]) -> None:
    leaves = [one for one in tensors if one.is_leaf and one.layout is torch.strided]
    for one in leaves:
        one.grad = None  # it would be of another type or layout
    for one in leaves:
        moved = move(one.data)
        if moved is not one.data:
            one.data = moved
