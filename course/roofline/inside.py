"""What happens inside one run of a model, seen around the calls of its layers: where the time goes, and what runs outside them.

On a GPU the time of a layer is that of the kernels that torch.profiler saw inside a range of its name. Elsewhere a clock is read when a
layer begins and when it ends. Either way the parts add up to all there is.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.profiler import record_function

from course.core.profiled import events_of, is_kernel
from course.roofline.layer import OUTSIDE

LAYER = "layer: "
EMPTY_CALLS, EMPTY_RUNS = 20, 5


@contextlib.contextmanager
def around(modules: Iterable[nn.Module], instead: Callable[..., Any]) -> Iterator[None]:
    """In the block `instead(module, call, args, kwargs)` stands for every call of these modules; `call()` makes it. (A hook would turn off
    the fast path of nn.TransformerEncoderLayer.)
    """
    wanted, real = {id(module) for module in modules}, nn.Module.__call__

    def called(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if id(module) not in wanted:
            return real(module, *args, **kwargs)
        return instead(module, lambda: real(module, *args, **kwargs), args, kwargs)

    with patch.object(nn.Module, "__call__", called):
        yield


@contextlib.contextmanager
def no_hooks_of_all_modules() -> Iterator[None]:
    """In the block, the user's hooks of all modules (register_module_forward_hook) are off."""
    hooks = torch_module._global_forward_pre_hooks, torch_module._global_forward_hooks
    with patch.dict(hooks[0], clear=True), patch.dict(hooks[1], clear=True):
        yield


def by_clock(
    run: Callable[[], Any], layers: Mapping[str, nn.Module], now: Callable[[], float], look_s: float = 0.0
) -> dict[str, float]:
    """Layer -> seconds of its calls in one run; OUTSIDE: of all else. now: reads the clock. look_s: see there; it is left out."""
    names = {id(module): name for name, module in layers.items()}
    found, looks = dict.fromkeys(layers, 0.0), list[nn.Module]()

    def timed(module: nn.Module, call: Callable[[], Any], *_: Any) -> Any:
        began = now()
        output = call()
        found[names[id(module)]] += now() - began
        looks.append(module)
        return output

    with around(layers.values(), timed):
        start = now()
        run()
        whole = now() - start
    return {**found, OUTSIDE: max(0.0, whole - sum(found.values()) - len(looks) * look_s)}


def look_s(now: Callable[[], float]) -> float:
    """Seconds outside of a layer that looking at one call of it costs: the least of several runs."""
    nothing, x = {"": nn.Identity()}, torch.zeros(1)
    runs = [by_clock(lambda: [nothing[""](x) for _ in range(EMPTY_CALLS)], nothing, now) for _ in range(EMPTY_RUNS)]
    return min(parts[OUTSIDE] for parts in runs) / EMPTY_CALLS


def by_kernels(run: Callable[[], Any], layers: Mapping[str, nn.Module]) -> dict[str, float]:
    """Layer -> seconds of its kernels in one run on a GPU; OUTSIDE: of all others. A kernel belongs to the innermost layer around it."""
    names = {id(module): LAYER + name for name, module in layers.items()}

    def in_range(module: nn.Module, call: Callable[[], Any], *_: Any) -> Any:
        with record_function(names[id(module)]):
            return call()

    with around(layers.values(), in_range):
        events = events_of(run, on_cuda=True)
    found = defaultdict[str, float](float)
    for event in events:
        if not is_kernel(event):
            found[_layer_of(event)] += kernels_us(event) * 1e-6
    return {name: found[name] for name in (*layers, OUTSIDE)}


def kernels_us(event: Any) -> float:
    """Microseconds of the kernels that this operation itself started."""
    label = getattr(event, "is_user_annotation", False)
    return 0.0 if label else float(sum(kernel.duration for kernel in event.kernels))


def _layer_of(event: Any) -> str:
    """The innermost layer around an event; OUTSIDE where there is none."""
    while event is not None:
        if event.name.startswith(LAYER):
            return event.name[len(LAYER) :]
        event = event.cpu_parent
    return OUTSIDE
