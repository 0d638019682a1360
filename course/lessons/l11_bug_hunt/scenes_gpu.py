"""Scenes that need an NVIDIA GPU to hurt: decided by rules, played on a stand-in that follows two of them. It measures nothing.

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

from course.core.i18n import Text, both
from course.lessons.l11_bug_hunt.stage import Facts, Scene, Stage

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


def _on_gpu(stage: Stage, **times: float) -> Any:
    """The script, run with a stand-in for the GPU; the stand-in, to be read."""
    gpu = ToyGPU(**times)
    with gpu.plugged_in():
        stage.run()
    return gpu


# --- timer --------------------------------------------------------------------------------------------------------

TRUE_MS = 5.0


def timer_scene(stage: Stage) -> Facts:
    gpu = _on_gpu(stage, guessed_ms=TRUE_MS)
    return {"ms": float(stage.get("ms")), "calls": len(gpu.calls)}


def timer_told(facts: Facts) -> Text:
    return both(
        f"The script says {facts['ms']:.2f} ms; by the rule, one call keeps this GPU busy for {TRUE_MS:.2f} ms.",
        f"脚本说 {facts['ms']:.2f} 毫秒；按规则，一次调用要让这块 GPU 忙 {TRUE_MS:.2f} 毫秒。",
    )


def timer_objection(facts: Facts) -> Text | None:
    ms = facts["ms"]
    if facts["calls"] < 103:
        return both(
            "The measurement has fewer calls than before: warm-up and 100 calls stay.",
            "调用次数比原来少了：预热和那 100 次调用都要保留。",
        )
    if ms < 0.5 * TRUE_MS:
        return both(
            f"{ms:.2f} ms: the clock is still read while the work waits in the queue.",
            f"{ms:.2f} 毫秒：活儿还在排队，表就读了。",
        )
    if ms > 1.01 * TRUE_MS:
        return both(
            f"{ms:.2f} ms, a little too much: the warm-up was still in the queue when the clock started. "
            "Wait before the first reading, too.",
            f"{ms:.2f} 毫秒，多了一点：开始计时的时候，预热还在排队。第一次读表之前也要等。",
        )
    return None


# --- flipped ------------------------------------------------------------------------------------------------------


def flipped_scene(stage: Stage) -> Facts:
    gpu = _on_gpu(stage)
    return {
        "calls": len(gpu.calls),
        "plans": sorted(set(gpu.plans.values())),
        "last": gpu.calls[-1]["plan"] if gpu.calls else "none",
        "shapes": len({tuple(one["shape"]) for one in gpu.calls}),
        "searches": sum(one["new"] and one["plan"] == "searched" for one in gpu.calls),
    }


def flipped_told(facts: Facts) -> Text:
    kind = {"searched": both("searched for", "搜索来的"), "guessed": both("guessed", "凭经验选的")}
    last = kind.get(facts["last"], both("none", "无"))
    return both(
        f"Calls: {facts['calls']}, searches: {facts['searches']}; the plan in use at the end was {last['en']}.",
        f"调用 {facts['calls']} 次，搜索 {facts['searches']} 次；最后用的执行计划是{last['zh']}。",
    )


def flipped_objection(facts: Facts) -> Text | None:
    if facts["calls"] < 100:
        return both("The training got lost: a hundred steps stay.", "训练没了：那一百步要保留。")
    if facts["last"] != "searched":
        return both(
            "Still no search: the plan of this size was made before the switch was on.",
            "还是没有搜索：这个尺寸的执行计划，在开关打开之前就定了。",
        )
    if facts["shapes"] > 1:
        return both(
            "That searches, for another size: the data of the training must stay as they are.",
            "是搜索了，可那是另一个尺寸：训练数据不能变。",
        )
    return None


SCENES = {
    "11-timer": Scene(timer_scene, timer_told, timer_objection),
    "11-flipped": Scene(flipped_scene, flipped_told, flipped_objection),
}
