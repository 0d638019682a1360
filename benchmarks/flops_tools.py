"""The counters to compare: each as a function (module, inputs) -> (MACs, whether it says itself that some are missing).

`STEPS` are those that count a training step: forward and backward. The others count a forward and nothing else. Each is
imported when it is called: who compares some of them needs no other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

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


def _counter_mode(model: nn.Module, inputs: tuple[Any, ...], training: bool = False) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        result = model(*inputs)
        if training:
            outputs = [x for x in tree_leaves(result) if isinstance(x, Tensor) and x.requires_grad]
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
    return counter.get_total_flops() // 2, False


TOOLS: dict[str, Tool] = {
    "course.flops": _ours,
    "FlopCounterMode": _counter_mode,
    "fvcore": _fvcore,
    "calflops": _calflops,
    "thop": _thop,
    "torchinfo": _torchinfo,
}
STEPS: dict[str, Tool] = {
    name: partial(TOOLS[name], training=True) for name in ("course.flops", "calflops", "FlopCounterMode")
}
PACKAGES = ("thop", "fvcore", "calflops", "torchinfo", "transformers")
"""Whose versions belong to the tables."""
