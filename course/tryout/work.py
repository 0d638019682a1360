"""The user's step as something to try settings on: made from a model, run under settings, sent to other processes."""

from __future__ import annotations

import contextlib
import importlib
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course.flags import assign, using
from course.i18n import both
from course.tryout.look import LOW, tensors_of
from course.tryout.reach import Reach
from course.tryout.settings import Setting, TryError


class Forward:
    """model(*args, **kwargs); with `training` also the backward of the mean square of what came out: returns that and the gradients."""

    def __init__(self, model: nn.Module, args: Sequence[Any], kwargs: dict[str, Any], training: bool) -> None:
        self.model, self.args, self.kwargs, self.training = model, tuple(args), kwargs, training

    def __call__(self) -> Any:
        if not self.training:
            return self.model(*self.args, **self.kwargs)
        self.model.train()
        for one in self.model.parameters():
            one.grad = None
        with torch.enable_grad():
            result = list(tensors_of(self.model(*self.args, **self.kwargs)))
            sum(
                (one.float() if one.dtype in LOW else one).square().mean() for one in result if one.requires_grad
            ).backward()
        return [one.detach() for one in result], [one.grad for one in self.model.parameters() if one.grad is not None]


def work_of(work: Any, inputs: Sequence[Any], training: bool) -> Callable[[], Any]:
    """The step to try. Raises TryError, with the right form, for anything that is none."""
    if isinstance(work, str):
        return named(work)
    if isinstance(work, nn.Module) and inputs:
        given = inputs[0]
        if len(inputs) == 1 and isinstance(given, dict):
            return Forward(work, (), given, training)
        return Forward(work, given if len(inputs) == 1 and isinstance(given, (tuple, list)) else inputs, {}, training)
    if isinstance(work, nn.Module) or not callable(work) or inputs or training:
        raise TryError(
            both(
                "Write try_switches(step), with a function of no arguments, or try_switches(model, x), and with training=True for a "
                "forward and its backward.",
                "写法是 try_switches(step)（step 是不带参数的函数），或 try_switches(model, x)；加上 training=True 就是前向加反向。",
            )
        )
    return work


def named(spec: str) -> Callable[[], Any]:
    """The function that "train.py:step" or "module:step" names. Raises TryError where there is none."""
    where, _, name = spec.rpartition(":")
    try:
        path = Path(where)
        if path.suffix == ".py":
            sys.path.insert(0, str(path.resolve().parent))
            where = path.stem
        found = getattr(importlib.import_module(where), name)
    except Exception as error:  # noqa: BLE001  (the user's file runs)
        said = f"{type(error).__name__}: {error}"
        raise TryError(
            both(
                f"{spec} cannot be loaded ({said}). Name a file and a function in it: train.py:step; importing the file must not train.",
                f"{spec} 加载不了（{said}）。请写文件名和里面的函数名：train.py:step；导入这个文件时不能开始训练。",
            )
        ) from error
    return work_of(found, (), False)


def save(step: Callable[[], Any], path: Path) -> None:
    """Write the step, with all that it refers to, for other processes. Raises whatever cannot be written raises."""
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
    torch.save(step, path, pickle_module=pickler)


def loaded(path: str) -> Callable[[], Any]:
    """The step that `save` wrote."""
    return torch.load(path, weights_only=False)


class Work:
    """A step, and how it runs under settings. Used in a process where the step may be changed, or inside `reach.put_back`."""

    def __init__(self, step: Callable[[], Any], device: str) -> None:
        self.step, self.device = step, device
        self._tensors: list[torch.Tensor] = []
        self._other: dict[
            tuple[int, str], tuple[torch.Tensor, torch.Tensor]
        ] = {}  # with the original, so that its id stays its own

    def forget(self) -> None:
        """Look again at what is within reach, and at its values, where a layout or type is changed next."""
        self._tensors = []
        self._other.clear()

    @contextlib.contextmanager
    def under(self, settings: Sequence[Setting], afresh: bool = False) -> Iterator[None]:
        """In the block, the switches and the layout of all tensors within reach are those of the settings.

        afresh: with the values that the tensors have now; else a tensor in another layout is made once, and trained on.
        """
        if afresh:
            self.forget()
        flags = {name: value for one in settings for name, value in one.flags.items()}
        with contextlib.ExitStack() as undo:
            undo.enter_context(using(flags))
            if any(one.way == "channels_last" for one in settings):
                undo.enter_context(self._moved("channels_last", _channels_last))
            if any(one.way == "denormals" for one in settings):
                undo.callback(torch.set_flush_denormal, False)
                torch.set_flush_denormal(True)
            yield

    def for_good(self, settings: Sequence[Setting]) -> Callable[[], Any]:
        """Apply the settings to this process until it ends; returns the step that runs with them."""
        for one in settings:
            for name, value in one.flags.items():
                assign(name, value)
            if one.way == "denormals" and not torch.set_flush_denormal(True):
                raise TryError(both("this CPU cannot do it", "这颗 CPU 做不到"))
            if one.way == "channels_last":
                self._moved("channels_last", _channels_last).__enter__()
        return self.wrapped(settings)

    def wrapped(self, settings: Sequence[Setting]) -> Callable[[], Any]:
        """The step with what belongs into each call: autocast, inference_mode, compiled code."""
        step = self.step
        for one in settings:
            if one.way == "compile":
                step = torch.compile(step, mode="reduce-overhead" if self.device == "cuda" else None)
        for one in settings:
            if one.way in ("bfloat16", "float16"):
                step = _inside(partial(torch.autocast, self.device, getattr(torch, one.way)), step)
            elif one.way == "inference_mode":
                step = _inside(torch.inference_mode, step)
        return step

    @contextlib.contextmanager
    def in_float64(self) -> Iterator[None]:
        """In the block, all floating-point tensors within reach are float64."""
        with self._moved("float64", lambda one: one.double() if one.is_floating_point() else one):
            yield

    @contextlib.contextmanager
    def _moved(self, kind: str, made: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
        self._tensors = self._tensors or Reach(self.step).tensors
        leaves = [one for one in self._tensors if one.is_leaf and one.layout is torch.strided]
        grads = {id(one.grad) for one in leaves if one.grad is not None}
        before = [(one, one.data, one.grad) for one in leaves if id(one) not in grads]
        try:
            for one, data, _ in before:
                if (id(one), kind) not in self._other:
                    self._other[id(one), kind] = one, made(data)
                other = self._other[id(one), kind][1]
                if other is not data:
                    one.grad, one.data = None, other
            yield
        finally:
            for one, data, grad in before:
                one.grad, one.data = None, data
                one.grad = grad


def _channels_last(one: torch.Tensor) -> torch.Tensor:
    return one.contiguous(memory_format=torch.channels_last) if one.dim() == 4 and one.is_floating_point() else one


def _inside(block: Callable[[], Any], step: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> Any:
        with block():
            return step()

    return call
