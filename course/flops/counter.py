"""`count`: the work of one forward or one training step, without computing it where that is possible."""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from course.flops.grounds import FakeGround, MetaGround, RealGround, remembering, swapped
from course.flops.mode import CountingMode
from course.flops.restore import modules_kept, process_kept
from course.flops.result import FlopCount
from course.flops.script import hidden_nodes
from course.flops.tally import Tally, all_parameters, module_tree
from course.i18n import t


class CountError(ValueError):
    """The work could not be counted; the message says what was wrong, where, and what to do."""


def count(model: Any, *inputs: Any, training: bool = False, **kwargs: Any) -> FlopCount:
    """Count the work of `model(*inputs, **kwargs)`, or with `training=True` of its forward and backward.

    model: an nn.Module or any callable that works on tensors. inputs, kwargs: what it is called with, batch
    included; values do not matter unless its control flow looks at them. The model runs in the mode it is in
    (`model.train()` or `model.eval()`), and nothing stays behind: no buffer, hook, flag, gradient or moved
    random generator, also after an exception.

    Convention: one MAC = one multiply feeding one accumulate in a contraction; FLOPs = 2 x MACs; norms,
    activations, pooling, bias, softmax count 0; padding taps counted; transposed convolution by input
    positions; attention dense. A training step adds each gradient that is needed; every one costs one
    forward.
    An operator that is neither counted nor provably free of contractions is listed in `.unknown`, and then
    `.exact` is False.

    Raises CountError if `model` cannot be called, inputs are missing, or the forward raises (it says where).
    """
    model, call = _callable(model, inputs, kwargs)
    modules = modules_of(model)
    step = functools.partial(attempt, model, call, modules, inputs, kwargs, training)
    shapes_only = _anything_without_data(modules, inputs, kwargs)
    with _nothing_compiled():
        if not shapes_only:
            for ground in (MetaGround, FakeGround):
                with (
                    contextlib.suppress(Exception),
                    warnings.catch_warnings(),
                    process_kept(),
                    modules_kept(modules),
                ):
                    warnings.simplefilter("ignore")
                    return step(ground())
        with process_kept(), modules_kept(modules):
            return step(MetaGround() if shapes_only else RealGround())


def attempt(
    model: Any,
    call: Callable[..., Any],
    modules: list[nn.Module],
    inputs: Any,
    kwargs: Any,
    training: bool,
    ground: Any,
) -> FlopCount:
    """One count on one ground; the exceptions of the forward come out as CountError."""
    root, places = module_tree(_roots(model, modules), _kind(model))
    tally = Tally(root, places)
    tally.unknown.update(hidden_nodes(modules))
    mode = CountingMode(tally, ground, ground.plain_types)
    stand_in = remembering(ground.stand_in)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ground.around())
        if any(isinstance(module, torch.jit.ScriptModule) for module in modules) and ground.name == "real":
            stack.enter_context(_gradients_kept(modules))
            arguments = inputs, kwargs
        else:
            stack.enter_context(swapped(modules, stand_in))
            arguments = tree_map(
                lambda leaf: stand_in(leaf) if isinstance(leaf, torch.Tensor) else leaf, (inputs, kwargs)
            )
        stack.enter_context(_gradients_kept(modules, _loose_tensors(model)))
        if training:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
        stack.enter_context(tally.following())
        try:
            with mode:
                output = call(*arguments[0], **arguments[1])
                if training:
                    _backward(output)
        except CountError:
            raise
        except Exception as error:
            raise CountError(_where(error, places, inputs)) from error
        if mode.broken is not None and ground.name != "real":
            raise CountError(str(mode.broken)) from mode.broken
    return FlopCount(
        macs=root.macs,
        params=all_parameters(modules),
        by_module=root,
        by_operator={name: macs for name, macs in tally.by_operator.most_common() if macs},
        calls=dict(tally.calls),
        unknown=dict(tally.unknown),
        element_operations=tally.element_operations,
        training=training,
        ground=ground.name,
    )


def _backward(output: Any) -> None:
    """Gradients of everything differentiable in the output."""
    tensors = [leaf for leaf in _tensors_of(output) if leaf.requires_grad]
    if not tensors:
        raise CountError(
            t(
                "A training step needs an output that depends on a trainable parameter, and this one does "
                "not: every "
                "parameter is frozen, or the forward detaches its result. Count without training=True.",
                "训练步要求输出依赖可训练参数，而这里没有：参数全部被冻结，或者 forward 里把结果 detach 了。"
                "请去掉 training=True 再计数。",
            )
        )
    torch.autograd.backward(tensors, [torch.ones_like(tensor) for tensor in tensors])


def _tensors_of(output: Any) -> list[torch.Tensor]:
    """All tensors in an output: nested containers, named tuples, dataclasses and objects with attributes."""
    found = []
    for leaf in tree_leaves(output):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, dict):
            found += _tensors_of(list(leaf.values()))
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, (nn.Module, type)):
            found += [value for value in vars(leaf).values() if isinstance(value, torch.Tensor)]
    return found


def _callable(model: Any, inputs: Any, kwargs: Any) -> tuple[Any, Callable[..., Any]]:
    """The model to count and how to call it, after the questions a beginner's mistake would raise."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise CountError(
            t(
                f"{model.__name__} is a class, not a model: make one first, as in "
                f"count({model.__name__}(...), x).",
                f"{model.__name__} 是类，不是模型：请先实例化，例如 count({model.__name__}(...), x)。",
            )
        )
    if not callable(model):
        raise CountError(
            t(
                f"count needs a model or a function, and got {_describe(model)}. Write count(model, x), "
                "the model first.",
                f"count 需要模型或函数，得到的却是 {_describe(model)}。请写成 count(model, x)，模型放在前面。",
            )
        )
    if isinstance(model, nn.Module) and not inputs and not kwargs:
        raise CountError(
            t(
                f"count needs inputs to run {type(model).__name__} on: the work depends on their shape. "
                "For an image model: count(model, torch.zeros(1, 3, 224, 224)).",
                f"count 需要输入才能运行 {type(model).__name__}：工作量取决于输入的形状。"
                "图像模型可以写成 count(model, torch.zeros(1, 3, 224, 224))。",
            )
        )
    if (
        len(inputs) == 1
        and isinstance(inputs[0], (tuple, list, torch.Size))
        and inputs[0]
        and all(isinstance(size, int) for size in inputs[0])
    ):
        shape = tuple(inputs[0])
        raise CountError(
            t(
                f"The input is the shape {shape}, not a tensor: write count(model, torch.zeros{shape}).",
                f"输入是形状 {shape}，不是张量：请写成 count(model, torch.zeros{shape})。",
            )
        )
    if isinstance(model, nn.Module):
        lazy = [name for name, p in model.named_parameters() if torch.nn.parameter.is_lazy(p)]
        if lazy:
            raise CountError(
                t(
                    f"The parameter {lazy[0]} has no shape yet (a lazy layer). Run the model once, then "
                    "count.",
                    f"参数 {lazy[0]} 还没有形状（惰性层）。请先运行一次模型，再计数。",
                )
            )
        while isinstance(model, nn.DataParallel) or hasattr(model, "_orig_mod"):
            model = model.module if isinstance(model, nn.DataParallel) else model._orig_mod
    return model, model


def _held(model: Any) -> list[Any]:
    """What a plain callable can reach: the object it is bound to, its closure, the globals it names."""
    if isinstance(model, functools.partial):
        return [*model.args, *model.keywords.values(), *_held(model.func), model.func]
    held = [getattr(model, "__self__", None)]
    function = getattr(model, "__func__", model)
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            held.append(cell.cell_contents)
    code = getattr(function, "__code__", None)
    if code is not None:
        held += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    if not isinstance(model, type) and hasattr(model, "__dict__") and code is None:
        held += list(vars(model).values())
    return held


def _entry_modules(model: Any) -> list[nn.Module]:
    if isinstance(model, nn.Module):
        return [model]
    found: list[nn.Module] = []
    for value in _held(model):
        values = value if isinstance(value, (list, tuple)) else [value]
        found += [v for v in values if isinstance(v, nn.Module) and all(v is not other for other in found)]
    return found


def _loose_tensors(model: Any) -> list[torch.Tensor]:
    if isinstance(model, nn.Module):
        return []
    return [value for value in _held(model) if isinstance(value, torch.Tensor)]


def modules_of(model: Any) -> list[nn.Module]:
    """Every module the call can reach, each once."""
    found: dict[int, nn.Module] = {}
    for entry in _entry_modules(model):
        for module in entry.modules():
            found.setdefault(id(module), module)
    return list(found.values())


def _roots(model: Any, modules: list[nn.Module]) -> list[tuple[str, nn.Module]]:
    if isinstance(model, nn.Module):
        return [("", model)]
    entries = _entry_modules(model)
    if len(entries) == 1:
        return [("", entries[0])]
    return [(f"{type(module).__name__.lower()}_{at}", module) for at, module in enumerate(entries)]


def _kind(model: Any) -> str:
    entries = _entry_modules(model)
    return (
        type(entries[0]).__name__ if len(entries) == 1 else getattr(model, "__name__", type(model).__name__)
    )


def _anything_without_data(modules: list[nn.Module], inputs: Any, kwargs: Any) -> bool:
    """Whether the model or the inputs already lie on the meta device: then only shapes can be counted."""
    tensors = [p for module in modules for p in (*module._parameters.values(), *module._buffers.values())]
    return any(isinstance(x, torch.Tensor) and x.is_meta for x in (*tensors, *tree_leaves((inputs, kwargs))))


@contextlib.contextmanager
def _gradients_kept(modules: list[nn.Module], loose: list[torch.Tensor] | None = None) -> Iterator[None]:
    """Put back `.grad` of everything that a backward could reach."""
    leaves = [p for module in modules for p in module._parameters.values() if p is not None]
    leaves += [tensor for tensor in loose or () if tensor.is_leaf]
    before = [(leaf, leaf.grad, leaf.grad.clone() if leaf.grad is not None else None) for leaf in leaves]
    try:
        yield
    finally:
        for leaf, grad, copy in before:
            if copy is not None:
                with torch.no_grad():
                    grad.copy_(copy)
            leaf.grad = grad


@contextlib.contextmanager
def _nothing_compiled() -> Iterator[None]:
    """Functions wrapped by torch.compile run as written: compiled code hides its operators."""
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


def _where(error: Exception, places: dict[int, Any], inputs: Any) -> str:
    """Which module stopped, why, and what it was given."""
    spot = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and id(owner) in places:
            name = places[id(owner)].name
            spot = f"`{name}` ({type(owner).__name__})" if name else f"`{type(owner).__name__}`"
    reason = str(error).strip().split("\n")[0] or "no message"
    given = ", ".join(_describe(value) for value in inputs) or "-"
    at_en, at_zh = (f" in {spot}", f"在 {spot} 处") if spot else ("", "")
    return t(
        f"The forward stopped{at_en} with {type(error).__name__}: {reason}. The inputs were: {given}. "
        "Call the model once without counting: it should stop the same way.",
        f"forward {at_zh}中断，{type(error).__name__}：{reason}。输入是：{given}。"
        "请先不计数直接调用一次模型，它应当以同样方式中断。",
    )


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return type(value).__name__
