"""`count`: the work of one forward or one training step, without computing it where that is possible."""

from __future__ import annotations

import contextlib
import contextvars
import gc
import io
import logging
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map

from course.flops import outside
from course.flops.asking import AskingMode
from course.flops.mode import CountingMode
from course.flops.result import FlopCount
from course.flops.tally import Tally
from course.flops.validation import (
    CountError,
    NotHere,
    ask_parameters,
    ask_seconds,
    callable_of,
    error,
    parameters,
    ran,
    stopped,
)
from course.flops.worlds import Real, Shapes
from course.i18n import t
from course.isolation.journal import Journal, Unrestorable
from course.isolation.limits import OutOfTime, alone, time_limit
from course.isolation.restoring import unchanged


@unset_fake_temporarily()
def count(
    model: Any = None,
    /,
    *inputs: Any,
    training: bool | None = None,
    allow_real: bool | None = None,
    max_time: float | None = None,
    **kwargs: Any,
) -> FlopCount:
    """Count the work of `model(*inputs, **kwargs)`, or with `training=True` (default False) of its forward and backward.

    model: an nn.Module or any callable that works on tensors, run in the mode it is in (`model.train()` or
    `model.eval()`); what it prints appears once. inputs, kwargs: what it is called with, batch included; values do
    not matter unless its control flow looks at them. allow_real: whether the forward may run on its data where
    shapes do not suffice (default True); False for a model whose forward is too expensive. max_time: seconds after
    which the count is cut off (default 600).

    The model runs here, in this process, on any device. Its tensors have shapes alone (small integer ones values); only
    where the forward needs data does it run for real, a second time. Afterwards everything is put back that is within
    reach of model and inputs: memory, attributes, containers, closures, the globals that functions of one's own name,
    random generators, settings of torch and Python. Not put back: files, messages, memory shared between processes,
    what compiled code writes to by itself, what other threads do meanwhile, and tables inside installed packages. An
    iterator that the forward advances is refused.

    Convention: one MAC = one multiply feeding one accumulate in a contraction; FLOPs = 2 x MACs; norms,
    activations, pooling, bias, softmax count 0; padding taps counted; transposed convolution by input
    positions; attention dense. A training step adds each gradient that is needed; every one costs one
    forward; what activation checkpointing computes again is counted again. Products of two tensors that a
    separate operator sums, as in `(a * b).sum()`, also after moves and casts, are shown apart
    (`.summed_products`); repeated additions are element operations.
    An operator that is neither counted nor provably free of contractions is listed in `.unknown`, and so is
    work seen to leave torch (other threads, values handed to NumPy or made by it, raw memory, compiled extensions);
    then `.exact` is False. Arithmetic of Python on single values (`.item()`) cannot be seen.

    Raises CountError if `model` cannot be called, inputs are missing, the forward raises (it says where), time is
    over, or a keyword of `count` is also one of the forward.
    """
    model = callable_of(model, inputs, kwargs)
    for name, given in (("training", training), ("allow_real", allow_real), ("max_time", max_time)):
        if given is not None and name in parameters(model):
            raise error("clash", name=name)
    seconds = 600.0 if max_time is None else max_time
    ask_seconds(seconds)
    ask_parameters(model)
    call = Call(model, inputs, kwargs, bool(training), seconds)
    try:
        with alone(seconds):
            found, said = _either_way(call, allow_real is not False)
    except OutOfTime as why:
        raise error("time", seconds=seconds, more=10 * seconds) from why
    print(said, end="")
    return found


@dataclass
class Call:
    """A call to be counted: the model with its arguments. training: its forward and backward. seconds: for one run."""

    model: Any
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any]
    training: bool
    seconds: float = 600.0

    def on_meta(self) -> bool:
        """Whether a weight or an input has no data."""
        owner = getattr(self.model, "__self__", self.model)
        held = [*owner.parameters(), *owner.buffers()] if isinstance(owner, nn.Module) else []
        given = [x for x in tree_leaves((held, self.inputs, self.kwargs)) if isinstance(x, torch.Tensor)]
        with torch._C.DisableTorchFunctionSubclass():
            return any(x.device.type == "meta" for x in given)


def _either_way(call: Call, allow_real: bool) -> tuple[FlopCount, str]:
    try:
        return from_shapes(call)
    except (CountError, NotHere) as why:
        if call.on_meta():
            raise why if isinstance(why, CountError) else error("not from shapes", why=why) from why
        if not allow_real:
            raise error("not from shapes", why=str(why).rstrip(".。")) from why
    return for_real(call)


def from_shapes(call: Call) -> tuple[FlopCount, str]:
    """Count on stand-ins without memory; also gives what the forward printed."""
    collects, loud = gc.isenabled(), logging.raiseExceptions
    gc.disable()  # what outlives the run is then found among the young; and the journal makes many small objects
    logging.raiseExceptions = False  # a tensor that is logged has no values to print
    world: Shapes | None = None
    try:
        with _unchanged(call, memory=False) as journal:
            world = Shapes(journal.tensors)
            if journal.lends():
                raise NotHere(t("an array of NumPy lies on the memory of a tensor", "有 NumPy 数组和张量共用内存"))
            return contextvars.copy_context().run(_attempt, call, world, journal)
    finally:
        if world is not None:
            _clear_frames(sys.exc_info()[1])
            world.evict()
        logging.raiseExceptions = loud
        (gc.enable if collects else gc.disable)()


def for_real(call: Call) -> tuple[FlopCount, str]:
    """Count one real run, also where shapes would do: the operators are those of this machine's kernels."""
    with _unchanged(call) as journal:
        return contextvars.copy_context().run(_attempt, call, Real(journal.tensors, journal.saving), journal)


@contextlib.contextmanager
def _unchanged(call: Call, memory: bool = True) -> Iterator[Journal]:
    try:
        with unchanged(call.model, call.inputs, call.kwargs, memory=memory) as journal:
            yield journal
    except (CountError, NotHere):
        raise
    except Exception as why:
        raise error("not put back", why=why) from why


def _clear_frames(error: BaseException | None) -> None:
    """The frames of a forward that failed hold its tensors."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _attempt(call: Call, world: Real, journal: Journal) -> tuple[FlopCount, str]:
    """One count of a call, and what it printed; its exceptions come out as CountError."""
    tally = Tally(call.model)
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if "torch._dynamo" in sys.modules:  # compiled code hides its operators: functions run as written
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        if call.training:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
        stack.enter_context(outside.watched(lambda what: tally.unknown.update([what]), tally.scripted))
        try:
            inputs, kwargs = tree_map(
                lambda x: world.known(x) if isinstance(x, torch.Tensor) else x, (call.inputs, call.kwargs)
            )
            asking = AskingMode(tally, world, journal.arrays)
            with time_limit(call.seconds), tally.following(), asking.watching(), CountingMode(tally, world):
                output = ran(call.model(*inputs, **kwargs))
                if call.training:
                    _backward(output)
                asking.at_the_end(_tensors_of(output))
            if world.broken is not None and isinstance(world, Shapes):
                raise world.broken  # swallowed by the forward, which then took another path
        except CountError:
            raise
        except Unrestorable as why:
            raise error("iterator", why=why) from why
        except Exception as why:
            tally.tree()  # which names the modules as a result does
            raise stopped(why, tally.places, call.inputs, call.kwargs, call.on_meta(), call.training) from why
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
