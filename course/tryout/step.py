"""The user's step as something to try settings on: made from a model, and run under settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any

import torch
from torch import nn

from course.core.i18n import t
from course.flags import using
from course.timing import TimingError
from course.tryout.look import tensors_of
from course.tryout.settings import Setting

Step = Callable[[], Any]
BLOCK_S, SHORT_S = 0.01, 0.05
"""Shortest block of calls that is timed; and up to which length of a call cold caches would show in it."""
EXTRA = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
"""Kinds of parameters that need no value."""


class Forward:
    """model(*args, **kwargs); with `training` also the backward of the mean square of what came out: returns that and the gradients."""

    def __init__(self, model: nn.Module, args: Sequence[Any], kwargs: dict[str, Any], training: bool) -> None:
        self.model, self.args, self.kwargs, self.training = model, tuple(args), kwargs, training

    def __call__(self) -> Any:
        if not self.training:
            return self.model(*self.args, **self.kwargs)
        self.model.train()
        self.model.zero_grad()
        with torch.enable_grad():
            result = tensors_of(self.model(*self.args, **self.kwargs))
            floats = [one.float() if one.dtype.itemsize < 4 else one for one in result if one.requires_grad]
            sum(one.square().mean() for one in floats).backward()
        return [one.detach() for one in result], [one.grad for one in self.model.parameters() if one.grad is not None]


def step_of(work: Any, inputs: Sequence[Any], training: bool) -> Step:
    """The step to try. Raises TimingError, with the right form, for anything that is none."""
    if isinstance(work, nn.Module) and inputs:
        only = inputs[0] if len(inputs) == 1 else inputs
        if isinstance(only, dict):
            return Forward(work, (), only, training)
        return Forward(work, only if isinstance(only, (tuple, list)) else inputs, {}, training)
    if wrong := _no_step(work, inputs, training):
        english = " Write try_switches(step), a function of no arguments, or try_switches(model, x); there training=True adds a backward."
        chinese = "写法是 try_switches(step)（step 是不带参数的函数），或 try_switches(model, x)，后者加上 training=True 会再做反向。"
        raise TimingError(wrong + t(english, chinese))
    return work


def _no_step(work: Any, inputs: Sequence[Any], training: bool) -> str:
    """Why this cannot be called as a step, in a sentence; empty where it can."""
    if isinstance(work, nn.Module):
        return t("The model needs its input.", "模型还缺输入。")
    if not callable(work):
        kind = type(work).__name__
        return t(f"This is of type {kind}, not a function.", f"这是 {kind}，不是函数。")
    if inputs or training:
        return t("A function makes its inputs and its backward itself.", "函数要自己准备输入、自己做反向。")
    with contextlib.suppress(ValueError):  # some built-in functions do not tell
        given = signature(work).parameters.values()
        if asked := ", ".join(one.name for one in given if one.default is one.empty and one.kind not in EXTRA):
            called = getattr(work, "__name__", "step")
            english = f"{called} asks for {asked}: call it in a function without arguments."
            return t(english, f"{called} 还要参数 {asked}：请放进一个不带参数的函数里调用。")
    return ""


AROUND: dict[str, Callable[[str], Any]] = {
    "bfloat16": lambda device: torch.autocast(device, torch.bfloat16),
    "float16": lambda device: torch.autocast(device, torch.float16),
    "inference_mode": lambda device: torch.inference_mode(),
}
"""Way of a setting -> what stands around each call."""
MOVES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 and x.is_floating_point() else x,
    "float64": lambda x: x.double() if x.is_floating_point() else x,
    "nudged": lambda x: torch.nextafter(x, torch.full_like(x, torch.inf)) if x.dtype in (torch.float32, torch.float64) else x,
}  # fmt: skip
"""Way of a setting -> what becomes of each tensor within reach."""


class Side:
    """A step under settings. In the block of `on` they hold, and `run` is what to call there.

    tensors: within reach of the step; of a tensor in another layout or type one copy is made, and used again.
    """

    def __init__(self, step: Step, settings: Iterable[Setting], tensors: Iterable[torch.Tensor], device: str) -> None:
        settings, every = list(settings), [one for one in tensors if one.is_leaf and one.layout is torch.strided]
        self.flags = {name: value for one in settings for name, value in one.flags.items()}
        self.ways = [one.way for one in settings if one.way]
        gradients = {id(one.grad) for one in every}
        self.leaves = [one for one in every if id(one) not in gradients]
        self.run = step
        if "compile" in self.ways:
            self.run = torch.compile(step, mode="reduce-overhead" if device == "cuda" else None)
        for way in self.ways:
            if way in AROUND:
                self.run = partial(_inside, partial(AROUND[way], device), self.run)
        self._moved: dict[tuple[str, int], torch.Tensor | None] = {}

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """In the block, the switches and all tensors within reach are as the settings say."""
        with contextlib.ExitStack() as undo:
            undo.enter_context(using(self.flags))
            for way in self.ways:
                if way in MOVES:
                    undo.enter_context(self._in_place(way))
                elif way == "denormals":
                    undo.callback(torch.set_flush_denormal, False)
                    torch.set_flush_denormal(True)
            yield

    @contextlib.contextmanager
    def _in_place(self, way: str) -> Iterator[None]:
        before = [(one, one.data, one.grad) for one in self.leaves]
        try:
            for one, data, _ in before:
                key = way, id(one)
                if key not in self._moved:
                    moved = MOVES[way](data)
                    self._moved[key] = None if moved is data else moved
                if (moved := self._moved[key]) is not None:
                    one.grad, one.data = None, moved
            yield
        finally:
            for one, data, grad in before:
                if self._moved.get((way, id(one))) is not None:
                    one.grad, one.data = None, data
                    one.grad = grad


def _inside(block: Callable[[], Any], step: Step) -> Any:
    with block():
        return step()
