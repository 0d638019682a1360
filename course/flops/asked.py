"""Odd things handed to `count`, and forwards that stop: each answered with a sentence and the next step."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course.i18n import t

_SENTENCES = {
    "class": (
        "{name} is a class, not a model: make one first, as in count({name}(...), x).",
        "{name} 是类，不是模型：请先实例化，例如 count({name}(...), x)。",
    ),
    "no model": (
        "count needs a model or a function, and got {given}. Write count(model, x), the model first.",
        "count 需要模型或函数，得到的却是 {given}。请写成 count(model, x)，模型放在前面。",
    ),
    "container": (
        "{name} only holds layers and has no forward. Count the model it belongs to, or one of its layers: "
        "count(layers[0], x).",
        "{name} 只是存放层的容器，没有 forward。请统计它所在的模型，或者其中一层：count(layers[0], x)。",
    ),
    "no inputs": (
        "count needs inputs to run {name} on: the work depends on their shape. For an image model: "
        "count(model, torch.zeros(1, 3, 224, 224)).",
        "count 需要输入才能运行 {name}：工作量取决于输入的形状。图像模型可以写成 count(model, torch.zeros(1, 3, 224, 224))。",
    ),
    "lazy": (
        "The parameter {name} has no shape yet (a lazy layer). Run the model once, then count.",
        "参数 {name} 还没有形状（惰性层）。请先运行一次模型，再计数。",
    ),
    "shape": (
        "The input is the shape {shape}, not a tensor: write count(model, torch.zeros{shape}).",
        "输入是形状 {shape}，不是张量：请写成 count(model, torch.zeros{shape})。",
    ),
    "loader": (
        "An input is a DataLoader: take one batch of it, x = next(iter(loader)), and count with the tensors in it.",
        "有一个输入是 DataLoader：请先取出一批，x = next(iter(loader))，再用其中的张量计数。",
    ),
    "used up": (
        "An input is a {kind}, which can be used up only once, and a count may run the forward several times. Make a "
        "list or a tensor of it first.",
        "有一个输入是 {kind}，只能用一次，而计数可能要多次运行 forward。请先把它变成列表或张量。",
    ),
    "array": (
        "An input is a NumPy array, and models work on tensors: write torch.from_numpy(x).",
        "有一个输入是 NumPy 数组，而模型需要张量：请写成 torch.from_numpy(x)。",
    ),
    "not run": (
        "The forward gave back a {kind}: nothing has run yet, so there is nothing to count. Count a function that runs "
        "it to the end, for example count(lambda x: list(model(x)), x).",
        "forward 返回的是 {kind}：还什么都没有运行，也就没有东西可数。请统计一个把它运行到底的函数，"
        "例如 count(lambda x: list(model(x)), x)。",
    ),
    "no gradient": (
        "A training step needs an output that depends on a trainable parameter, and this one does not: every parameter "
        "is frozen, or the forward detaches its result. Count without training=True.",
        "训练步要求输出依赖可训练参数，而这里没有：参数全部被冻结，或者 forward 里把结果 detach 了。"
        "请去掉 training=True 再计数。",
    ),
    "clash": (
        "`{name}` is a keyword of count and of this forward too, so it cannot be passed on. Give the forward's by "
        "position, or count a function: count(lambda x: model(x, {name}=...), x).",
        "`{name}` 既是 count 的参数，也是这个 forward 的参数，无法传递。请按位置传给 forward，或统计一个函数："
        "count(lambda x: model(x, {name}=...), x)。",
    ),
    "no child": (
        "This forward cannot run on copies ({why}), and there is no forked child here to keep its effects in. Count the "
        "inner model, with everything it needs as inputs.",
        "这个 forward 无法在副本上运行（{why}），这里也没有可隔离其影响的 fork 子进程。"
        "请统计内部的模型，并把它需要的一切作为输入传入。",
    ),
    "not from shapes": (
        "Shapes alone do not suffice ({why}), and allow_real=False rules out a run on data. Allow it, or count the part "
        "of the model that does not look at values.",
        "只凭形状无法计数（{why}），而 allow_real=False 不允许真实运行。请允许真实运行，或只统计不看数值的那部分模型。",
    ),
    "stopped": (
        "The {what} stopped{spot} with {kind}: {why}. The inputs were: {given}. {step}",
        "{what}{spot}中断，{kind}：{why}。输入是：{given}。{step}",
    ),
}
_STEPS = {
    "memory": (
        "This forward needs values, so it had to run for real, and memory was too small: count with a smaller batch or "
        "length (the work of most models is proportional to the batch).",
        "这个 forward 需要数值，只能真实运行，而内存不够：请换更小的 batch 或长度（多数模型的工作量与 batch 大小成正比）。",
    ),
    "meta": (
        "Model or inputs lie on the meta device, which has shapes but no values; if the forward looks at values, make "
        "both on the CPU.",
        "模型或输入在 meta 设备上，只有形状没有数值；如果 forward 要看数值，请把两者都建在 CPU 上。",
    ),
    "dict": (
        "An input is a dict, passed on as it is; if the forward takes its entries by name, write count(model, **batch).",
        "有一个输入是字典，会原样传入；如果 forward 按名字接收其中各项，请写成 count(model, **batch)。",
    ),
    "training": (
        "Run one forward and backward without counting: it should stop the same way.",
        "请先不计数运行一次前向和反向，它应当以同样方式中断。",
    ),
    "forward": (
        "Call the model once without counting: it should stop the same way.",
        "请先不计数直接调用一次模型，它应当以同样方式中断。",
    ),
}


class CountError(ValueError):
    """The work could not be counted; the message says what was wrong, where, and what to do.

    A notebook shows the sentence alone; what the forward itself raised is `__cause__`.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def error(name: str, /, **given: Any) -> CountError:
    """The sentence of that name in the language of the reader."""
    return CountError(t(*_SENTENCES[name]).format(**given))


def describe(value: Any) -> str:
    """What was given, in a few words: a tensor by its type and shape, anything else by its class."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return type(value).__name__


def callable_of(model: Any, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The model to run, after the questions a beginner's mistake would raise."""
    ask_model(model)
    if isinstance(model, nn.Module):
        if not inputs and not kwargs:
            raise error("no inputs", name=type(model).__name__)
        for name, parameter in model.named_parameters():
            if torch.nn.parameter.is_lazy(parameter):
                raise error("lazy", name=name)
    for value in (*inputs, *kwargs.values()):
        kind = type(value)
        if isinstance(value, torch.utils.data.DataLoader):
            raise error("loader")
        if inspect.isgenerator(value) or inspect.iscoroutine(value):
            raise error("used up", kind=kind.__name__)
        if kind.__module__.partition(".")[0] == "numpy" and kind.__name__ == "ndarray":
            raise error("array")
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, (tuple, list)) and only and all(isinstance(size, int) for size in only):
        raise error("shape", shape=tuple(only))
    return plain(model)


def plain(model: Any) -> Any:
    """The model as it was before nn.DataParallel or torch.compile wrapped it."""
    while isinstance(model, nn.DataParallel) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
    return model


def ask_model(model: Any) -> None:
    """Raise CountError for what cannot be a model."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise error("class", name=model.__name__)
    if not callable(model):
        raise error("no model", given=t("nothing", "什么也没有") if model is None else describe(model))
    if isinstance(model, (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)):
        raise error("container", name=type(model).__name__)


def ran(output: Any) -> Any:
    """The output of a forward that has really run; a generator or a coroutine has not."""
    if inspect.isgenerator(output) or inspect.iscoroutine(output) or inspect.isasyncgen(output):
        if not inspect.isasyncgen(output):
            output.close()
        raise error("not run", kind=type(output).__name__)
    return output


def stopped(
    reason: BaseException, places: Mapping[int, Any], inputs: tuple[Any, ...], meta: bool, training: bool
) -> CountError:
    """Which module stopped, why, what it was given, and what to do next.

    places: the module tree by id(module). meta: model or inputs have no data, so values could not be asked.
    training: the backward was asked for as well.
    """
    spot, said = _spot(reason, places), str(reason)
    memory = isinstance(reason, MemoryError) or "out of memory" in said.lower() or "allocate memory" in said.lower()
    by_name = any(isinstance(value, Mapping) and all(isinstance(key, str) for key in value) for value in inputs)
    steps = {"memory": memory, "meta": meta, "dict": by_name, "training": training, "forward": True}
    why = (said.strip().split("\n")[0] or t("no message", "没有说明")).rstrip(".")
    return error(
        "stopped",
        what=t("training step", "训练步") if training else t("forward", "forward "),
        spot=t(f" in {spot}", f"在 {spot} 处") if spot else "",
        kind=type(reason).__name__,
        why=t("memory ran out", "内存不够") if memory else why,
        given=", ".join(map(describe, inputs)) or "-",
        step=t(*_STEPS[next(name for name, fits in steps.items() if fits)]),
    )


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
