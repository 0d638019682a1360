"""Check the arguments of `count`, and explain a forward that fails: a CountError says what is wrong and what to do
next."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course.core.i18n import t

_SENTENCES = {
    "class": (
        "{name} is a class, not a model: make one first, as in count({name}(...), x).",
        "{name} 是类，不是模型：请先实例化，例如 count({name}(...), x)。",
    ),
    "no model": (
        "count needs a model or a function, and got {given}. Write count(model, x), the model first.",
        "count 需要模型或函数，得到的却是 {given}。请写成 count(model, x)，模型放在前面。",
    ),
    "no inputs": (
        "count needs inputs for {name}, since shapes decide the work: count(model, torch.zeros(1, 3, 224, 224)).",
        "count 需要输入才能运行 {name}，工作量由形状决定：count(model, torch.zeros(1, 3, 224, 224))。",
    ),
    "shape": (
        "The input is the shape {shape}, not a tensor: write count(model, torch.zeros{shape}).",
        "输入是形状 {shape}，不是张量：请写成 count(model, torch.zeros{shape})。",
    ),
    "used up": (
        "An input is a {kind}, which runs only once; a count may run twice. Make a list or a tensor of it first.",
        "有一个输入是 {kind}，只能用一次，而计数可能运行两次。请先把它变成列表或张量。",
    ),
    "not run": (
        "The forward gave back a {kind}: nothing has run yet. Count to the end: count(lambda x: {way}, x).",
        "forward 返回的是 {kind}：还什么都没有运行。请运行到底：count(lambda x: {way}, x)。",
    ),
    "no gradient": (
        "No output depends on a trainable parameter: all are frozen, or it was detached. Drop training=True.",
        "输出不依赖任何可训练参数：参数全部被冻结，或者结果被 detach 了。请去掉 training=True。",
    ),
    "stopped": (
        "The {what} stopped{spot} with {kind}: {why}. The inputs were: {given}. Call the model once (a training step: and "
        "backward) without counting: it should stop the same way. count passes inputs on as the model takes them: "
        "count(model, x), count(model, *inputs), count(model, **batch).",
        "{what}{spot}中断，{kind}：{why}。输入是：{given}。"
        "请先不计数直接调用一次模型（训练步还要 backward），它应当以同样方式中断。count 按调用模型的写法传输入："
        "count(model, x)、count(model, *inputs)、count(model, **batch)。",
    ),
    "refused": ("This forward cannot be counted{spot}: {why}.", "无法统计这个 forward{spot}：{why}。"),
}


class NotHere(Exception):
    """Shapes are not enough: the forward asks for values, or uses a tensor that a stand-in cannot replace."""


class Refused(RuntimeError):
    """The forward uses something that cannot be copied and that a run would change."""


class CountError(ValueError):
    """The work could not be counted, and why; what the forward itself raised is `__cause__`."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def error(name: str, /, **given: Any) -> CountError:
    """The sentence of that name in the language of the reader."""
    return CountError(t(*_SENTENCES[name]).format(**given))


def describe(value: Any) -> str:
    """What was given, in a few words: a tensor by its type and shape, anything else by its class."""
    if isinstance(value, torch.Tensor) and not value.is_nested:
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return t("nothing", "什么也没有") if value is None else type(value).__name__


def ask(model: Any, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise CountError, with what to do, for the usual mistakes in model and inputs."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise error("class", name=model.__name__)
    if not callable(model):
        raise error("no model", given=describe(model))
    if isinstance(model, nn.Module) and not inputs and not kwargs:
        raise error("no inputs", name=type(model).__name__)
    for value in (*inputs, *kwargs.values()):
        if hasattr(type(value), "__next__") or inspect.iscoroutine(value):
            raise error("used up", kind=type(value).__name__)
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, (tuple, list)) and only and all(isinstance(size, int) for size in only):
        raise error("shape", shape=tuple(only))


def ran(output: Any) -> Any:
    """Returns the output of a forward. Raises CountError for a generator or coroutine: it has not run yet."""
    if inspect.isgenerator(output) or inspect.iscoroutine(output) or inspect.isasyncgen(output):
        getattr(output, "close", bool)()  # an asynchronous generator has none
        way = "list(model(x))" if inspect.isgenerator(output) else "asyncio.run(model(x))"
        raise error("not run", kind=type(output).__name__, way=way)
    return output


def stopped(
    reason: BaseException, places: Mapping[int, Any], inputs: tuple[Any, ...], kwargs: Mapping[str, Any], training: bool
) -> CountError:
    """Which module (places: by id) stopped, why, what it was given, and what to do next."""
    spot = _spot(reason, places)
    spot = t(f" in {spot}", f"在 {spot} 处") if spot else ""
    if isinstance(reason, Refused):
        return error("refused", spot=spot, why=reason)
    try:
        said = str(reason)
    except Exception:  # its own __str__ may fail
        said = ""
    why = (said.strip().split("\n")[0] or t("no message", "没有说明")).rstrip(".")
    given = [*map(describe, inputs), *(f"{name}: {describe(value)}" for name, value in kwargs.items())]
    what = t("training step", "训练步") if training else t("forward", "forward ")
    return error("stopped", what=what, spot=spot, kind=type(reason).__name__, why=why, given=", ".join(given) or "-")


def _spot(reason: BaseException, places: Mapping[int, Any]) -> str:
    """The innermost module whose forward was running."""
    spot = ""
    below = reason.__traceback__ and reason.__traceback__.tb_next  # f_locals of our own frame would hold the error
    for frame, _ in traceback.walk_tb(below):
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and id(owner) in places:
            name = places[id(owner)].name
            spot = f"`{name}` ({type(owner).__name__})" if name else f"`{type(owner).__name__}`"
    return spot
