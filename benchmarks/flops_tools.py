"""The counters to compare: each as a function (module, inputs) -> (MACs, whether it says itself that some are missing).

`STEPS` are those that count a training step: forward and backward. The others count a forward and nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

Answer = tuple[int, bool]
"""MACs, and whether the tool itself says that something is missing."""
Tool = Callable[[nn.Module, tuple[Any, ...]], Answer]


def _ours(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from course.flops import count

    counted = count(model, *inputs)
    return counted.macs, not counted.exact


def _our_step(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from course.flops import count

    counted = count(model, *inputs, training=True)
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


def _ptflops(backend: str) -> Tool:
    def run(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
        from ptflops import get_model_complexity_info

        whole = inputs[0] if len(inputs) == 1 else dict(zip("abcd", inputs, strict=False))
        model = model if len(inputs) == 1 else Named(model)
        macs, _ = get_model_complexity_info(
            model,
            (1,),
            as_strings=False,
            print_per_layer_stat=False,
            backend=backend,
            input_constructor=lambda _: whole,
        )
        if macs is None:
            raise RuntimeError("no result")
        return int(macs), False

    return run


def _fvcore(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from fvcore.nn import FlopCountAnalysis

    analysis = FlopCountAnalysis(model, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    return int(analysis.total()), False


def _calflops(step: bool) -> Tool:
    """With `step` it multiplies its forward by three, whatever is frozen and whichever layer comes first."""

    def run(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
        from calflops import calculate_flops

        _, macs, _ = calculate_flops(
            model, args=list(inputs), print_results=False, output_as_string=False, include_backPropagation=step
        )
        return int(macs), False

    return run


def _torchinfo(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torchinfo import summary

    return int(summary(model, input_data=list(inputs), verbose=0).total_mult_adds), False


def _deepspeed(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    """DeepSpeed's profiler needs no GPU. It is no part of our environment: pip install --no-build-isolation deepspeed."""
    from deepspeed.profiling.flops_profiler import get_model_profile

    _, macs, _ = get_model_profile(model, args=list(inputs), print_profile=False, as_string=False, warm_up=0)
    return int(macs), False


def _counter_mode(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops() // 2, False


def _counter_mode_step(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        outputs = [x for x in tree_leaves(model(*inputs)) if isinstance(x, Tensor) and x.requires_grad]
        torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
    return counter.get_total_flops() // 2, False


def _on_meta(run: Tool) -> Tool:
    def there(value: Any) -> Any:
        return value.to("meta") if hasattr(value, "to") else value

    def counted(model: nn.Module, inputs: tuple[Any, ...]) -> Answer:
        moved = tuple(
            tree_map(there, value) if isinstance(value, (list, tuple)) and not hasattr(value, "to") else there(value)
            for value in inputs
        )
        return run(copy.deepcopy(model).to("meta"), moved)

    return counted


TOOLS: dict[str, Tool] = {
    "course.flops": _ours,
    "thop": _thop,
    "ptflops pytorch": _ptflops("pytorch"),
    "ptflops aten": _ptflops("aten"),
    "fvcore": _fvcore,
    "calflops": _calflops(False),
    "torchinfo": _torchinfo,
    "DeepSpeed": _deepspeed,
    "FlopCounterMode": _counter_mode,
    "FlopCounterMode meta": _on_meta(_counter_mode),
}
STEPS: dict[str, Tool] = {
    "course.flops": _our_step,
    "calflops": _calflops(True),
    "FlopCounterMode": _counter_mode_step,
    "FlopCounterMode meta": _on_meta(_counter_mode_step),
}
PACKAGES = ("thop", "ptflops", "fvcore", "calflops", "torchinfo", "deepspeed", "transformers")
"""Whose versions belong to the tables."""
