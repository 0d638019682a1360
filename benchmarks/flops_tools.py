"""The counters to compare: each as a function (module, inputs) -> (MACs, whether it says itself that some are missing).

`STEPS` are those that count a training step: forward and backward. The others count a forward and nothing else. Each is
imported when it is called: who compares some of them needs no other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

Answer = tuple[int, bool]
"""MACs, and whether the tool itself says that something is missing."""
Tool = Callable[[nn.Module, tuple[Any, ...]], Answer]


def _ours(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    from course.flops import count

    counted = count(model, *inputs, training=training)
    return counted.macs, not counted.exact


def _thop(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from thop import profile

    return int(profile(model, inputs, verbose=False)[0]), False


class Named(nn.Module):
    """A model whose inputs have names: ptflops passes either one input or keywords."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, a: Any, b: Any, c: Any = None, d: Any = None) -> Any:
        return self.model(*(value for value in (a, b, c, d) if value is not None))


def _ptflops(model: nn.Module, inputs: tuple[Any, ...], backend: str) -> Answer:
    from ptflops import get_model_complexity_info

    whole = inputs[0] if len(inputs) == 1 else dict(zip("abcd", inputs, strict=False))
    macs, _ = get_model_complexity_info(
        model if len(inputs) == 1 else Named(model),
        (1,),
        as_strings=False,
        print_per_layer_stat=False,
        backend=backend,
        input_constructor=lambda _: whole,
    )
    if macs is None:
        raise RuntimeError("no result")
    return int(macs), False


def _fvcore(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return int(analysis.total()), False


def _calflops(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    """A training step is its forward times three, whatever is frozen and whichever layer comes first."""
    from calflops import calculate_flops

    _, macs, _ = calculate_flops(
        model, args=list(inputs), print_results=False, output_as_string=False, include_backPropagation=training
    )
    return int(macs), False


def _torchinfo(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torchinfo import summary

    return int(summary(model, input_data=list(inputs), verbose=0).total_mult_adds), False


def _deepspeed(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    """DeepSpeed's profiler needs no GPU. It is no part of our environment: pip install --no-build-isolation deepspeed."""
    from deepspeed.profiling.flops_profiler import get_model_profile

    _, macs, _ = get_model_profile(model, args=list(inputs), print_profile=False, as_string=False, warm_up=0)
    return int(macs), False


def _counter_mode(model: nn.Module, inputs: tuple[Any, ...], training: bool = False, meta: bool = False) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    if meta:
        model = copy.deepcopy(model).to("meta")
        inputs = tuple(map(_on_meta, inputs))
    with FlopCounterMode(display=False) as counter:
        result = model(*inputs)
        if training:
            outputs = [x for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad]
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
    return counter.get_total_flops() // 2, False


def _on_meta(given: Any) -> Any:
    """A tensor, a packed sequence, or a list or tuple of these on the device meta."""
    if hasattr(given, "to"):
        return given.to("meta")
    return tree_map(_on_meta, given) if isinstance(given, (list, tuple)) else given


TOOLS: dict[str, Tool] = {
    "course.flops": _ours,
    "thop": _thop,
    "ptflops pytorch": partial(_ptflops, backend="pytorch"),
    "ptflops aten": partial(_ptflops, backend="aten"),
    "fvcore": _fvcore,
    "calflops": _calflops,
    "torchinfo": _torchinfo,
    "DeepSpeed": _deepspeed,
    "FlopCounterMode": _counter_mode,
    "FlopCounterMode meta": partial(_counter_mode, meta=True),
}
STEPS: dict[str, Tool] = {
    name: partial(TOOLS[name], training=True)
    for name in ("course.flops", "calflops", "FlopCounterMode", "FlopCounterMode meta")
}
PACKAGES = ("thop", "ptflops", "fvcore", "calflops", "torchinfo", "deepspeed", "transformers")
"""Whose versions belong to the tables."""
