"""`count`: the work of one forward or one training step, from shapes alone where that is possible."""

from __future__ import annotations

import contextvars
import functools
import gc
import logging
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch._subclasses import fake_tensor
from torch.nn.modules import module as global_hooks
from torch.utils._python_dispatch import _disable_current_modes

from course.core.process_state import process_state_preserved
from course.core.tensors import tensors_of
from course.flags import preserved
from course.flops import checks
from course.flops.checks import CountError, NotHere, Refused
from course.flops.copies import ALONE, Copies, Real, Shapes, from_outside
from course.flops.modes import Counting, Tally, Watching
from course.flops.result import FlopCount

_HOOKS = [one for name, one in vars(global_hooks).items() if name.startswith("_global_") and isinstance(one, dict)]
_TELLING = {*"type() vars() dir() __class__ FakeTensor is_fake fake_mode fake_device detect_fake_mode".split()}
"""Names in a forward that may tell a stand-in from the caller's tensor."""


def count(model: Any = None, /, *inputs: Any, training: bool = False, **kwargs: Any) -> FlopCount:
    """Count the work of `model(*inputs, **kwargs)`, or with `training=True` of its forward and backward.

    model: an nn.Module or any callable that works on tensors, run in the mode it is in (`model.train()` or
    `model.eval()`). inputs, kwargs: what it is called with, batch included; values do not matter unless its control flow
    looks at them.

    The model runs here, on any device, as a copy in which every tensor has a shape alone; where the forward needs data
    it runs for real, on another copy, so that what it prints appears twice. Nothing of the caller's changes: weights, buffers,
    attributes, containers, closures, globals and classes of the user's own code, random generators and switches of torch. Not
    covered: files, messages, the environment, settings of Python such as its print options, what the forward changes in installed
    packages, and other threads of yours: what they find in classes of your own is a copy meanwhile. An iterator given as an argument is
    refused.

    Convention: one MAC = one multiply feeding one accumulate in a contraction; FLOPs = 2 x MACs; norms, activations,
    pooling, bias, softmax count 0, and so do products that a separate operator sums, as in `(a * b).sum()`; padding taps
    counted; transposed convolution by input positions; attention dense. A training step adds each gradient that is
    needed; every one costs one forward; what activation checkpointing computes again is counted again.
    An operator that is neither counted nor provably free of contractions is listed in `.unknown`, and so is
    work that leaves torch (other threads, values handed to NumPy or made by it, raw memory, compiled code);
    then `.exact` is False. Arithmetic of Python on single values (`.item()`) cannot be seen.

    Raises CountError if `model` cannot be called, inputs are missing, or the forward raises (it says where).
    """
    checks.ask(model, inputs, kwargs)
    with ALONE, warnings.catch_warnings():  # what torch imports for its fake tensors adds filters
        shapes = Shapes()
        try:
            return attempt(model, inputs, kwargs, training, shapes)
        except NotHere:
            shapes.broken = None  # its traceback holds what the run has made
        finally:
            _forget(shapes.made)
        return attempt(model, inputs, kwargs, training, Real())


def attempt(model: Any, inputs: Any, kwargs: Any, training: bool, ground: Shapes) -> FlopCount:
    """One count on copies. ground: what stands for the tensors.

    Raises NotHere where shapes do not suffice, else CountError.
    """
    tally = Tally()
    copies = Copies(ground, tally.unknown)
    with _disable_current_modes(), _settings(training):
        try:
            call = model, inputs, kwargs
            found = contextvars.copy_context().run(_run, call, training, Counting(ground, tally), copies)
            if ground.broken:
                raise ground.broken  # swallowed by the forward, which then took another path
            return found
        except Exception as error:
            why = ground.broken or error
            if isinstance(why, CountError):
                raise
            if ground.name == "meta" and not isinstance(why, Refused):
                raise NotHere from error  # with data it works, or says better what is wrong
            raised = None if isinstance(why, Refused) else why
            raise checks.stopped(why, tally.places, inputs, kwargs, training) from raised
        finally:
            copies.clear()


def _run(call: Any, training: bool, mode: Counting, copies: Copies) -> FlopCount:
    tally, ground = mode.tally, mode.ground
    model, inputs, kwargs = copies.of_call(call)
    if ground.name == "meta" and copies.names & _TELLING:
        raise NotHere("stand-ins are of a class of their own")
    if ground.name == "real" and copies.arrays and any(map(from_outside, copies.tensors)):
        tally.unknown["a NumPy array on the memory of something else"] += 1  # copies do not share it
    tally.start(model)
    with copies.in_place(), tally.following(), Watching(ground, tally), ground.mode, mode:
        output = checks.ran(model(*inputs, **kwargs))
        found = tensors_of(output)
        if training:
            with_graph = [x for x in found if x.requires_grad]
            if not with_graph:
                raise checks.error("no gradient")
            torch.autograd.backward(with_graph, [torch.ones_like(x) for x in with_graph])
    with torch._C.DisableTorchFunctionSubclass():
        if any(map(from_outside, found)):
            tally.unknown["data made by NumPy, or on another library's memory"] += 1
    if training and (hooked := sum(bool(x._backward_hooks or x._post_accumulate_grad_hooks) for x in copies.tensors)):
        tally.unknown["hook on a gradient"] += hooked  # copies do not run them
    return FlopCount(
        macs=tally.root.macs,
        params=tally.root.total_params,
        by_module=tally.root,
        by_operator={name: macs for name, macs in tally.by_operator.most_common() if macs},
        unknown=dict(tally.unknown),
        training=training,
        ground=ground.name,
    )


@contextmanager
def _settings(training: bool) -> Iterator[None]:
    """What a forward may change in torch is put back; functions of torch.compile run as written."""
    gradients = training or torch.is_grad_enabled()  # before inference_mode(False), which turns them on
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(preserved())
        stack.enter_context(process_state_preserved())
        for hooks in _HOOKS:
            stack.enter_context(mock.patch.dict(hooks))
        # a tensor that is logged has no values; what fails on shapes is told by count, not by torch's log as well
        stack.enter_context(mock.patch.object(logging, "raiseExceptions", False))
        stack.enter_context(mock.patch.object(fake_tensor.log, "disabled", True))
        if torch._C._autograd._top_saved_tensors_default_hooks(True):
            # hooks of a block around the count would be given tensors without data
            stack.enter_context(torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x))
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(torch.inference_mode(torch.is_inference_mode_enabled() and not training))
        stack.enter_context(torch.set_grad_enabled(gradients))
        yield


def _forget(made: list[weakref.ref[torch.Tensor]]) -> None:
    """Takes tensors without data out of what has kept them, such as the cache of a library."""
    if any(ref() is not None for ref in made):
        gc.collect()
    inside: list[Any] = [x for ref in made if (x := ref()) is not None]
    for _ in range(4):  # out of tuples and lists
        holders = [one for one in gc.get_referrers(*inside) if one is not inside] if inside else []
        wanted = set(map(id, inside))
        for holder in holders:
            if isinstance(holder, functools._lru_cache_wrapper):
                holder.cache_clear()
            elif isinstance(holder, dict):
                remove = OrderedDict.pop if isinstance(holder, OrderedDict) else dict.pop
                for name in [name for name, item in dict.items(holder) if {id(item), id(name)} & wanted]:
                    remove(holder, name)
        inside = [one for one in holders if isinstance(one, (tuple, list))]
