"""`count`: the work of one forward or one training step, without computing it where that is possible."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import signal
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map

from course.flops.asking import AskingMode
from course.flops.mode import CountingMode, Real, Shapes
from course.flops.result import FlopCount
from course.flops.tally import Tally
from course.flops.validation import CountError, NotHere, ask_parameters, callable_of, error, ran, stopped
from course.isolation.child import ChildDied, can_compute_in_child, can_fork, in_child, watch_threads
from course.isolation.copies import Uncopyable, copied
from course.isolation.preserved import process_preserved


class _Unsaid:
    """Stands for a keyword that was not given; `help` shows its value."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


_TRAINING: Any = _Unsaid(False)
_ALLOW_REAL: Any = _Unsaid(True)


def count(
    model: Any = None, /, *inputs: Any, training: bool = _TRAINING, allow_real: bool = _ALLOW_REAL, **kwargs: Any
) -> FlopCount:
    """Count the work of `model(*inputs, **kwargs)`, or with `training=True` of its forward and backward.

    model: an nn.Module or any callable that works on tensors, run in the mode it is in (`model.train()` or
    `model.eval()`); what it prints appears once. inputs, kwargs: what it is called with, batch included; values do
    not matter unless its control flow looks at them. allow_real: whether the forward may run on its data where
    shapes do not suffice (default True); False for a model whose forward is too expensive.

    Nothing of the caller's is changed: the forward runs on copies made for the count (tensors have shapes, small
    integer ones values), and code that reaches further than its own objects, or needs data, runs in a forked
    child. Effects outside the process are not protected: files written, messages sent, memory shared between
    processes, work on a GPU; a forward may run twice. Nor is an attribute that a forward sets on a class it got as
    an argument or keeps in an object. Where no forked child can compute (Windows; macOS, with data), such code is refused.

    Convention: one MAC = one multiply feeding one accumulate in a contraction; FLOPs = 2 x MACs; norms,
    activations, pooling, bias, softmax count 0; padding taps counted; transposed convolution by input
    positions; attention dense. A training step adds each gradient that is needed; every one costs one
    forward; what activation checkpointing computes again is counted again. Products of two tensors that a
    separate operator sums, as in `(a * b).sum()`, also after moves and casts, are shown apart
    (`.summed_products`); repeated additions are element operations.
    An operator that is neither counted nor provably free of contractions is listed in `.unknown`, and so is
    work seen to leave torch (other threads, floating-point values handed to NumPy, raw memory); then `.exact` is
    False. Arithmetic of Python on single values (`.item()`) or of an extension on memory cannot be seen.

    Raises CountError if `model` cannot be called, inputs are missing, the forward raises (it says where), or a
    keyword of `count` is also one of the forward.
    """
    with unset_fake_temporarily():
        return _count(model, inputs, kwargs, training, allow_real)


def _count(model: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], training: Any, allow_real: Any) -> FlopCount:
    model = callable_of(model, inputs, kwargs)
    for name, value in {"training": training, "allow_real": allow_real}.items():
        if not isinstance(value, _Unsaid) and name in _parameters(model):
            raise error("clash", name=name)
    training, allow_real = (one.value if isinstance(one, _Unsaid) else one for one in (training, allow_real))
    call = Call(model, inputs, kwargs, bool(training))
    try:
        found, said = _from_shapes(call)
    except (CountError, ChildDied, NotHere, Uncopyable) as why:
        if "meta" in call.devices():
            raise why if isinstance(why, CountError) else error("no child", why=why) from why
        if not allow_real:
            raise error("not from shapes", why=str(why).rstrip(".。")) from why
        found, said = _for_real(call)
    print(said, end="")
    return found


def count_run(model: Any, *inputs: Any) -> FlopCount:
    """Count the same from one real run, also where shapes would do: the operators are those of this machine's
    kernels.
    """
    return _for_real(Call(model, inputs, {}, False))[0]


def _parameters(model: Any) -> Any:
    if isinstance(model, torch.jit.ScriptModule):  # it would note on itself that it was asked
        return ()
    try:
        return inspect.signature(model.forward if isinstance(model, nn.Module) else model).parameters
    except (TypeError, ValueError):
        return ()


@dataclass
class Call:
    """A call to be counted: the model with its arguments. training: its forward and backward."""

    model: Any
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any]
    training: bool

    def devices(self) -> set[str]:
        """Kinds of devices on which the inputs and the weights of the model lie."""
        ask_parameters(self.model)
        owner = getattr(self.model, "__self__", self.model)
        held = [*owner.parameters(), *owner.buffers()] if isinstance(owner, nn.Module) else []
        with torch._C.DisableTorchFunctionSubclass():
            return {str(x.device) for x in tree_leaves((held, self.inputs, self.kwargs)) if isinstance(x, torch.Tensor)}


def _from_shapes(call: Call) -> tuple[FlopCount, str]:
    """On copies without memory, in this process or where none can be made in a child."""
    try:
        return _on_copies(call, Shapes())
    except (Uncopyable, NotHere):
        ask_parameters(call.model)
        if not can_fork():
            raise
        _imported()
        return in_child(lambda: attempt(call, Shapes(strays=True), call))


def _on_copies(call: Call, world: Real, device: str = "cpu") -> tuple[FlopCount, str]:
    """In this process, on copies of everything; the settings of the process and the generators are put back."""
    copies = Call(*copied((call.model, call.inputs, call.kwargs), world.stand_in), call.training)
    with process_preserved(device):
        return attempt(copies, world, call)


@functools.cache
def _imported() -> None:
    """What torch imports for its first shape is imported here, not in every child again (1.5 s)."""
    with process_preserved():
        torch.nn.functional.linear(torch.empty(2, 2, 2, device="meta"), torch.empty(2, 2, device="meta")) + 1


def _for_real(call: Call) -> tuple[FlopCount, str]:
    """With values: in a child, or on copies where none can compute or the data lie on a GPU."""
    elsewhere = call.devices() - {"cpu"}
    if can_compute_in_child() and not elsewhere:
        try:
            return in_child(lambda: attempt(call, Real(), call))
        except ChildDied as why:
            reason = MemoryError() if why.signal == signal.SIGKILL else why
            raise stopped(reason, {}, call.inputs, False, call.training) from why
    try:
        return _on_copies(call, Real(), min(elsewhere, default="cpu"))
    except Uncopyable as why:
        raise error("no child", why=why) from why


def attempt(call: Call, world: Real, original: Call) -> tuple[FlopCount, str]:
    """One count of a call that is thrown away, and what it printed; its exceptions come out as CountError."""
    tally, in_a_child = Tally(call.model), call is original
    if in_a_child:
        watch_threads(lambda: tally.unknown.update(["work in another thread"]))
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if "torch._dynamo" in sys.modules:  # compiled code hides its operators: functions run as written
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        torch.backends.mha.set_fastpath_enabled(False)  # it hides its operators
        if call.training:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
        arguments = call.inputs, call.kwargs
        if in_a_child and isinstance(world, Shapes):
            arguments = tree_map(lambda x: world.known(x) if isinstance(x, torch.Tensor) else x, arguments)
        try:
            with tally.following(), AskingMode(tally, world).watching(), CountingMode(tally, world):
                output = ran(call.model(*arguments[0], **arguments[1]))
                if call.training:
                    _backward(output)
            if world.broken is not None and isinstance(world, Shapes):
                raise world.broken  # swallowed by the forward, which then took another path
        except CountError:
            raise
        except Exception as why:
            tally.tree()  # which names the modules as a result does
            raise stopped(why, tally.places, original.inputs, "meta" in original.devices(), call.training) from why
    if call.training and world.hooked:
        tally.unknown["hook on a gradient"] += world.hooked
    tree = tally.tree()
    return FlopCount(
        macs=tree.macs,
        params=tree.total_params,
        by_module=tree,
        by_operator={name: macs for name, macs in tally.by_operator.most_common() if macs},
        calls=dict(tally.calls),
        unknown=dict(tally.unknown),
        element_operations=tally.element_operations,
        summed_products=tally.summed_products,
        training=call.training,
        ground=world.name,
    ), said.getvalue()


def _backward(output: Any) -> None:
    """Gradients of everything differentiable in the output."""
    tensors = [value for value in _tensors_of(output) if value.requires_grad]
    if not tensors:
        raise error("no gradient")
    torch.autograd.backward(tensors, [torch.ones_like(tensor) for tensor in tensors])


def _tensors_of(output: Any) -> list[torch.Tensor]:
    """All tensors in an output: in containers, dataclasses and objects with attributes, however deep."""
    found, waiting, seen = [], tree_leaves(output), {}
    while waiting:
        value = waiting.pop()
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif id(value) not in seen and not isinstance(value, (nn.Module, type, str)):
            seen[id(value)] = value
            items = value.values() if isinstance(value, dict) else getattr(value, "__dict__", {}).values()
            fields = [getattr(value, name, None) for name in getattr(value, "__dataclass_fields__", ())]
            waiting += tree_leaves([*items, *fields])
    return found
