"""Check the arguments of `count`, and explain a forward that fails: a CountError says what is wrong and what to do
next."""

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
        "{name} only holds layers and has no forward. Count its model, or one of the layers: count(layers[0], x).",
        "{name} 只是存放层的容器，没有 forward。请统计它所在的模型，或其中一层：count(layers[0], x)。",
    ),
    "not initialised": (
        "A module was never set up ({why}): its __init__ must call super().__init__() first.",
        "有一个模块没有完成初始化（{why}）：它的 __init__ 必须先调用 super().__init__()。",
    ),
    "no inputs": (
        "count needs inputs for {name}, since shapes decide the work: count(model, torch.zeros(1, 3, 224, 224)).",
        "count 需要输入才能运行 {name}，工作量由形状决定：count(model, torch.zeros(1, 3, 224, 224))。",
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
        "An input is a {kind}, which runs only once; a count may run twice. Make a list or a tensor of it first.",
        "有一个输入是 {kind}，只能用一次，而计数可能运行两次。请先把它变成列表或张量。",
    ),
    "no module": (
        "cross_check needs an nn.Module, because the other tools do, and got {given}.",
        "cross_check 需要 nn.Module（其他工具只接受它），得到的却是 {given}。",
    ),
    "by name": (
        "cross_check takes the inputs in the order of the forward, not by name, because the other tools do: give a tuple, "
        "as in cross_check(model, (a, b)).",
        "cross_check 按 forward 的顺序接收输入，不按名字（其他工具只能这样）：请传入元组，例如 cross_check(model, (a, b))。",
    ),
    "array": (
        "An input is a NumPy array, and models work on tensors: write torch.from_numpy(x).",
        "有一个输入是 NumPy 数组，而模型需要张量：请写成 torch.from_numpy(x)。",
    ),
    "not run": (
        "The forward gave back a {kind}: nothing has run yet. Count to the end: count(lambda x: list(model(x)), x).",
        "forward 返回的是 {kind}：还什么都没有运行。请运行到底：count(lambda x: list(model(x)), x)。",
    ),
    "no gradient": (
        "No output depends on a trainable parameter: all are frozen, or it was detached. Drop training=True.",
        "输出不依赖任何可训练参数：参数全部被冻结，或者结果被 detach 了。请去掉 training=True。",
    ),
    "clash": (
        "`{name}` is a keyword of count and of this forward. Write count(lambda x: model(x, {name}=...), x).",
        "`{name}` 既是 count 的参数，也是这个 forward 的参数。请写成 count(lambda x: model(x, {name}=...), x)。",
    ),
    "time": (
        "The count was cut off after {seconds:g} s. Count a part of the model or a smaller input, or allow more time "
        "with max_time={more:g}.",
        "计数超过 {seconds:g} 秒，已中断。请只统计模型的一部分或换更小的输入，或者用 max_time={more:g} 多给些时间。",
    ),
    "seconds": (
        "max_time is a number of seconds above 0, not {given!r}.",
        "max_time 应为大于 0 的秒数，而不是 {given!r}。",
    ),
    "habit": (
        "`{name}` belongs to another tool: this one takes the inputs as the model does, count(model, x), with "
        "x = torch.zeros(1, 3, 224, 224).",
        "`{name}` 是别的工具的写法：这里像调用模型那样传输入，count(model, x)，其中 x = torch.zeros(1, 3, 224, 224)。",
    ),
    "iterator": ("This forward cannot be counted: {why}.", "无法统计这个 forward：{why}。"),
    "not put back": (
        "The count ran, but {why}. What else it changed was put back.",
        "计数已经运行，但{why}。其余改动都已复原。",
    ),
    "not from shapes": (
        "Shapes do not suffice ({why}), and allow_real=False forbids data. Allow it, or count a part that needs none.",
        "只凭形状无法计数（{why}），而 allow_real=False 不允许真实运行。请允许，或只统计不看数值的部分。",
    ),
    "stopped": (
        "The {what} stopped{spot} with {kind}: {why}. The inputs were: {given}. {step}",
        "{what}{spot}中断，{kind}：{why}。输入是：{given}。{step}",
    ),
    "values": (
        "The {what} needs values{spot}, and shapes have none: {why}. The inputs were: {given}. {step}",
        "{what}{spot}需要数值，而形状里没有数值：{why}。输入是：{given}。{step}",
    ),
    "memory": (
        "This forward needs values, so it ran for real, and memory was too small: take a smaller batch or length.",
        "这个 forward 需要数值，只能真实运行，而内存不够：请换更小的 batch 或长度。",
    ),
    "meta": (
        "Model or inputs lie on the meta device, which has no values; if the forward looks at them, use the CPU.",
        "模型或输入在 meta 设备上，只有形状没有数值；如果 forward 要看数值，请改用 CPU。",
    ),
    "experts": (
        "Model or inputs lie on the meta device, which has no values: use the CPU. A mixture of experts of transformers "
        'needs none after model.set_experts_implementation("grouped_mm").',
        "模型或输入在 meta 设备上，没有数值：请改用 CPU。如果是 transformers 的混合专家模型，先调用 "
        'model.set_experts_implementation("grouped_mm")，就不再需要数值。',
    ),
    "packed": (
        "A dict or a tuple is passed on whole; to unpack it, write count(model, **batch) or count(model, *inputs).",
        "字典或元组会原样传入；要拆开传，请写成 count(model, **batch) 或 count(model, *inputs)。",
    ),
    "forward": (
        "Call the model once (a training step: and backward) without counting: it should stop the same way.",
        "请先不计数直接调用一次模型（训练步还要 backward），它应当以同样方式中断。",
    ),
}


_HABITS = frozenset("inputs input_size input_shape input_res input_data input_constructor args".split())
"""Keywords of thop, torchinfo, ptflops and calflops."""


class NotHere(Exception):
    """Shapes are not enough: the forward asks for values, or uses an object that a stand-in cannot replace. Its text
    says which.
    """


class CountError(ValueError):
    """The work could not be counted, and why; what the forward itself raised is `__cause__`."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def error(name: str, /, **given: Any) -> CountError:
    """The sentence of that name in the language of the reader."""
    return CountError(t(*_SENTENCES[name]).format(**given))


def describe(value: Any) -> str:
    """What was given, in a few words: a tensor by its type and shape, anything else by its class."""
    if isinstance(value, torch.Tensor) and value.is_nested:
        return t(f"nested tensor of {value.size(0)} rows", f"{value.size(0)} 行的嵌套张量")
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return type(value).__name__


def callable_of(model: Any, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Returns the model to run. Raises CountError, with what to do, for the usual mistakes in model and inputs."""
    ask_model(model)
    for name in _HABITS.intersection(kwargs):
        if not inputs and name not in parameters(model):
            raise error("habit", name=name)
    if isinstance(model, nn.Module) and not inputs and not kwargs:
        raise error("no inputs", name=type(model).__name__)
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


def parameters(model: Any) -> Any:
    """Names that the forward takes."""
    if isinstance(model, torch.jit.ScriptModule):  # it would note on itself that it was asked
        return ()
    try:
        return inspect.signature(model.forward if isinstance(model, nn.Module) else model).parameters
    except (TypeError, ValueError):
        return ()


def ask_parameters(model: Any) -> None:
    """Raise CountError for modules that were never set up and parameters that have no shape yet."""
    try:
        named = [*model.named_parameters()] if isinstance(model, nn.Module) else []
    except AttributeError as why:
        raise error("not initialised", why=why) from why
    for name, parameter in named:
        if nn.parameter.is_lazy(parameter):
            raise error("lazy", name=name)


def ask_seconds(given: Any) -> None:
    """Raise CountError for what is no number of seconds above 0."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0:
        raise error("seconds", given=given)


def plain(model: Any) -> Any:
    """The model as it was before nn.DataParallel or torch.compile wrapped it."""
    inside = vars(model).get("_modules", {}) if isinstance(model, nn.Module) else {}
    name = "module" if isinstance(model, nn.DataParallel) else "_orig_mod"
    return plain(inside[name]) if name in inside else model


def ask_model(model: Any) -> None:
    """Raise CountError for what cannot be a model."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise error("class", name=model.__name__)
    if not callable(model):
        raise error("no model", given=t("nothing", "什么也没有") if model is None else describe(model))
    if isinstance(model, (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)):
        raise error("container", name=type(model).__name__)


def ran(output: Any) -> Any:
    """Returns the output of a forward. Raises CountError for a generator or coroutine: it has not run yet."""
    if inspect.isgenerator(output) or inspect.iscoroutine(output) or inspect.isasyncgen(output):
        getattr(output, "close", bool)()  # an asynchronous generator has none
        raise error("not run", kind=type(output).__name__)
    return output


def stopped(
    reason: BaseException,
    places: Mapping[int, Any],
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    meta: bool,
    training: bool,
) -> CountError:
    """Which module (places: by id) stopped, why, what it was given, and what to do next.

    meta: model or inputs have no data, so values could not be asked.
    """
    spot, said = _spot(reason, places), words_of(reason)
    memory = isinstance(reason, MemoryError) or "out of memory" in said.lower() or "allocate memory" in said.lower()
    packed = any(isinstance(value, (Mapping, tuple, list)) for value in inputs)
    experts = meta and "experts" in spot.lower()
    steps = {"memory": memory, "experts": experts, "meta": meta, "packed": packed, "forward": True}
    why = (said.strip().split("\n")[0] or t("no message", "没有说明")).rstrip(".")
    given = [*map(describe, inputs), *(f"{name}: {describe(value)}" for name, value in kwargs.items())]
    return error(
        "values" if isinstance(reason, NotHere) else "stopped",
        what=t("training step", "训练步") if training else t("forward", "forward "),
        spot=t(f" in {spot}", f"在 {spot} 处") if spot else "",
        kind=type(reason).__name__,
        why=t("memory ran out", "内存不够") if memory else why,
        given=", ".join(given) or "-",
        step=t(*_SENTENCES[next(name for name, fits in steps.items() if fits)]),
    )


def words_of(error: BaseException | None) -> str:
    """The message of an exception; "" where its own `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return ""


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
