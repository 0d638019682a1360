"""`count`: the work of one forward or one training step, without computing it where that is possible."""

from __future__ import annotations

import contextlib
import contextvars
import io
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from course import flags
from course.flops.asked import CountError, callable_of, no_gradient, ran, stopped
from course.flops.grounds import FakeGround, MetaGround, RealGround, remembering, swapped
from course.flops.mode import CountingMode
from course.flops.outside import Outside
from course.flops.reach import kind, loose_tensors, modules_of, objects_behind, roots, without_data
from course.flops.restore import functions_kept, modules_kept, process_kept
from course.flops.result import FlopCount
from course.flops.script import hidden_nodes
from course.flops.tally import Tally, all_parameters, module_tree


def count(model: Any = None, *inputs: Any, training: bool = False, **kwargs: Any) -> FlopCount:
    """Count the work of `model(*inputs, **kwargs)`, or with `training=True` of its forward and backward.

    model: an nn.Module or any callable that works on tensors. inputs, kwargs: what it is called with, batch
    included; values do not matter unless its control flow looks at them. The model runs in the mode it is in
    (`model.train()` or `model.eval()`), and nothing stays behind: no buffer, hook, flag, gradient, moved random
    generator or grown cache among the inputs, no tensor without data in a cache outside (functools.lru_cache is
    emptied if it took one), also after an exception. What it prints appears once.

    Convention: one MAC = one multiply feeding one accumulate in a contraction; FLOPs = 2 x MACs; norms,
    activations, pooling, bias, softmax count 0; padding taps counted; transposed convolution by input
    positions; attention dense. A training step adds each gradient that is needed; every one costs one
    forward; what activation checkpointing computes again is counted again. A contraction written as two
    element operations, `(a * b).sum()`, is shown apart (`.summed_products`).
    An operator that is neither counted nor provably free of contractions is listed in `.unknown`, and so is
    work that cannot be seen (in another thread, in NumPy); then `.exact` is False.

    Raises CountError if `model` cannot be called, inputs are missing, or the forward raises (it says where).
    """
    model = callable_of(model, inputs, kwargs)
    modules = modules_of(model)

    def step(ground: Any) -> FlopCount:
        return contextvars.copy_context().run(kept_step, ground)  # what the forward sets there is gone with it

    def kept_step(ground: Any) -> FlopCount:
        with process_kept(), modules_kept(modules, held, inputs, kwargs), _gradients_kept(modules, loose_tensors(model)):
            return attempt(model, modules, inputs, kwargs, training, ground)

    held = objects_behind(model)
    shapes_only = without_data(modules, inputs, kwargs)
    with flags.preserved(), functions_kept(), nothing_compiled():
        if shapes_only:
            return step(MetaGround())
        around = Outside(modules, model)
        for ground in (MetaGround(), FakeGround()):
            found = None
            try:
                with contextlib.suppress(Exception), _quiet() as said:
                    found = step(ground)
            finally:
                around.put_back(ground.made)
            if found is not None:
                print(said.getvalue(), end="")
                return found
        return step(RealGround())


def attempt(
    model: Callable[..., Any],
    modules: list[nn.Module],
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any],
    training: bool,
    ground: Any,
) -> FlopCount:
    """One count on one ground; the exceptions of the forward come out as CountError."""
    root, places = module_tree(roots(model), kind(model))
    tally = Tally(root, places)
    tally.unknown.update(hidden_nodes(modules))
    if training:
        tally.unknown.update(gradient_hooks(modules))
    mode = CountingMode(tally, ground, ground.plain_types)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ground.around(tally))
        arguments = _placed(stack, ground, modules, (inputs, kwargs))
        stack.enter_context(_gradients_kept(modules, loose_tensors(model)))
        if training:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
        stack.enter_context(tally.following())
        try:
            with mode:
                output = ran(model(*arguments[0], **arguments[1]))
                if training:
                    _backward(output)
        except CountError:
            raise
        except Exception as error:
            raise stopped(error, places, inputs, without_data(modules, inputs, kwargs), training) from error
        finally:
            broken = mode.broken or ground.refused
            broken = None if broken is None else f"{type(broken).__name__}: {broken}"
            mode.broken = ground.refused = None  # their tracebacks hold stand-ins
        if broken is not None and ground.name != "real":
            raise CountError(broken)
    return FlopCount(
        macs=root.macs,
        params=all_parameters(modules),
        by_module=root,
        by_operator={name: macs for name, macs in tally.by_operator.most_common() if macs},
        calls=dict(tally.calls),
        unknown=dict(tally.unknown),
        element_operations=tally.element_operations,
        summed_products=tally.summed_products,
        training=training,
        ground=ground.name,
    )


def _placed(stack: contextlib.ExitStack, ground: Any, modules: list[nn.Module], arguments: Any) -> Any:
    """The arguments on the ground, the modules' tensors swapped for stand-ins while the stack is open."""
    if ground.name == "real" and any(isinstance(module, torch.jit.ScriptModule) for module in modules):
        stack.enter_context(_gradients_kept(modules))  # a TorchScript module keeps its own tensors
        return arguments
    stand_in = remembering(ground)
    stack.enter_context(swapped(modules, stand_in))
    return tree_map(lambda leaf: stand_in(leaf) if isinstance(leaf, torch.Tensor) else leaf, arguments)


def _backward(output: Any) -> None:
    """Gradients of everything differentiable in the output; those of tensors from elsewhere are put back."""
    tensors = [value for value in _tensors_of(output) if value.requires_grad]
    if not tensors:
        raise no_gradient()
    with _gradients_kept([], _leaves_of(tensors)):
        torch.autograd.backward(tensors, [torch.ones_like(tensor) for tensor in tensors])


def _tensors_of(output: Any) -> list[torch.Tensor]:
    """All tensors in an output: in containers, dataclasses and objects with attributes, however deep."""
    found, waiting, seen = [], tree_leaves(output), []
    while waiting:
        value = waiting.pop()
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif not isinstance(value, (nn.Module, type, str)) and all(value is not other for other in seen):
            seen.append(value)
            fields = [getattr(value, field.name, None) for field in getattr(value, "__dataclass_fields__", {}).values()]
            inner = [*value.values()] if isinstance(value, dict) else [*fields, *getattr(value, "__dict__", {}).values()]
            waiting += tree_leaves(inner)
    return found


def _leaves_of(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors at the ends of the graph behind `tensors`: those a backward gives a `.grad`."""
    found, waiting, seen = [], [tensor.grad_fn for tensor in tensors], set()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            found += [node.variable] if hasattr(node, "variable") else []
            waiting += [before for before, _ in node.next_functions]
    return found


def gradient_hooks(modules: list[nn.Module]) -> list[str]:
    """Hooks on the gradients of parameters: stand-ins do not run them, so work they do is not seen."""
    hooked = [p for module in modules for p in module._parameters.values() if p is not None and p._backward_hooks]
    return ["hook on the gradient of a parameter"] * len(hooked)


@contextlib.contextmanager
def _gradients_kept(modules: list[nn.Module], loose: Iterable[torch.Tensor] = ()) -> Iterator[None]:
    """Put back `.grad` of everything that a backward could reach (what is added to it in place, the ground undoes)."""
    leaves = [p for module in modules for p in module._parameters.values() if p is not None]
    leaves += [tensor for tensor in loose if tensor.is_leaf]
    before = [(leaf, leaf.grad) for leaf in leaves]
    try:
        yield
    finally:
        for leaf, grad in before:
            leaf.grad = grad


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    """No warnings, and prints kept: an attempt that fails is followed by another one that says the same."""
    said = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said):
        warnings.simplefilter("ignore")
        yield said


@contextlib.contextmanager
def nothing_compiled() -> Iterator[None]:
    """Functions wrapped by torch.compile run as written: compiled code hides its operators."""
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield
