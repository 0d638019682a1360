"""The user's step as something to try settings on: made from a model, and, a copy of it, run under settings."""

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
    with contextlib.ExitStack() as undo:
        undo.enter_context(using({name: value for one in settings for name, value in one.flags.items()}))
        for way in (one.way for one in settings):
            if way == "compile":
                run = torch.compile(run, mode="reduce-overhead" if device == "cuda" else None)
            elif way in AROUND:
                run = partial(_inside, partial(AROUND[way], device), run)
            elif way in MOVES:
                _move(MOVES[way], tensors)
            elif way == "denormals":
                undo.callback(torch.set_flush_denormal, False)
                torch.set_flush_denormal(True)
        yield run


def _move(move: Callable[[torch.Tensor], torch.Tensor], tensors: Sequence[torch.Tensor]) -> None:
    leaves = [one for one in tensors if one.is_leaf and one.layout is torch.strided]
    for one in leaves:
        one.grad = None  # it would be of another type or layout
    for one in leaves:
        moved = move(one.data)
        if moved is not one.data:
            one.data = moved


def _inside(block: Callable[[], Any], step: Step) -> Any:
    with block():
        return step()
