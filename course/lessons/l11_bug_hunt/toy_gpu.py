"""A stand-in for an NVIDIA GPU that follows two rules, for scripts that cannot run here. It measures nothing.

Rule 1, the queue (docs.pytorch.org/docs/stable/notes/cuda.html, "Asynchronous execution"): a call returns when its work
is in the queue; only a fence, or reading a value, waits. Rule 2, the plan (aten/src/ATen/native/cudnn/Conv_v8.cpp): a
convolution problem gets its plan when it is first seen, by a search if ``cudnn.benchmark`` is True at that moment, and
keeps it; ``benchmark`` itself is not part of the key. Times are the case's own, in milliseconds of a pretended clock.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

LAUNCH_MS = 0.01


@dataclass
class ToyGPU:
    """The clock and the queue of a pretended GPU. guessed_ms, searched_ms: one convolution with either kind of plan."""

    guessed_ms: float = 5.0
    searched_ms: float = 4.0
    search_ms: float = 50.0
    now_ms: float = 0.0
    busy_until_ms: float = 0.0
    plans: dict[tuple, str] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def convolve(self, shape: tuple[int, ...]) -> None:
        """One convolution of an input of this shape is put into the queue."""
        import torch

        cudnn = torch.backends.cudnn
        key, took = (shape, cudnn.deterministic, cudnn.conv.fp32_precision), 0.0
        if new := key not in self.plans:
            self.plans[key] = "searched" if cudnn.benchmark else "guessed"
            took = self.search_ms if cudnn.benchmark else 0.0
        took += self.searched_ms if self.plans[key] == "searched" else self.guessed_ms
        self.now_ms += LAUNCH_MS
        self.busy_until_ms = max(self.now_ms, self.busy_until_ms) + took
        self.calls.append({"shape": list(shape), "new": new, "plan": self.plans[key], "ms": took})

    def wait(self, *_: Any, **__: Any) -> None:
        """The fence: the clock moves on until the queue is empty."""
        self.now_ms = max(self.now_ms, self.busy_until_ms)

    def seconds(self) -> float:
        """What a stopwatch in Python reads."""
        return self.now_ms / 1e3

    @contextlib.contextmanager
    def plugged_in(self) -> Iterator[ToyGPU]:
        """While this lasts, ``.cuda()`` leads here, convolutions go into the queue, and the clocks of ``time`` are ours."""
        import torch
        from torch.nn.modules.module import register_module_forward_pre_hook

        gpu = self

        class Event:
            def __init__(self, *_: Any, **__: Any) -> None:
                self.at_ms: float | None = None

            def record(self, *_: Any) -> None:
                self.at_ms = max(gpu.now_ms, gpu.busy_until_ms)

            def synchronize(self) -> None:
                gpu.wait()

            def elapsed_time(self, later: Event) -> float:
                return later.at_ms - self.at_ms

        def entered(module: Any, inputs: tuple) -> None:
            if isinstance(module, torch.nn.Conv2d):
                gpu.convolve(tuple(inputs[0].shape))

        def reading(method: Any) -> Any:
            def read(tensor: Any, *given: Any, **named: Any) -> Any:
                gpu.wait()
                return method(tensor, *given, **named)

            return read

        real_to = {torch.Tensor: torch.Tensor.to, torch.nn.Module: torch.nn.Module.to}

        def moved(kind: type) -> Any:
            def to(thing: Any, *given: Any, **named: Any) -> Any:
                wanted = [one for one in (*given, *named.values()) if str(one).startswith("cuda")]
                return thing if wanted else real_to[kind](thing, *given, **named)

            return to

        with contextlib.ExitStack() as stack:
            for kind in (torch.Tensor, torch.nn.Module):
                stack.enter_context(patch.object(kind, "cuda", lambda thing, *_, **__: thing))
                stack.enter_context(patch.object(kind, "to", moved(kind)))
            for name in ("item", "cpu", "tolist", "numpy"):
                stack.enter_context(patch.object(torch.Tensor, name, reading(getattr(torch.Tensor, name))))
            for owner, name in ((torch.cuda, "synchronize"), (torch.accelerator, "synchronize")):
                stack.enter_context(patch.object(owner, name, gpu.wait))
            stack.enter_context(patch.object(torch.cuda, "Event", Event))
            stack.enter_context(patch.object(torch.cuda, "is_available", lambda: True))
            for name in ("perf_counter", "time", "monotonic"):
                stack.enter_context(patch.object(time, name, gpu.seconds))
            hook = register_module_forward_pre_hook(entered)
            try:
                yield self
            finally:
                hook.remove()
